/*
 * Every state that a crash during a recording may leave on disk.
 *
 * The machine may stop after any operation. Everything covered by a sync (of the file for contents,
 * of the directory for names) is on disk. Any other operation may be on disk or not, independently:
 * up to CRASH_SUBSETS of them are tried in every combination; beyond that, each prefix, each one
 * alone missing, and each one alone present. Each write that was not synced is also torn at several
 * places, with its front or its back missing, while the other operations are all present, all
 * missing, or present up to it. A gap before a write reads as zeros.
 */
#ifndef BRY_TESTS_CRASH_STATES_H
#define BRY_TESTS_CRASH_STATES_H

#include "support/recording_io.h"

enum { CRASH_SUBSETS = 10 };

typedef struct crash_state {
    recording_io *fs; /* as found after the crash; the callback may change it */
    size_t ops; /* operations begun */
    bool marked; /* a mark was reached */
    uint64_t first, second; /* the numbers of the last mark */
} crash_state;

typedef void crash_check(void *context, const crash_state *state);

/* Calls `check` for each state, some of them repeatedly. Returns the number of calls. */
size_t crash_states(const recording_io *recording, crash_check *check, void *context);

/* File operations that do nothing, to test that the checks notice a missing sync. */
int skip_sync(void *opaque, int fd);
int skip_dir_sync(void *opaque, const char *dir);

#endif
