/*
 * Clients send reports over a network that loses acknowledgements, and retry each one until it is
 * acknowledged. The table recognises the retries.
 */
#include <bloomery/counters.h>

#include <inttypes.h>
#include <stdio.h>

enum { CLIENTS = 50, REPORTS = 4000, LOST = 6 /* % of acknowledgements */ };

/* All attempts to send a report have the same id: the client and the number of the report. */
static bry_status report(bry_counters *counters, uint32_t client, uint32_t number, uint64_t now,
                         bry_counters_outcome *outcome)
{
    const uint32_t who[2] = {client, number};
    return bry_counters_apply_key(counters, who, sizeof who, "reports", 7, 1, now, outcome, NULL);
}

int main(void)
{
    bry_counters_options options = BRY_COUNTERS_OPTIONS;
    options.window = 30000; /* ms: no client retries for longer */
    options.capacity = 150000; /* reports in that time */
    options.seed = 1; /* the same in every run; random by default */

    bry_counters *counters = NULL;
    bry_status status = bry_counters_create(&options, &counters);
    uint64_t sent = 0, now = 1000, chance = 1;
    for (uint32_t number = 0; number < REPORTS && status == BRY_OK; number++, now += 10) {
        for (uint32_t client = 0; client < CLIENTS && status == BRY_OK; client++) {
            uint64_t wait = 0;
            do { /* until the acknowledgement arrives */
                bry_counters_outcome outcome;
                status = report(counters, client, number, now + wait, &outcome);
                sent++;
                wait += 1;
                chance = chance * UINT64_C(6364136223846793005) + 1442695040888963407;
            } while (status == BRY_OK && (chance >> 33) % 100 < LOST);
        }
    }
    if (status != BRY_OK) {
        fprintf(stderr, "%s: %s\n", bry_status_word(status), bry_status_text(status));
        bry_counters_destroy(counters);
        return 3;
    }
    int64_t counted = 0;
    bry_counters_get(counters, "reports", 7, &counted);
    bry_counters_stats stats;
    bry_counters_get_stats(counters, &stats);
    printf("made:     %d reports\n", CLIENTS * REPORTS);
    printf("received: %" PRIu64 ", %.1f %% more\n", sent,
           100.0 * (double)sent / (CLIENTS * REPORTS) - 100);
    printf("counted:  %" PRId64 ", with %" PRIu64 " repeats ignored\n", counted, stats.repeats);
    printf("expected: %.1g reports lost, in %" PRIu64 " bytes\n", stats.expected_lost, stats.bytes);
    bry_counters_destroy(counters);
    return counted == (int64_t)CLIENTS * REPORTS ? 0 : 1;
}
