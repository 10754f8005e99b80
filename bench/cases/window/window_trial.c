#include "bench/cases/window/window_trial.h"

#include <stdlib.h>

#define WHOLE 16u /* up to this many generations, everything is queried at the end of each */
#define LOOKS 8u /* samples of the bytes per generation */
#define ABSENT_FROM (UINT64_C(1) << 61) /* first number of elements that are never added */

/* Queries everything that was new at most a window ago (with many generations only a part each
 * time), and absent elements, four windows of them in total. */
static void ask_window(const window_work *work, const void *state, const uint8_t *was_new,
                       uint64_t added, window_facts *facts, uint64_t *wrong)
{
    const window_calls *calls = window_calls_of(work->kind);
    uint64_t now = window_time(work, added - 1), generations = work->settings.generations;
    uint64_t parts = generations / WHOLE + 1, part = now / WINDOW_PERIOD % parts;
    for (uint64_t i = added; i-- > 0 && window_time(work, i) + work->window >= now;)
        if (i % parts == part && (was_new[i / 8] >> (i % 8) & 1)) {
            facts->promised++;
            facts->forgotten_early += calls->has(state, window_element(i), now) != BRY_PRESENT;
        }
    uint64_t more = 4 * work->settings.elements / generations + 1;
    for (uint64_t i = 0; i < more; i++)
        *wrong +=
            calls->has(state, window_element(ABSENT_FROM + facts->absent + i), now) == BRY_PRESENT;
    facts->absent += more;
}

bry_status window_trial(const window_work *work, window_facts *facts)
{
    const window_calls *calls = window_calls_of(work->kind);
    uint64_t n = work->settings.elements, all = (WINDOW_WARM_UP + 1) * n, wrong = 0;
    *facts = (window_facts){0};
    uint8_t *was_new = calloc(all / 8 + 1, 1);
    void *state = was_new ? calls->make(work) : NULL;
    if (!state) {
        free(was_new);
        return BRY_E_NOMEM;
    }
    bry_status status = BRY_OK;
    unsigned ends = 0;
    uint64_t length = work->window / work->settings.generations;
    for (uint64_t i = 0; i < all && status == BRY_OK; i++) {
        uint64_t now = window_time(work, i), next = window_time(work, i + 1);
        bry_answer was = calls->add(state, window_element(i), now);
        if (was == BRY_UNSURE)
            status = BRY_E_NOMEM;
        if (was == BRY_ABSENT)
            was_new[i / 8] |= (uint8_t)(1u << (i % 8));
        if (i < WINDOW_WARM_UP * n)
            continue;
        if (next / (length / LOOKS) != now / (length / LOOKS)) {
            uint64_t bytes = calls->bytes(state);
            facts->bytes = bytes > facts->bytes ? bytes : facts->bytes;
        }
        if (next / length != now / length) {
            facts->predicted += calls->predicted(work, state);
            ends++;
            ask_window(work, state, was_new, i + 1, facts, &wrong);
        }
    }
    calls->drop(state);
    free(was_new);
    facts->bits_per_element = 8 * (double)facts->bytes / (double)n;
    facts->false_positive = (double)wrong / (double)facts->absent;
    facts->predicted /= ends;
    return status;
}
