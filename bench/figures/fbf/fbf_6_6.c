/* FBF, figure 6.6: Algorithm 3 under a load that rises and falls. */
#include "bench/figures/figure.h"

#include "bench/figures/fbf/row_under_load.h"
#include "bench/harness/bench_fail.h"
#include "papers/literal_fbf.h"

#include <math.h>
#include <stdlib.h>

enum {
    BITS = 6250,
    HASHES = 5,
    PERIOD = 11000,
    WINDOW = 2 * PERIOD, /* what three filters remember for certain */
    PLANNED = 600, /* elements in it, for ours */
    SECONDS = 80,
    CALM_UNTIL = 44,
    ROWS = 4,
    MOST = 20000, /* elements in all */
};
#define TARGET 1e-3

static const char *const row_names[ROWS] = {"Algorithm 3", "Algorithm 3; nothing forgotten early",
                                            FBF_IMPROVED, FBF_COMPACT};

/* All rows get the same elements. Row 0 is the literal one. */
typedef struct adaptation {
    const figure_run *run;
    bry_allocator allocator;
    bry__literal_fbf literal;
    fbf_row row[ROWS];
    uint64_t added; /* elements so far */
    uint64_t time[MOST];
    bool was_new[ROWS][MOST];
} adaptation;

/* Elements per second from the start: it rises, drops and rises, as the thesis describes it, in
 * cycles of 40 s. */
static double load_from_start(double second)
{
    double phase = fmod(second, 40);
    if (phase < 19)
        return 20 + 1.5 * phase;
    return phase < 24 ? 8 : 20 + 1.5 * (phase - 24);
}

/* The same after a long time with a load that three filters carry. */
static double load_after_calm(double second)
{
    return second < CALM_UNTIL ? 14 : load_from_start(second - CALM_UNTIL);
}

static bool add_element(adaptation *all, uint64_t now)
{
    bry_hash hash = fbf_element(all->run, all->added);
    bry_answer was;
    if (bry__literal_fbf_add(&all->literal, hash, now, &was, &all->allocator) != BRY_OK)
        return false;
    all->was_new[0][all->added] = was == BRY_ABSENT;
    for (int i = 1; i < ROWS; i++) {
        was = all->row[i].calls->add(all->row[i].state, hash, now);
        if (was == BRY_UNSURE)
            return false;
        all->was_new[i][all->added] = was == BRY_ABSENT;
    }
    all->time[all->added++] = now;
    return true;
}

static bool row_has(const adaptation *all, int row, bry_hash hash, uint64_t now)
{
    if (row == 0)
        return bry__literal_fbf_has(&all->literal, hash);
    return all->row[row].calls->has(all->row[row].state, hash, now) == BRY_PRESENT;
}

/* The improved row errs so rarely that the tests need more queries; it errs most at the start. */
static uint64_t query_count(const figure_run *run, int row, uint64_t now)
{
    const bool rare = run->scale == FIGURE_SMALL && row == 2 && now < 10000;
    return rare ? 1000000 : (uint64_t)FIGURE_SIZE(run, 20000, 20000, 200000);
}

static double share_of_absent(adaptation *all, int row, uint64_t now)
{
    const uint64_t queries = query_count(all->run, row, now);
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < queries; i++)
        wrong += row_has(all, row, fbf_absent(all->run, now * 1000000 + i), now);
    return (double)wrong / (double)queries;
}

/* Of the elements that were new at most a window ago, the share that is not found. */
static double share_forgotten(const adaptation *all, int row, uint64_t now)
{
    uint64_t promised = 0, forgotten = 0;
    for (uint64_t i = all->added; i-- > 0 && all->time[i] + WINDOW >= now;)
        if (all->was_new[row][i]) {
            promised++;
            forgotten += !row_has(all, row, fbf_element(all->run, i), now);
        }
    return promised > 0 ? (double)forgotten / (double)promised : 0;
}

static void report_errors(adaptation *all, uint64_t now)
{
    const figure_run *run = all->run;
    double second = (double)now / 1000;
    for (int i = 0; i < ROWS; i++)
        figure_point(run, "measured", row_names[i], second, share_of_absent(all, i, now));
    if (run->number > 0)
        return;
    figure_point(run, "measured", "target", second, TARGET);
    figure_point(run, "formula", row_names[0], second, bry__literal_fbf_predicted(&all->literal));
    figure_point(run, "formula", "target", second, TARGET);
    figure_point(run, "row", "filters", second, all->literal.count);
    figure_point(run, "row", "refresh period in s", second, (double)all->literal.period / 1000);
}

static void report_forgotten(adaptation *all, uint64_t now)
{
    for (int i = 0; i < ROWS; i++)
        figure_point(all->run, "forgotten", row_names[i], (double)now / 1000,
                     share_forgotten(all, i, now));
}

typedef struct scenario {
    double (*load)(double second);
    void (*report)(adaptation *all, uint64_t now);
    unsigned step; /* seconds, at small scale */
} scenario;

static const scenario scenarios[] = {{load_from_start, report_errors, 8},
                                     {load_after_calm, report_forgotten, 4}};

static bool run_load(adaptation *all, const scenario *its)
{
    const unsigned step = FIGURE_SIZE(all->run, its->step, 1, 1);
    double due = 0;
    for (uint64_t now = 0; now < UINT64_C(1000) * SECONDS; now++) {
        due += its->load((double)now / 1000) / 1000;
        while (all->added < (uint64_t)due && all->added < MOST)
            if (!add_element(all, now))
                return bench_no_memory();
        if ((now + 1) % (UINT64_C(1000) * step) == 0) {
            if (bry__literal_fbf_advance(&all->literal, now + 1, &all->allocator) != BRY_OK)
                return bench_no_memory();
            its->report(all, now + 1);
        }
    }
    return true;
}

static bool measure_scenario(const figure_run *run, const scenario *its)
{
    const bry__literal_options literal = {BITS, HASHES, PERIOD, TARGET, 384};
    window_work published = {
        .kind = WINDOW_PAPER,
        .paper = {.window = WINDOW,
                  .capacity = PLANNED,
                  .error = TARGET,
                  .generations = 2,
                  .bits = BITS,
                  .hashes = HASHES},
    };
    bry_window_options options = BRY_WINDOW_OPTIONS;
    options.window = WINDOW;
    options.capacity = PLANNED;
    options.error = TARGET;
    adaptation *all = calloc(1, sizeof *all);
    if (!all)
        return bench_no_memory();
    all->run = run;
    all->allocator = bry__allocator_or_default(NULL);
    bry_status status = bry__literal_fbf_init(&all->literal, &literal, &all->allocator);
    all->row[1] = fbf_row_make(run, &published);
    all->row[2] = fbf_row_ours(run, BRY_ENGINE_FBF, &options);
    all->row[3] = fbf_row_ours(run, BRY_ENGINE_COMPACT, &options);
    bool done = status == BRY_OK && all->row[1].state && all->row[2].state && all->row[3].state &&
                run_load(all, its);
    for (int i = 1; i < ROWS; i++)
        fbf_row_free(&all->row[i]);
    if (status == BRY_OK)
        bry__literal_fbf_free(&all->literal, &all->allocator);
    free(all);
    return done;
}

static bool measure_adaptation(const figure_run *run)
{
    return measure_scenario(run, &scenarios[0]) && measure_scenario(run, &scenarios[1]);
}

FIGURE(fbf_6_6, "fbf-6.6", "Adaptation to the load", {8, 10, 10}, measure_adaptation);
