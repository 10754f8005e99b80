/* The calls that every job has, on void pointers, for tests of all jobs. */
#ifndef BRY_TESTS_JOB_CALLS_H
#define BRY_TESTS_JOB_CALLS_H

#include <bloomery.h>

typedef struct job_calls {
    const char *name;
    /* With this engine, seed 1, and defaults otherwise. */
    bry_status (*create)(bry_engine engine, const bry_allocator *allocator, void **object);
    bry_status (*clone)(const void *object, const bry_allocator *allocator, void **copy);
    bry_status (*save)(const void *object, const bry_sink *sink, const bry_save *how);
    bry_status (*load)(const bry_source *source, bry_load *how, void **object);
    bry_status (*save_file)(const void *object, const char *path, const bry_save *how);
    bry_status (*load_file)(const char *path, bry_load *how, void **object);
    void (*destroy)(void *object);
    uint64_t (*items)(const void *object);
    uint64_t (*bytes)(const void *object);
    bry_hash (*hash)(const void *object, const void *bytes, size_t len);
} job_calls;

extern const job_calls filter_calls, map_calls, window_calls, counters_calls, index_calls;

enum { JOB_CALLS = 5 };
extern const job_calls *const all_job_calls[JOB_CALLS];

/* Saves to memory, which must succeed; the caller frees the buffer. */
bry_buffer job_saved(const job_calls *calls, const void *object);
/* Loads from memory. BRY_OK only if all bytes were read. */
bry_status job_load_bytes(const job_calls *calls, const void *bytes, size_t len, bry_load *how,
                          void **object);

#endif
