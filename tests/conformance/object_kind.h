/*
 * What must hold for objects of every job, engine and mode, in one harness: they are saved and
 * loaded without loss, bytes that were damaged or forged are refused or harmless, an allocation
 * that fails changes nothing, and threads may read side by side.
 *
 * A kind says how to make such an object, what can be done to it and what it can be asked. Each job
 * has a table of kinds (filter_objects.c, map_objects.c, …); the checks know no job:
 *
 *     save_checks.c     streams, files, ceilings
 *     forged_checks.c   truncated, damaged and forged streams
 *     memory_checks.c   failing allocations
 *     test_conformance_threads.c   threads
 */
#ifndef BRY_TESTS_OBJECT_KIND_H
#define BRY_TESTS_OBJECT_KIND_H

#include "support/cmocka_all.h"
#include "support/failing_allocator.h"
#include "support/job_calls.h"

#include <string.h>

typedef struct kept_kind kept_kind;

/* Asks an object something and appends the answers. Threads call it at the same time: it asserts
 * nothing. */
typedef void kept_look(const void *object, bry_buffer *answers);

/* Something that can be done to an object that fill() has filled. */
typedef struct kept_operation {
    const char *name;
    bry_status (*run)(void *object, uint64_t round);
    unsigned rounds; /* how often it is run, one after the other; 0: once */
    bool
        in_steps; /* consists of several calls: those before the one that failed have done theirs */
    bool may_need_none; /* may need no memory */
} kept_operation;

struct kept_kind {
    const char *name;
    const job_calls *calls;
    bry_status (*create)(const kept_kind *kind, const bry_allocator *allocator, void **object);
    /* Gives a new object all that a file can hold. */
    void (*fill)(const kept_kind *kind, void *object);
    /* Changes the object and notes the answers. Also called for forged objects, on which any call
     * may fail. */
    void (*use)(void *object, bry_buffer *answers);
    kept_look *const *looks; /* NULL ends them */
    const kept_operation *operations; /* one without a name ends them */
    bool exact_ceiling; /* a load needs the object's bytes() and not one more */
    uint64_t frame_bytes; /* a load may take them for a while, besides the object; 0: 512 KiB */
    bool large; /* streams too long to be read over and over */
    bry_engine engine;
    unsigned variant; /* the rest is for the functions of the job */
    uint64_t size;
};

/* What a forged object, or one that is made like it, may allocate. */
enum { KEPT_LIMIT = 1 << 26 };

typedef struct kept_kinds {
    const char *job;
    const kept_kind *kind;
    size_t count;
} kept_kinds;

extern const kept_kinds kept_filters, kept_maps, kept_windows, kept_counters, kept_indexes;

#define KEPT_KINDS(kept, job, kinds)                                                               \
    const kept_kinds kept = {job, kinds, sizeof(kinds) / sizeof(kinds)[0]}

/* Created and filled. */
void *kept_make(const kept_kind *kind, const bry_allocator *allocator);

/* Saved, the caller's to free. */
bry_buffer kept_saved(const kept_kind *kind, const void *object);
void kept_assert_saves_as(const kept_kind *kind, const void *object, const bry_buffer *saved);
void kept_assert_same_bytes(const bry_buffer *a, const bry_buffer *b);

/* The answers of all looks, the caller's to free. */
bry_buffer kept_seen(const kept_kind *kind, const void *object);

/* The most that a load below this ceiling may allocate. */
uint64_t kept_most(const kept_kind *kind, uint64_t ceiling);

/* For looks and uses: appends to the answers. */
void kept_note(bry_buffer *answers, uint64_t number);
void kept_note_bytes(bry_buffer *answers, const void *bytes, size_t len);
#define kept_note_real(answers, real) kept_note_bytes((answers), &(double){real}, sizeof(double))

/* ---- checks ------------------------------------------------------------------------------- */

void kept_check_round_trip(const kept_kind *kind);
void kept_check_empty(const kept_kind *kind);
void kept_check_files(const kept_kind *kind);
void kept_check_ceiling(const kept_kind *kind);
void kept_check_sink_refuses(const kept_kind *kind);

void kept_check_truncated(const kept_kind *kind);
void kept_check_flipped(const kept_kind *kind);
void kept_check_other_header(const kept_kind *kind);
void kept_check_forged(const kept_kind *kind);

void kept_check_failing_create(const kept_kind *kind);
void kept_check_failing_clone(const kept_kind *kind);
void kept_check_failing_save(const kept_kind *kind);
void kept_check_failing_load(const kept_kind *kind);
void kept_check_failing_operations(const kept_kind *kind);

#endif
