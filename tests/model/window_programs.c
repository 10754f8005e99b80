/*
 * Runs the window's model on programs from a generator, for each engine and mode until that many
 * operations were done.
 *
 *     window_programs OPERATIONS LENGTH [SEED]    programs of at most LENGTH bytes
 *
 * A program that fails is shrunk and printed, with the seed that made it. One failure is to forget
 * early. False positives must not be more than the error allows, for each error by itself.
 */
#include "model/window_model.h"
#include "support/generator.h"
#include "support/window_kinds.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static bool number(const char *text, uint64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoull(text, &end, 10);
    return errno == 0 && end != text && *end == 0;
}

/* Says what was counted since `before`, and whether it is within the errors. */
static bool report(const char *name, uint64_t programs, const window_model_counts *before)
{
    window_model_counts now = window_model_counted();
    printf("%s: %ju programs, %ju operations, %ju on elements that had to be remembered, "
           "forgotten_early 0\n",
           name, (uintmax_t)programs, (uintmax_t)(now.operations - before->operations),
           (uintmax_t)(now.remembered - before->remembered));
    bool good = true;
    for (int i = 0; i < WINDOW_MODEL_ERRORS; i++) {
        double most = now.may_be_wrong[i] - before->may_be_wrong[i];
        uint64_t wrong = now.wrong[i] - before->wrong[i];
        printf("  error number %d: %ju false positives, at most %.1f expected\n", i,
               (uintmax_t)wrong, most);
        good = good && (double)wrong <= most + 5 * sqrt(most) + 1;
    }
    return good;
}

static bool run_kind(size_t kind, uint64_t wanted, uint64_t length, uint64_t first, uint8_t *bytes)
{
    const window_model_counts before = window_model_counted();
    uint64_t seed = first;
    window_model_kind = (int)kind;
    for (; window_model_counted().operations - before.operations < wanted; seed++) {
        generator numbers = {seed};
        size_t len = 1 + (size_t)generator_below(&numbers, length);
        generator_fill(&numbers, bytes, len);
        if (!model_try(&window_model, bytes, len, stderr)) {
            fprintf(stderr, "again: window_programs 1 %ju %ju (%s)\n", (uintmax_t)length,
                    (uintmax_t)seed, window_kinds[kind].name);
            return false;
        }
    }
    return report(window_kinds[kind].name, seed - first, &before);
}

int main(int argc, char **argv)
{
    uint64_t wanted = 0, length = 0, first = 1;
    if (argc < 3 || argc > 4 || !number(argv[1], &wanted) || !number(argv[2], &length) ||
        (argc == 4 && !number(argv[3], &first)) || length == 0 || length > 1u << 20) {
        fputs("usage: window_programs OPERATIONS LENGTH [SEED]\n", stderr);
        return 2;
    }
    uint8_t *bytes = malloc(length);
    if (!bytes)
        return 1;
    bool good = true;
    for (size_t kind = 0; kind < WINDOW_KINDS && good; kind++)
        good = run_kind(kind, wanted, length, first, bytes);
    free(bytes);
    return !good;
}
