/* The engines and modes that every test of windows goes through. */
#ifndef BRY_TESTS_WINDOW_KINDS_H
#define BRY_TESTS_WINDOW_KINDS_H

#include <bloomery/window.h>

typedef struct window_kind {
    const char *name;
    bry_engine engine;
    bry_window_mode mode;
    bool keeps_error; /* at any load, unless `fixed` or at a ceiling without `refuse` */
    bool forgets; /* single elements */
    bool counts; /* stats.items is exact while no two elements share a fingerprint */
} window_kind;

static const window_kind window_kinds[] = {
    {"compact", BRY_ENGINE_COMPACT, BRY_WINDOW_IMPROVED, true, true, true},
    {"fbf", BRY_ENGINE_FBF, BRY_WINDOW_IMPROVED, true, false, false},
    {"fbf, paper", BRY_ENGINE_FBF, BRY_WINDOW_PAPER, false, false, false},
    {"fbf, paper, simple", BRY_ENGINE_FBF, BRY_WINDOW_PAPER_SIMPLE, false, false, false},
};
#define WINDOW_KINDS (sizeof window_kinds / sizeof window_kinds[0])

#endif
