/*
 * Runs the counter's model on generated programs until OPERATIONS operations were compared.
 *
 *     counter_programs OPERATIONS LENGTH [SEED]    programs of at most LENGTH bytes
 *
 * A program that fails is shrunk and printed, with the seed that made it.
 */
#include "model/counter/counter_model.h"

#include <stdlib.h>

#include "support/generator.h"

int main(int argc, char **argv)
{
    uint64_t wanted = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    uint64_t length = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1, programs = 0;
    if (argc < 3 || argc > 4 || wanted == 0 || length == 0 || length > 1u << 20) {
        fputs("usage: counter_programs OPERATIONS LENGTH [SEED]\n", stderr);
        return 2;
    }
    uint8_t *bytes = malloc(length);
    if (!bytes)
        return 1;
    /* Each program has its own seed, so that it can be repeated alone. */
    for (; counter_model_counted().operations < wanted; programs++, seed++) {
        generator numbers = {seed};
        size_t len = 1 + (size_t)generator_below(&numbers, length);
        generator_fill(&numbers, bytes, len);
        if (!model_try(&counter_model, bytes, len, stderr)) {
            fprintf(stderr, "again: counter_programs 1 %ju %ju\n", (uintmax_t)length,
                    (uintmax_t)seed);
            free(bytes);
            return 1;
        }
    }
    free(bytes);
    counter_model_counts counts = counter_model_counted();
    printf(
        "%ju programs, %ju operations, %ju of them repeats, %ju calls refused as full, %ju times "
        "opened again\n",
        (uintmax_t)programs, (uintmax_t)counts.operations, (uintmax_t)counts.repeats,
        (uintmax_t)counts.full, (uintmax_t)counts.reopened);
    /* Each of these must have occurred often enough. */
    return counts.repeats < wanted / 50 || counts.full == 0 || counts.reopened < wanted / 500;
}
