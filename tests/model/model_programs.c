/*
 * Runs model tests on programs from a generator.
 *
 *     model_programs MODEL COUNT LENGTH [SEED]   COUNT programs of at most LENGTH bytes
 *     model_programs MODEL --show FILE           the operations in FILE, and the result
 *
 * A program that fails is shrunk and printed, with the seed that made it.
 */
#include "model/filter/filter_model.h"
#include "model/programs.h"

#include <string.h>

static const model *const models[] = {&filter_model};

static const model *find(const char *name)
{
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++)
        if (strcmp(models[i]->name, name) == 0)
            return models[i];
    return NULL;
}

static int usage(void)
{
    fputs("usage: model_programs MODEL COUNT LENGTH [SEED]\n"
          "       model_programs MODEL --show FILE\n",
          stderr);
    return 2;
}

static int show(const model *which, const char *path)
{
    enum { LARGEST = 1 << 20 };
    static uint8_t bytes[LARGEST];
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        return 1;
    }
    size_t len = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    model_show(which, bytes, len, stdout);
    return !model_run(which, bytes, len, NULL);
}

/* Each program has its own seed, so that it can be repeated alone. */
static int run_programs(const model *which, uint64_t count, size_t length, uint64_t seed)
{
    uint8_t *bytes = malloc(length);
    if (!bytes)
        return 1;
    uint64_t total = 0;
    for (uint64_t i = 0; i < count; i++) {
        generator numbers = {seed + i};
        size_t len = 1 + (size_t)generator_below(&numbers, length);
        generator_fill(&numbers, bytes, len);
        total += len;
        if (!model_try(which, bytes, len, stderr)) {
            fprintf(stderr, "again: model_programs %s 1 %zu %ju\n", which->name, length,
                    (uintmax_t)(seed + i));
            free(bytes);
            return 1;
        }
    }
    printf("%s: %ju programs, %ju bytes\n", which->name, (uintmax_t)count, (uintmax_t)total);
    free(bytes);
    return 0;
}

int main(int argc, char **argv)
{
    const model *which = argc > 1 ? find(argv[1]) : NULL;
    uint64_t count = 0, length = 0, seed = 1;
    if (which && argc == 4 && strcmp(argv[2], "--show") == 0)
        return show(which, argv[3]);
    if (!which || argc < 4 || argc > 5 || !programs_number(argv[2], &count) ||
        !programs_number(argv[3], &length) || (argc == 5 && !programs_number(argv[4], &seed)) ||
        count == 0 || length == 0 || length > 1u << 20)
        return usage();
    return run_programs(which, count, (size_t)length, seed);
}
