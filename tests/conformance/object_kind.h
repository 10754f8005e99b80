/*
 * What must hold for objects of every job, engine and mode, in one harness: they are saved and
 * loaded without loss, bytes that were damaged or forged are refused or harmless, an allocation
 * that fails changes nothing, and threads may read side by side.
 *
 * A kind says how to make such an object, what can be done to it and what it can be asked. Each job
 * has a table of kinds (filter_objects.c, map_objects.c, …); the checks know no job:
 *
 *     save_checks.c     streams, files, limits
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

typedef struct object_kind object_kind;

/* Asks an object something and appends the answers. Threads call it at the same time: it asserts
 * nothing. */
typedef void object_look(const void *object, bry_buffer *answers);

/* Something that can be done to an object that fill() has filled. */
typedef struct object_operation {
    const char *name;
    bry_status (*run)(void *object, uint64_t round);
    unsigned rounds; /* how often it is run, one after the other; 0: once */
    bool
        in_steps; /* consists of several calls: those before the one that failed have done theirs */
    bool may_need_none; /* may need no memory */
} object_operation;

struct object_kind {
    const char *name;
    const job_calls *calls;
    bry_status (*create)(const object_kind *kind, const bry_allocator *allocator, void **object);
    /* Gives a new object all that a file can hold. */
    void (*fill)(const object_kind *kind, void *object);
    /* Changes the object and notes the answers. Also called for forged objects, on which any call
     * may fail. */
    void (*use)(void *object, bry_buffer *answers);
    object_look *const *looks; /* NULL ends them */
    const object_operation *operations; /* one without a name ends them */
    bool exact_limit; /* a load needs the object's bytes() and not one more */
    uint64_t frame_bytes; /* a load may take them for a while, besides the object; 0: 512 KiB */
    bool large; /* streams too long to be read over and over */
    bry_engine engine;
    unsigned variant; /* the rest is for the functions of the job */
    uint64_t size;
};

/* What a forged object, or one that is made like it, may allocate. */
enum { OBJECT_LIMIT = 1 << 26 };

typedef struct object_kinds {
    const char *job;
    const object_kind *kind;
    size_t count;
} object_kinds;

extern const object_kinds filter_objects, map_objects, window_objects, counter_objects,
    index_objects;

#define OBJECT_KINDS(kept, job, kinds)                                                             \
    const object_kinds kept = {job, kinds, sizeof(kinds) / sizeof(kinds)[0]}

/* Created and filled. */
void *object_make(const object_kind *kind, const bry_allocator *allocator);

/* Saved, the caller's to free. */
bry_buffer object_saved(const object_kind *kind, const void *object);
void assert_saves_as(const object_kind *kind, const void *object, const bry_buffer *saved);
void assert_same_bytes(const bry_buffer *a, const bry_buffer *b);

/* The answers of all looks, the caller's to free. */
bry_buffer object_answers(const object_kind *kind, const void *object);

/* The most that a load below this limit may allocate. */
uint64_t most_while_loading(const object_kind *kind, uint64_t limit);

/* For looks and uses: appends to the answers. */
void note_number(bry_buffer *answers, uint64_t number);
void note_bytes(bry_buffer *answers, const void *bytes, size_t len);
#define note_real(answers, real) note_bytes((answers), &(double){real}, sizeof(double))

/* ---- checks --------------------------------------------------------------------------------- */

void check_round_trip(const object_kind *kind);
void check_empty(const object_kind *kind);
void check_files(const object_kind *kind);
void check_limit(const object_kind *kind);
void check_sink_refuses(const object_kind *kind);

void check_truncated(const object_kind *kind);
void check_flipped(const object_kind *kind);
void check_other_header(const object_kind *kind);
void check_forged(const object_kind *kind);

void check_failing_create(const object_kind *kind);
void check_failing_clone(const object_kind *kind);
void check_failing_save(const object_kind *kind);
void check_failing_load(const object_kind *kind);
void check_failing_operations(const object_kind *kind);

#endif
