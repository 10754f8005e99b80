/*
 * Sales that are counted once although processes die. The table of counters is in a directory: ids
 * and values are in its log before a sale is acknowledged.
 */
#include <bloomery/counters.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SALES = 3 };
static const char *const ids[SALES] = {"till7:1041", "till7:1042", "till8:2001"};
static const char *const names[SALES] = {"tea", "pot", "tea"};
static const int64_t amounts[SALES] = {3, 1, 2};

static bry_counters *open_table(const char *dir)
{
    bry_counters_options options = BRY_COUNTERS_OPTIONS;
    options.window = 86400000; /* ms: nobody sends a sale again after a day */
    options.sync = BRY_COUNTERS_SYNC_ASKED; /* bry_counters_sync() writes many at once */
    bry_counters *counters = NULL;
    bry_load load = BRY_LOAD;
    if (bry_counters_open(dir, &options, &load, &counters) != BRY_OK)
        fprintf(stderr, "%s: %s\n", dir, load.problem);
    return counters;
}

/* Counts the first n sales, and puts them on disk with one wait; false on failure. */
static bool sell(bry_counters *counters, int n)
{
    bry_status status = BRY_OK;
    for (int i = 0; i < n && status == BRY_OK; i++) {
        bry_counters_outcome outcome;
        status =
            bry_counters_apply_key(counters, ids[i], strlen(ids[i]), names[i], strlen(names[i]),
                                   amounts[i], (uint64_t)time(NULL) * 1000, &outcome, NULL);
        if (status == BRY_OK)
            printf("  %s: %s\n", ids[i], outcome == BRY_COUNTERS_APPLIED ? "counted" : "repeat");
    }
    if (status == BRY_OK)
        status = bry_counters_sync(counters); /* only now may the senders forget them */
    if (status != BRY_OK)
        fprintf(stderr, "%s\n", bry_status_text(status));
    return status == BRY_OK;
}

/* Removes the directory and what a table leaves in it. */
static void remove_table(const char *dir)
{
    static const char *const files[] = {"lock", "log", "snapshot"};
    char path[64];
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, files[i]);
        remove(path);
    }
    rmdir(dir);
}

int main(void)
{
    char dir[] = "/tmp/count-durably-XXXXXX";
    int result;
    if (!mkdtemp(dir))
        return 3;
    pid_t first = fork();
    if (first == 0) { /* counts two sales, and dies without closing the table */
        bry_counters *counters = open_table(dir);
        bool sold = counters && sell(counters, 2);
        fflush(stdout);
        _exit(sold ? 0 : 3);
    }
    if (first < 0 || waitpid(first, &result, 0) != first || result != 0)
        return 3;

    puts("the process died; another one gets all three");
    bry_counters *counters = open_table(dir);
    if (!counters || !sell(counters, SALES))
        return 3;
    int64_t tea = 0;
    bry_counters_get(counters, "tea", 3, &tea);
    printf("tea: %" PRId64 "\n", tea);
    /* From now on opening reads the table instead of the log. Without this call it happens when the
     * log has grown by options.log_bytes. */
    bry_status status = bry_counters_snapshot(counters);
    bry_counters_destroy(counters);
    remove_table(dir);
    return status == BRY_OK && tea == 5 ? 0 : 3;
}
