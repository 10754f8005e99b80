/* The settings of `bench map` and similar cases. */
#ifndef BLOOMERY_BENCH_MAP_SETTINGS_H
#define BLOOMERY_BENCH_MAP_SETTINGS_H

#include <bloomery/map.h>

#define MAP_DECODE_SETS 5u /* the INFOCOM paper's */

typedef struct map_settings {
    bry_engine engine;
    bry_map_layout layout; /* from here to `greedy`: kbf only */
    unsigned decode; /* level 1 to 4, or MAP_DECODE_SETS */
    bool unmasked;
    bool greedy; /* encodings by search, as in the papers */
    double size; /* factor for the planned number of cells */
    uint64_t values;
    bool raw; /* values are small integers, not byte strings */
    double skew, top; /* value_mix.h */
} map_settings;

/* Options as typed; NULL: not given. */
typedef struct map_words {
    const char *engine, *layout, *decode, *encoder, *zipf, *size;
} map_words;

/*
 * Fills *settings, in which flags, values and top share are already set. CLI_GO_ON, or the exit
 * code after a message.
 */
int map_settings_read(const map_words *words, map_settings *settings);

/* Whether the code in papers/ is measured, because the library does not have these variants. */
static inline bool map_settings_papers(const map_settings *settings)
{
    return settings->engine == BRY_ENGINE_KBF &&
           (settings->greedy || settings->unmasked || settings->decode != 4);
}

#endif
