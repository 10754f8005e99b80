/*
 * Runs the index's model on programs from a generator until that many operations were done.
 *
 *     index_programs OPERATIONS LENGTH [SEED]    programs of at most LENGTH bytes
 *
 * A program that fails is shrunk and printed, with the seed that made it.
 */
#include "model/index_model.h"
#include "support/generator.h"

#include <errno.h>
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
        fputs("usage: index_programs OPERATIONS LENGTH [SEED]\n", stderr);
        return 2;
    }
    uint8_t *bytes = malloc(length);
    if (!bytes)
        return 1;
    /* Each program has a seed of its own, so that one can be had again without those before it. */
    for (; index_model_operations() < wanted; programs++, seed++) {
        generator numbers = {seed};
        size_t len = 1 + (size_t)generator_below(&numbers, length);
        generator_fill(&numbers, bytes, len);
        if (!model_try(&index_model, bytes, len, stderr)) {
            fprintf(stderr, "again: index_programs 1 %ju %ju\n", (uintmax_t)length,
                    (uintmax_t)seed);
            free(bytes);
            return 1;
        }
    }
    free(bytes);
    printf("%ju programs, %ju operations, %ju elements asked for\n", (uintmax_t)programs,
           (uintmax_t)index_model_operations(), (uintmax_t)index_model_answers());
    return 0;
}
