/* A counter that survives its retries: an operation sent twice counts once. */
#include <bloomery/counters.h>
#include <inttypes.h>
#include <stdio.h>

int main(void)
{
    bry_counters_options options = BRY_COUNTERS_OPTIONS;
    options.window = 600000; /* ms: how long a client may retry */
    options.capacity = 1000000; /* operations in that time */

    bry_counters *sales = NULL;
    bry_status status = bry_counters_create(&options, &sales);
    for (int attempt = 1; attempt <= 2 && status == BRY_OK; attempt++) {
        uint64_t now = 1000 * (uint64_t)attempt; /* ms: time is an argument */
        bry_counters_outcome outcome;
        int64_t tea;
        status = bry_counters_apply_key(sales, "till7:1041", 10, "tea", 3, 3, now, &outcome, &tea);
        if (status == BRY_OK)
            printf("attempt %d: %s, tea = %" PRId64 "\n", attempt,
                   outcome == BRY_COUNTERS_APPLIED ? "applied" : "repeat", tea);
    }
    if (status != BRY_OK)
        fprintf(stderr, "%s: %s\n", bry_status_word(status), bry_status_text(status));
    bry_counters_destroy(sales);
    return status == BRY_OK ? 0 : 3;
}
