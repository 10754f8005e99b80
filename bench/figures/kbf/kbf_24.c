/* kBF, figures 24 and 25: states of flows in a kBF and in an sBF. */
#include "bench/figures/figure.h"

#include "bench/cases/flows/flows_cases.h"

static const char *const names[FLOWS_STRUCTURES] = {"sBF: unknown for good",
                                                    "sBF: unknown until empty",
                                                    "kBF as published",
                                                    "kBF with corrections (ours)",
                                                    "compact in 1/10 of the memory (ours)",
                                                    "compact in 1/4 of the memory (ours)"};

static void plot_trial(const figure_run *run, const flows_stream *stream, double p,
                       const char *series, const flows_trial *trial)
{
    double present = (double)trial->present, looked_up = present + (double)trial->absent;
    double missed = (double)trial->false_negative;
    double wrong = missed + (double)(trial->false_positive + trial->incorrect);
    figure_point(run, "false negatives", series, p, missed / present);
    figure_point(run, "total", series, p, wrong / looked_up);
    figure_point(run, "memory", series, p, (double)trial->bytes / (double)stream->live);
}

/* The papers' are 0.1 to 10^-5. Tests take larger ones, with which few flows give enough errors. */
static const double errors_of_papers[] = {0.1, 0.01, 0.001, 0.0001, 0.00001, 0};
static const double errors_of_tests[] = {0.4, 0.2, 0};

static bool measure_flow_states(const figure_run *run)
{
    const flows_stream stream = flows_paper_stream(
        FIGURE_SIZE(run, UINT64_C(9000), UINT64_C(90000), FLOWS_PAPER_FLOWS), run->seed);
    const double *p = run->scale == FIGURE_SMALL ? errors_of_tests : errors_of_papers;
    for (; *p > 0; p++) {
        flows_trial trials[FLOWS_STRUCTURES] = {0};
        if (!flows_compare(&stream, *p, trials))
            return false;
        for (unsigned s = 0; s < FLOWS_STRUCTURES; s++)
            plot_trial(run, &stream, *p, names[s], &trials[s]);
    }
    return true;
}

FIGURE(kbf_24, "kbf-24", "States of flows in kBF and sBF", {30, 5, 1}, measure_flow_states);
