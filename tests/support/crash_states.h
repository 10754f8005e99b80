/*
 * Every state that a crash during a recording may leave on disk.
 *
 * The machine may stop after any operation. What a sync (of the file, for contents; of the folder,
 * for names) has covered by then is there. Each other operation is there or not, independently: up
 * to CRASH_SUBSETS of them in every combination, beyond that each prefix, each one alone missing
 * and each one alone present. Besides, each write that was not synced is torn at several places,
 * its front or its back missing, with the other operations all there, all gone, or there up to it.
 * A gap that is left in front of a write reads as zeros.
 */
#ifndef BRY_TESTS_CRASH_STATES_H
#define BRY_TESTS_CRASH_STATES_H

#include "support/recording_io.h"

enum { CRASH_SUBSETS = 10 };

typedef struct crash_state {
    recording_io *fs; /* as found after the crash; the callback may use it up */
    size_t ops; /* that were begun */
    bool marked; /* a mark was passed, */
    uint64_t first, second; /* and the last one's numbers */
} crash_state;

typedef void crash_check(void *context, const crash_state *state);

/* Calls `check` for each state; the same one may come more than once. Returns how many. */
size_t crash_states(const recording_io *recording, crash_check *check, void *context);

/* For file operations that do less than they should, which the checks must notice. */
int skip_sync(void *opaque, int fd);
int skip_folder_sync(void *opaque, const char *folder);

#endif
