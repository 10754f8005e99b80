#include "bench/figures/fbf/row_under_load.h"
#include "bench/harness/bench_fail.h"

#include <math.h>

#define HASHES 5u
#define REPETITION (UINT64_C(1) << 44) /* elements, at most */
#define ABSENT (UINT64_C(1) << 61)
#define START 990000u /* ms: a multiple of every refresh period here */

bry_hash fbf_element(const figure_run *run, uint64_t number)
{
    return window_element(run->number * REPETITION + number);
}

bry_hash fbf_absent(const figure_run *run, uint64_t number)
{
    return window_element(ABSENT + run->number * REPETITION + number);
}

fbf_row fbf_row_make(const figure_run *run, const window_work *work)
{
    fbf_row row = {.run = run, .calls = window_calls_of(work->kind), .work = *work, .now = START};
    row.state = row.calls->make(work);
    if (!row.state)
        cli_no_memory();
    return row;
}

fbf_row fbf_row_published(const figure_run *run, bry__paper_check check, uint64_t bits,
                          uint32_t filters, uint64_t period)
{
    const window_work work = {
        .kind = WINDOW_PAPER,
        .paper = {.check = check,
                  .window = (filters - 1) * period,
                  .capacity = 1, /* the size is given */
                  .error = 0.5,
                  .generations = filters - 1,
                  .bits = bits,
                  .hashes = HASHES,
                  .fixed = true},
    };
    return fbf_row_make(run, &work);
}

fbf_row fbf_row_ours(const figure_run *run, bry_engine engine, const bry_window_options *options)
{
    window_work work = {.kind = WINDOW_LIBRARY, .options = *options};
    work.options.engine = engine;
    work.options.seed = run->seed;
    return fbf_row_make(run, &work);
}

void fbf_row_free(fbf_row *row)
{
    if (row->state)
        row->calls->drop(row->state);
}

bool fbf_row_add(fbf_row *row, uint64_t count, uint64_t until)
{
    uint64_t begin = row->now, end = START + until;
    for (uint64_t i = 0; i < count && row->state; i++) {
        row->now = begin + (end - begin) * i / count;
        if (row->calls->add(row->state, fbf_element(row->run, row->added++), row->now) ==
            BRY_UNSURE)
            return bench_no_memory();
    }
    row->now = end - 1 > row->now ? end - 1 : row->now;
    return row->state != NULL;
}

double fbf_row_predicted(const fbf_row *row)
{
    return row->calls->predicted(&row->work, row->state);
}

double fbf_row_measured(fbf_row *row, double expected)
{
    double errors = FIGURE_SIZE(row->run, 60, 300, 1000);
    double most = FIGURE_SIZE(row->run, 4e6, 1e7, 2e8);
    double least = FIGURE_SIZE(row->run, 10000, 50000, 200000);
    double queries = fmin(fmax(errors / expected, least), most);
    if (!(queries * expected >= FIGURE_SIZE(row->run, 50, 10, 10)))
        return -1;
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < (uint64_t)queries; i++)
        wrong += row->calls->has(row->state, fbf_absent(row->run, row->asked++), row->now) ==
                 BRY_PRESENT;
    return (double)wrong / floor(queries);
}

double fbf_planned_bits(bry_engine engine, uint64_t elements, double error)
{
    bry_window_options options = BRY_WINDOW_OPTIONS;
    options.engine = engine;
    options.window = 10000;
    options.capacity = elements;
    options.error = error;
    options.seed = 1;
    bry_window_shape shape = {0};
    return bry_window_plan(&options, &shape) == BRY_OK ? 8 * (double)shape.bytes / (double)elements
                                                       : NAN;
}

/* Of three filters, newest first. */
static double row_error(bry__paper_check check, uint64_t bits, const uint64_t items[3])
{
    bry__check_error sum = {.check = check, .none = 1};
    for (int i = 0; i < 3; i++)
        bry__check_error_take(&sum, bry__filter_error(bits, HASHES, items[i]), i == 2);
    return 1 - sum.none;
}

double fbf_start_error(bry__paper_check check, uint64_t bits, uint64_t each)
{
    return row_error(check, bits, (const uint64_t[]){each, 2 * each, each});
}

double fbf_steady_error(bry__paper_check check, uint64_t bits, uint64_t each)
{
    return row_error(check, bits, (const uint64_t[]){each, 2 * each, 2 * each});
}
