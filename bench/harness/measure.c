#include "bench/harness/measure.h"
#include "bench/harness/bench_fail.h"

#include <math.h>
#include <stdlib.h>

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare_doubles);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* The times of all rounds, by candidate and phase. */
static double *times_of(double *times, const bench_plan *plan, size_t candidate, unsigned phase)
{
    return times + (candidate * plan->phases + phase) * plan->rounds;
}

/* Runs one candidate through all phases. Round 0 is the warm-up; it sets the expected counts. */
static bool run_round(const bench_plan *plan, const void *work, size_t candidate, unsigned round,
                      double *times, bench_result *result)
{
    const bench_candidate *who = &plan->candidates[candidate];
    void *state = who->make(work);
    if (!state)
        return bench_fail("%s cannot be made at this size", who->name);
    bool good = true;
    for (unsigned phase = 0; phase < plan->phases && good; phase++) {
        if (who->skips >> phase & 1)
            continue;
        bench_watch watch = {0};
        uint64_t found = 0;
        good = who->run(work, state, phase, &watch, &found);
        if (!good)
            cli_fail("%s failed in phase %u", who->name, phase);
        if (round == 0) {
            result->found[phase] = found;
        } else {
            times_of(times, plan, candidate, phase)[round - 1] =
                (double)watch.spent / (double)plan->operations;
            if (good && found != result->found[phase]) {
                cli_fail("%s found %llu in phase %u and %llu before", who->name,
                         (unsigned long long)found, phase,
                         (unsigned long long)result->found[phase]);
                good = false;
            }
        }
    }
    who->drop(state);
    return good;
}

bool bench_measure(const bench_plan *plan, const void *work, bench_result *results)
{
    double *times = calloc(plan->count * plan->phases * plan->rounds, sizeof *times);
    if (!times)
        return bench_no_memory();
    bool good = true;
    for (unsigned round = 0; round <= plan->rounds && good; round++)
        for (size_t i = 0; i < plan->count && good; i++) {
            size_t candidate = (i + round) % plan->count;
            const void *given = plan->works ? plan->works[candidate] : work;
            good = run_round(plan, given, candidate, round, times, &results[candidate]);
        }
    for (size_t i = 0; i < plan->count && good; i++)
        for (unsigned phase = 0; phase < plan->phases; phase++) {
            bench_time *time = &results[i].time[phase];
            if (plan->candidates[i].skips >> phase & 1) {
                *time = (bench_time){NAN, NAN};
                continue;
            }
            double *all = times_of(times, plan, i, phase);
            time->median = bench_median(all, plan->rounds);
            time->min = all[0];
        }
    free(times);
    return good;
}

void bench_time_json(cli_json *json, const char *name, bench_time time)
{
    char key[64];
    snprintf(key, sizeof key, "ns_%s", name);
    cli_json_number(json, key, time.median);
    snprintf(key, sizeof key, "ns_%s_min", name);
    cli_json_number(json, key, time.min);
}
