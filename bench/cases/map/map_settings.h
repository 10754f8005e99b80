/* What `bench map` and its relatives are asked for. */
#ifndef BLOOMERY_BENCH_MAP_SETTINGS_H
#define BLOOMERY_BENCH_MAP_SETTINGS_H

#include <bloomery/map.h>

typedef struct map_settings {
    bry_engine engine;
    bry_map_layout layout; /* this and what follows to `greedy`: of kbf alone */
    unsigned decode; /* 1 to 4 */
    bool unmasked;
    bool greedy; /* encodings by search, as in the papers */
    double size; /* so many times the planned cells */
    uint64_t values;
    bool raw; /* values are small integers, not byte strings */
    double skew, top; /* value_mix.h */
} map_settings;

/* Options as they were typed; NULL where one was not given. */
typedef struct map_words {
    const char *engine, *shape, *decode, *encoder, *skew, *size;
} map_words;

/*
 * Fills *settings, in which the flags, the values and the top share are set already. Returns
 * CLI_GO_ON, or the exit code after a message.
 */
int map_settings_read(const map_words *words, map_settings *settings);

/* Whether code of papers/ is measured instead of the library, which has none of these. */
static inline bool map_settings_papers(const map_settings *settings)
{
    return settings->engine == BRY_ENGINE_KBF &&
           (settings->greedy || settings->unmasked || settings->decode < 4);
}

#endif
