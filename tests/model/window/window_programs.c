/*
 * Runs the window's model on generated programs, for each engine until OPERATIONS operations were
 * done.
 *
 *     window_programs OPERATIONS LENGTH [SEED]    programs of at most LENGTH bytes
 *
 * A program that fails is shrunk and printed, with the seed that made it. Forgetting early is a
 * failure. False positives must be within the error, for each error separately.
 */
#include "model/programs.h"
#include "model/window/window_model.h"
#include "support/window_kinds.h"

#include <math.h>

static window_model_counts before; /* what the kinds before this one did */

static uint64_t operations(void)
{
    return window_model_counted().operations - before.operations;
}

/* Prints the counts, and checks whether they are within the errors. */
static bool report(const char *name, uint64_t count)
{
    window_model_counts now = window_model_counted();
    printf("%s: %ju programs, %ju operations, %ju on elements that had to be remembered, "
           "forgotten_early 0\n",
           name, (uintmax_t)count, (uintmax_t)(now.operations - before.operations),
           (uintmax_t)(now.remembered - before.remembered));
    bool good = true;
    for (int i = 0; i < WINDOW_MODEL_ERRORS; i++) {
        double most = now.may_be_wrong[i] - before.may_be_wrong[i];
        uint64_t wrong = now.wrong[i] - before.wrong[i];
        printf("  error number %d: %ju false positives, at most %.1f expected\n", i,
               (uintmax_t)wrong, most);
        good = good && (double)wrong <= most + 5 * sqrt(most) + 1;
    }
    return good;
}

static bool run_kind(size_t kind, programs these)
{
    before = window_model_counted();
    window_model_kind = (int)kind;
    uint64_t count = programs_run(&these, "window_programs", &window_model, operations);
    if (count == 0)
        fprintf(stderr, "that was %s\n", window_kinds[kind].name);
    return count > 0 && report(window_kinds[kind].name, count);
}

int main(int argc, char **argv)
{
    programs these;
    if (!programs_read(&these, "window_programs", argc, argv))
        return 2;
    bool good = true;
    for (size_t kind = 0; kind < WINDOW_KINDS && good; kind++)
        good = run_kind(kind, these);
    return !good;
}
