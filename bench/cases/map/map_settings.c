#include "bench/cases/bench_cases.h"

#include "cli/core/args.h"
#include "cli/core/output/output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_VALUES 10000000u
#define MOST_SKEW 10.0
#define LEAST_SIZE 0.01
#define MOST_SIZE 100.0

/* A number from least to most. */
static int read_map_number(const char *name, const char *text, double least, double most,
                           double *number)
{
    char *end;
    double read = strtod(text, &end);
    if (end == text || *end || !isfinite(read))
        return cli_misuse("--%s: %s is not a number", name, cli_quote(text).text);
    if (read < least || read > most)
        return cli_misuse("--%s: %g is not between %g and %g", name, read, least, most);
    *number = read;
    return CLI_GO_ON;
}

/* The index of the word, or -1 after a message. */
static int read_choice(const char *name, const char *text, const char *const *choices, int count)
{
    for (int i = 0; i < count; i++)
        if (strcmp(text, choices[i]) == 0)
            return i;
    cli_misuse("--%s: there is no %s %s", name, name, cli_quote(text).text);
    return -1;
}

static int read_engine(const map_words *words, map_settings *settings)
{
    int code = bench_engine_read(words->engine, BRY_JOB_MAP, "maps", &settings->engine);
    if (code != CLI_GO_ON || settings->engine == BRY_ENGINE_KBF)
        return code;
    const char *alien = words->layout        ? "layout"
                        : words->decode      ? "decode"
                        : words->encoder     ? "encoder"
                        : words->size        ? "size"
                        : settings->unmasked ? "unmasked"
                                             : NULL;
    if (alien)
        return cli_misuse("--%s: engine compact does not have it", alien);
    return CLI_GO_ON;
}

static int read_kbf(const map_words *words, map_settings *settings)
{
    static const char *const layouts[] = {"tuned", "paper"};
    static const char *const levels[] = {"1", "2", "3", "4", "sets"};
    static const char *const encoders[] = {"algebraic", "greedy"};
    int layout = words->layout ? read_choice("layout", words->layout, layouts, 2) : 0;
    int encoder = words->encoder ? read_choice("encoder", words->encoder, encoders, 2) : 0;
    int best = encoder == 1 ? 2 : 3;
    int level = words->decode ? read_choice("decode", words->decode, levels, 5) : best;
    if (layout < 0 || level < 0 || encoder < 0)
        return CLI_USAGE;
    settings->layout = (bry_map_layout)layout;
    settings->decode = (unsigned)level + 1;
    settings->greedy = encoder == 1;
    if (settings->greedy && settings->decode == 4)
        return cli_misuse("--decode: the greedy encoder has levels 1 to 3 and sets");
    settings->unmasked |= settings->greedy || settings->decode == MAP_DECODE_SETS;
    return words->size
               ? read_map_number("size", words->size, LEAST_SIZE, MOST_SIZE, &settings->size)
               : CLI_GO_ON;
}

int map_settings_read(const map_words *words, map_settings *settings)
{
    settings->size = 1;
    int code = read_engine(words, settings);
    if (code == CLI_GO_ON && settings->engine == BRY_ENGINE_KBF)
        code = read_kbf(words, settings);
    if (code == CLI_GO_ON && words->zipf)
        code = read_map_number("zipf", words->zipf, 0, MOST_SKEW, &settings->skew);
    if (code != CLI_GO_ON)
        return code;
    uint64_t most = settings->engine != BRY_ENGINE_KBF ? MOST_VALUES
                    : settings->raw                    ? 1u << BRY_MAP_KBF_VALUE_BITS_MAX
                                                       : BRY_MAP_KBF_VALUES_MAX;
    if (settings->values > most)
        return cli_misuse("--values: %llu is not between 1 and %llu",
                          (unsigned long long)settings->values, (unsigned long long)most);
    if (settings->top > 0 && settings->values < 2)
        return cli_misuse("--top-share: a single value has all");
    return CLI_GO_ON;
}
