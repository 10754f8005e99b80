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

/* A window in a burst. */
typedef struct burst_window {
    const window_calls *calls;
    void *state;
    uint64_t time; /* of the last add */
} burst_window;

static uint64_t count_wrong(const burst_window *window, uint64_t from, uint64_t asked)
{
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < asked; i++)
        wrong += window->calls->has(window->state, window_element(ABSENT_FROM + from + i),
                                    window->time) == BRY_PRESENT;
    return wrong;
}

static void look_in_burst(const burst_window *window, uint64_t now, uint64_t *asked,
                          uint64_t *wrong, burst_facts *facts)
{
    window_counts counts = window->calls->counts(window->state);
    uint64_t bytes = window->calls->bytes(window->state);
    uint64_t here = count_wrong(window, *asked, facts->asked);
    *asked += facts->asked;
    *wrong += here;
    double error = (double)here / (double)facts->asked;
    facts->worst_error = error > facts->worst_error ? error : facts->worst_error;
    if (now < CALM_UNTIL) {
        facts->bytes_before = bytes;
        facts->elements_before = counts.items;
    }
    if (bytes > facts->bytes_peak)
        facts->bytes_peak = bytes;
    if (counts.items > facts->elements_peak)
        facts->elements_peak = counts.items;
    facts->bytes_after = bytes;
    facts->ended_early = counts.ended_early;
    facts->resizes = counts.resizes;
}

bry_status window_burst(const window_settings *settings, burst_facts *facts)
{
    window_work work;
    bry_status status = window_work_plan(&work, window_kind_of(settings), settings);
    if (status != BRY_OK)
        return status;
    work.options.window = work.paper.window = WINDOW_MS;
    work.paper.fixed = false;
    burst_window window = {.calls = window_calls_of(work.kind)};
    window.state = window.calls->make(&work);
    if (!window.state)
        return BRY_E_NOMEM;
    *facts = (burst_facts){.asked = settings->elements < FEW ? ASKED_SMALL : ASKED};
    uint64_t next = 0, asked = 0, wrong = 0;
    double due = 0, rate = (double)settings->elements / WINDOW_MS; /* per ms */
    for (uint64_t now = WINDOW_MS; now < END && status == BRY_OK; now++) {
        bool burst = now >= CALM_UNTIL && now < BURST_UNTIL;
        due += burst ? BURST_TIMES * rate : rate;
        for (; next < (uint64_t)due && status == BRY_OK; next++) {
            window.time = now;
            if (window.calls->add(window.state, window_element(next), now) == BRY_UNSURE)
                status = BRY_E_NOMEM;
        }
        bool rise = now >= CALM_UNTIL && now < CALM_UNTIL + 1000;
        if (now >= 2 * WINDOW_MS && now % (rise ? 50 : 500) == 49)
            look_in_burst(&window, now, &asked, &wrong, facts);
    }
    facts->error = (double)wrong / (double)asked;
    window.calls->drop(window.state);
    return status;
}
