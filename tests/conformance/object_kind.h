/*
 * Checks that objects of every job, engine and mode must pass: they are saved and loaded without
 * loss, damaged bytes are refused, a failed allocation changes nothing, and
 * threads can read concurrently.
 *
 * A kind says how to make an object, which operations it has and which queries. Each job has a
 * table of kinds (filter_objects.c, map_objects.c, …); the checks work for any job:
 *
 *     save_checks.c     streams, files, limits
 *     damage_checks.c   truncated and damaged streams
 *     memory_checks.c   failing allocations
 *     test_conformance_threads.c   threads
 */
#ifndef BRY_TESTS_OBJECT_KIND_H
#define BRY_TESTS_OBJECT_KIND_H

#include "support/cmocka_all.h"
#include "support/failing_allocator.h"
#include "support/job_calls.h"
#include "support/key_by_number.h"

#include <string.h>

typedef struct object_kind object_kind;

/* Queries an object and appends the answers. Threads call it concurrently, so it has no
 * assertions. */
typedef void object_look(const void *object, bry_buffer *answers);

/* An operation on an object after fill(). */
typedef struct object_operation {
    const char *name;
    bry_status (*run)(void *object, uint64_t round);
    unsigned rounds; /* how often it is repeated; 0: once */
    bool
        in_steps; /* consists of several calls: those before the one that failed have done theirs */
    bool may_need_none; /* may need no allocation */
} object_operation;

struct object_kind {
    const char *name;
    bry_job job;
    bry_status (*create)(const object_kind *kind, const bry_allocator *allocator, void **object);
    /* Fills a new object with everything that a file can contain. */
    void (*fill)(const object_kind *kind, void *object);
    /* Changes the object and notes the answers. */
    void (*use)(void *object, bry_buffer *answers);
    object_look *const *looks; /* ends with NULL */
    const object_operation *operations; /* ends with one without a name */
    bool exact_limit; /* a load needs exactly the object's bytes() */
    uint64_t frame_bytes; /* temporary memory of a load; 0: 512 KiB */
    bool large; /* its stream is too long to be read many times */
    bry_engine engine; /* BRY_ENGINE_AUTO: a kind for each engine of the job */
    unsigned variant; /* the rest is for the job's functions */
    uint64_t size;
};

typedef struct object_kinds {
    const char *job;
    const object_kind *kind;
    size_t count;
} object_kinds;

extern const object_kinds filter_objects, map_objects, window_objects, counter_objects,
    index_objects;

#define OBJECT_KINDS(kept, job, kinds)                                                             \
    const object_kinds kept = {job, kinds, sizeof(kinds) / sizeof(kinds)[0]}

/* Checks every kind, after printing its name with the engine. */
void object_kinds_check(const object_kinds *kinds, void (*check)(const object_kind *kind));

/* Creates and fills an object. */
void *object_make(const object_kind *kind, const bry_allocator *allocator);

/* The answers of all looks; the caller frees the buffer. */
bry_buffer object_answers(const object_kind *kind, const void *object);

/* The most that a load below this limit may allocate. */
uint64_t most_while_loading(const object_kind *kind, uint64_t limit);

/* For looks and uses: appends to the answers. */
void note_number(bry_buffer *answers, uint64_t number);
void note_bytes(bry_buffer *answers, const void *bytes, size_t len);
#define note_real(answers, real) note_bytes((answers), &(double){real}, sizeof(double))

/* ---- checks --------------------------------------------------------------------------------- */

/* X(name) for each: check_name(). */
#define OBJECT_CHECKS(X)                                                                           \
    X(round_trip)                                                                                  \
    X(empty)                                                                                       \
    X(clear)                                                                                       \
    X(files)                                                                                       \
    X(limit)                                                                                       \
    X(sink_refuses)                                                                                \
    X(truncated)                                                                                   \
    X(flipped)                                                                                     \
    X(other_header)                                                                                \
    X(failing_create) X(failing_clone) X(failing_save) X(failing_load) X(failing_operations)

void check_round_trip(const object_kind *kind);
void check_empty(const object_kind *kind);
void check_clear(const object_kind *kind);
void check_files(const object_kind *kind);
void check_limit(const object_kind *kind);
void check_sink_refuses(const object_kind *kind);

void check_truncated(const object_kind *kind);
void check_flipped(const object_kind *kind);
void check_other_header(const object_kind *kind);

void check_failing_create(const object_kind *kind);
void check_failing_clone(const object_kind *kind);
void check_failing_save(const object_kind *kind);
void check_failing_load(const object_kind *kind);
void check_failing_operations(const object_kind *kind);

#endif
