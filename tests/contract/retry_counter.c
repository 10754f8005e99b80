/*
 * Counts reports of clients once, although clients repeat those that were not acknowledged in time.
 * Reads lines "client sequence counter delta", answers each with "ok" or "retry", and survives a
 * crash at any point: the table is in a directory.
 */
#include <bloomery/counters.h>
#include <bloomery/hash.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void report(const bry_counters *counters)
{
    bry_counters_entry entries[64];
    uint64_t cursor = 0;
    do {
        size_t n = bry_counters_scan(counters, &cursor, entries, 64);
        for (size_t i = 0; i < n; i++)
            printf("%.*s\t%" PRId64 "\n", (int)entries[i].name_len, (const char *)entries[i].name,
                   entries[i].value);
    } while (cursor != 0);

    bry_counters_stats stats = {0};
    bry_counters_get_stats(counters, &stats);
    printf("# %" PRIu64 " applied, %" PRIu64 " repeats, of which %.2g were lost increments\n",
           stats.applied, stats.repeats, stats.expected_lost);
}

int main(int argc, char **argv)
{
    const char *dir = argc > 1 ? argv[1] : "counters";
    bry_counters_options options = BRY_COUNTERS_OPTIONS;
    options.window = UINT64_C(600000); /* clients give up after five minutes */
    options.capacity = 1000000;
    options.max_bytes = UINT64_C(256) << 20;

    bry_counters *counters;
    bry_load load = BRY_LOAD;
    bry_status status = bry_counters_open(dir, &options, &load, &counters);
    if (status == BRY_E_IO && errno == EBUSY) {
        fprintf(stderr, "%s: in use\n", dir);
        return 3;
    }
    if (status != BRY_OK) {
        fprintf(stderr, "%s: %s (%s)\n", dir, bry_status_text(status),
                load.problem ? load.problem : bry_status_word(status));
        return 3;
    }

    char client[64], sequence[32], name[64], number[32], id[128], line[256], *end;
    while (fgets(line, sizeof line, stdin)) {
        bool whole = sscanf(line, "%63s %31s %63s %31s", client, sequence, name, number) == 4;
        errno = 0;
        int64_t delta = whole ? strtoll(number, &end, 10) : 0;
        if (!whole || errno != 0 || *end != '\0') {
            puts("malformed");
            continue;
        }
        int len = snprintf(id, sizeof id, "%s %s", client, sequence);
        bry_hash hash = bry_hash_key(bry_counters_seed(counters), id, (size_t)len);
        bry_counters_outcome outcome;
        int64_t value;
        status = bry_counters_apply(counters, hash, name, strlen(name), delta, now_ms(), &outcome,
                                    &value);
        if (status == BRY_OK)
            printf("ok %s %" PRId64 "%s\n", name, value,
                   outcome == BRY_COUNTERS_REPEAT ? " repeat" : "");
        else if (status == BRY_E_OVERFLOW)
            puts("overflow");
        else
            printf("retry %s\n", bry_status_word(status));
        if (status == BRY_E_IO)
            break; /* the table accepts no more changes: a new process must open the directory */
    }
    report(counters);
    bry_counters_destroy(counters);
    return status == BRY_E_IO ? 3 : 0;
}
