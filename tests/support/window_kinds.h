/* The engines that every test of windows goes through. */
#ifndef BRY_TESTS_WINDOW_KINDS_H
#define BRY_TESTS_WINDOW_KINDS_H

#include <bloomery/window.h>

typedef struct window_kind {
    const char *name;
    bry_engine engine;
    bool forgets; /* single elements */
    bool counts; /* stats.items is exact while no two elements share a fingerprint */
} window_kind;

static const window_kind window_kinds[] = {
    {"compact", BRY_ENGINE_COMPACT, true, true},
    {"fbf", BRY_ENGINE_FBF, false, false},
};
#define WINDOW_KINDS (sizeof window_kinds / sizeof window_kinds[0])

#endif
