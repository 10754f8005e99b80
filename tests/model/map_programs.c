/*
 * Runs the map's model on programs from a generator until they did that many operations: calls for
 * one key, for up to 200 or for the whole map, after each of which keys are looked up and compared.
 *
 *     map_programs OPERATIONS LENGTH [SEED]    programs of at most LENGTH bytes
 *
 * A program that fails is shrunk and printed, with the seed that made it. Either engine must have
 * its share of the operations. Wrong answers of kbf must not be more than its error allows, for
 * each error by itself; and no more than one answer in a thousand may be unsure.
 */
#include "model/map_model.h"
#include "support/generator.h"

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

int main(int argc, char **argv)
{
    uint64_t wanted = 0, length = 0, seed = 1, programs = 0;
    if (argc < 3 || argc > 4 || !number(argv[1], &wanted) || !number(argv[2], &length) ||
        (argc == 4 && !number(argv[3], &seed)) || length == 0 || length > 1u << 20) {
        fputs("usage: map_programs OPERATIONS LENGTH [SEED]\n", stderr);
        return 2;
    }
    uint8_t *bytes = malloc(length);
    if (!bytes)
        return 1;
    /* Each program has a seed of its own, so that one can be had again without those before it. */
    for (; map_model_counted().operations < wanted; programs++, seed++) {
        generator numbers = {seed};
        size_t len = 1 + (size_t)generator_below(&numbers, length);
        generator_fill(&numbers, bytes, len);
        if (!model_try(&map_model, bytes, len, stderr)) {
            fprintf(stderr, "again: map_programs 1 %ju %ju\n", (uintmax_t)length, (uintmax_t)seed);
            free(bytes);
            return 1;
        }
    }
    free(bytes);
    map_model_counts counts = map_model_counted();
    printf("%ju operations, %ju of them with kbf; %ju programs, %ju with kbf, %ju of which met a "
           "wrong answer; %ju answers, %ju unsure\n",
           (uintmax_t)counts.operations, (uintmax_t)counts.operations_kbf, (uintmax_t)programs,
           (uintmax_t)counts.programs_kbf, (uintmax_t)counts.programs_wrong,
           (uintmax_t)counts.compared, (uintmax_t)counts.unsure);
    bool good = counts.unsure * 1000 <= counts.compared;
    uint64_t compact = counts.operations - counts.operations_kbf;
    if (programs > 100 && (compact < wanted / 3 || counts.operations_kbf < wanted / 3)) {
        puts("one of the engines has next to no part in this");
        good = false;
    }
    for (int i = 0; i < MAP_MODEL_ERRORS; i++)
        if ((double)counts.wrong[i] >
            counts.may_be_wrong[i] + 5 * sqrt(counts.may_be_wrong[i]) + 1) {
            printf("wrong answers in %ju programs, where %g may have one\n",
                   (uintmax_t)counts.wrong[i], counts.may_be_wrong[i]);
            good = false;
        }
    return !good;
}
