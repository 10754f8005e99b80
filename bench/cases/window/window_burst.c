/* A load that rises a hundredfold within a second and falls again. */
#include "bench/cases/window/window_trial.h"

#define WINDOW_MS UINT64_C(8000)
#define CALM_UNTIL 20300u
#define BURST_UNTIL 26300u
#define END 60000u
#define ASKED 100000u
#define ASKED_SMALL 20000u /* of a window of few elements */
#define FEW 5000u
#define ABSENT_FROM (UINT64_C(1) << 61)

static uint64_t count_wrong(const bry_window *window, uint64_t from, uint64_t asked)
{
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < asked; i++)
        wrong += bry_window_has(window, window_element(ABSENT_FROM + from + i),
                                bry_window_time(window)) == BRY_PRESENT;
    return wrong;
}

static void look_in_burst(const bry_window *window, uint64_t now, uint64_t *asked, uint64_t *wrong,
                          burst_facts *facts)
{
    bry_window_stats stats = BRY_WINDOW_STATS;
    bry_window_get_stats(window, &stats);
    uint64_t here = count_wrong(window, *asked, facts->asked);
    *asked += facts->asked;
    *wrong += here;
    double error = (double)here / (double)facts->asked;
    facts->worst_error = error > facts->worst_error ? error : facts->worst_error;
    if (now < CALM_UNTIL) {
        facts->bytes_before = stats.bytes;
        facts->elements_before = stats.items;
    }
    if (stats.bytes > facts->bytes_peak)
        facts->bytes_peak = stats.bytes;
    if (stats.items > facts->elements_peak)
        facts->elements_peak = stats.items;
    facts->bytes_after = stats.bytes;
    facts->ended_early = stats.ended_early;
    facts->resizes = stats.resizes;
}

bry_status window_burst(const window_settings *settings, burst_facts *facts)
{
    bry_window_options options = BRY_WINDOW_OPTIONS;
    options.engine = settings->engine;
    options.fbf.mode = settings->mode;
    options.window = WINDOW_MS;
    options.capacity = settings->elements;
    options.error = settings->error;
    options.generations = settings->generations;
    options.seed = WINDOW_SEED;
    bry_window *window;
    bry_status status = bry_window_create(&options, &window);
    if (status != BRY_OK)
        return status;
    *facts = (burst_facts){.asked = settings->elements < FEW ? ASKED_SMALL : ASKED};
    uint64_t next = 0, asked = 0, wrong = 0;
    double due = 0, rate = (double)settings->elements / WINDOW_MS; /* a ms */
    for (uint64_t now = WINDOW_MS; now < END && status == BRY_OK; now++) {
        bool burst = now >= CALM_UNTIL && now < BURST_UNTIL;
        due += burst ? BURST_TIMES * rate : rate;
        for (; next < (uint64_t)due && status == BRY_OK; next++)
            status = bry_window_add(window, window_element(next), now, NULL);
        bool rise = now >= CALM_UNTIL && now < CALM_UNTIL + 1000;
        if (now >= 2 * WINDOW_MS && now % (rise ? 50 : 500) == 49)
            look_in_burst(window, now, &asked, &wrong, facts);
    }
    facts->error = (double)wrong / (double)asked;
    bry_window_destroy(window);
    return status;
}
