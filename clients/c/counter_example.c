/*
 * Counters that count each sale once, although the process that sells dies:
 *     counter_example URL OUTBOX
 *
 * The first process wants two replicas to confirm its sale. Here there are none, so it cannot know
 * whether the sale would survive a failover: BRY_E_UNSURE. It dies, and the file OUTBOX still has
 * the operation with its id. The next process repeats it. The servers recognise the id.
 */
#include <bloomery_cluster_counters.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static bryc_client *client;
static const bryc_increment sale = {{"tea", 3}, 3};

static bool succeeded(bry_status status)
{
    if (status != BRY_OK)
        fprintf(stderr, "%s: %s\n", bry_status_word(status), bryc_error(client));
    return status == BRY_OK;
}

/* Sells, and dies before it knows whether that is counted. */
static void sell_and_die(const char *url, const char *outbox)
{
    bryc_counters *table = NULL;
    bryc_counters_options options = BRYC_COUNTERS_OPTIONS;
    bryc_counters_use use = BRYC_COUNTERS_USE;
    bryc_operation operation;
    options.parts = 4;
    use.outbox = outbox;
    use.replicas = 2;
    use.wait_ms = 20;
    use.retry_ms = 50;
    if (!succeeded(bryc_open(url, NULL, &client)) ||
        !succeeded(bryc_counters_create(client, bryc_url_name(client), &options, &use, &table)))
        _exit(1);
    bry_status status = bryc_counters_add(table, &sale, 1, NULL, &operation);
    if (status == BRY_E_UNSURE) /* the same operation again, not another one */
        status = bryc_counters_repeat(table, &operation, &sale, 1, NULL);
    printf("a sale of 3: %s\n", bry_status_word(status));
    fflush(stdout);
    _exit(0); /* the table is not closed */
}

static void print_recovered(void *opaque, const bryc_operation *operation, bry_status status,
                            const bryc_added *added, size_t n)
{
    (void)opaque;
    (void)operation;
    for (size_t i = 0; i < n && status == BRY_OK; i++)
        printf("recovered: %s, the counter is %" PRId64 "\n",
               added[i].applied ? "counted now" : "was counted before", added[i].value);
}

static bool recover_and_sell(bryc_counters *table)
{
    bryc_added added;
    bryc_counters_info info;
    int64_t value;
    bool there;
    if (!succeeded(bryc_counters_recover(table, print_recovered, NULL)) ||
        !succeeded(bryc_counters_add(table, &sale, 1, &added, NULL)) ||
        !succeeded(bryc_counters_get(table, &sale.name, 1, &value, &there)) ||
        !succeeded(bryc_counters_get_info(table, &info)))
        return false;
    printf("another sale of 3: the counter is %" PRId64 "\n", value);
    printf("%" PRIu64 " applied in %" PRIu64 " parts; at least one repeat: %s\n", info.applied,
           info.parts, info.repeats > 0 ? "yes" : "no");
    printf("the record begins with %.19s\n", bryc_counters_record(table));
    return true;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fputs("usage: counter_example URL OUTBOX\n", stderr);
        return 2;
    }
    int result;
    pid_t first = fork();
    if (first == 0)
        sell_and_die(argv[1], argv[2]);
    if (first < 0 || waitpid(first, &result, 0) != first || result != 0)
        return 1;

    bryc_counters *table = NULL;
    bryc_counters_use use = BRYC_COUNTERS_USE;
    use.outbox = argv[2];
    use.no_wait = 1;
    bool done = succeeded(bryc_open(argv[1], NULL, &client)) &&
                succeeded(bryc_counters_open(client, bryc_url_name(client), &use, &table)) &&
                recover_and_sell(table);
    bryc_counters_close(table);
    done = done && succeeded(bryc_counters_drop(client, bryc_url_name(client)));
    bryc_close(client);
    return done ? 0 : 1;
}
