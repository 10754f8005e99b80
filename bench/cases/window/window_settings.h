/* The settings of `bench window` and similar cases. */
#ifndef BLOOMERY_BENCH_WINDOW_SETTINGS_H
#define BLOOMERY_BENCH_WINDOW_SETTINGS_H

#include <bloomery/window.h>

/* Which fbf is measured: the library's, or the published one (papers/paper_fbf.h). */
typedef enum window_mode {
    WINDOW_MODE_IMPROVED,
    WINDOW_MODE_PAPER, /* with the optimized check */
    WINDOW_MODE_SIMPLE, /* with the simple check */
} window_mode;

typedef struct window_settings {
    bry_engine engine;
    window_mode mode; /* of fbf */
    uint64_t elements; /* new ones in each window */
    uint32_t generations; /* 0: the engine's default */
    double error;
    size_t batch;
    unsigned rounds;
} window_settings;

/* Reads --engine and --mode; NULL: not given. CLI_GO_ON, or the exit code after a message. */
int window_settings_read(const char *engine, const char *mode, window_settings *settings);

/* "improved", "paper" or "simple" for fbf; NULL for any other engine. */
const char *window_mode_name(bry_engine engine, window_mode mode);

#endif
