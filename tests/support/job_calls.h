/* Objects of any job, for tests of all jobs. */
#ifndef BRY_TESTS_JOB_CALLS_H
#define BRY_TESTS_JOB_CALLS_H

#include <bloomery.h>

/* Creates an object with this engine, seed 1, and defaults otherwise. */
bry_status job_create(bry_job job, bry_engine engine, const bry_allocator *allocator,
                      void **object);
/* Creates an empty object with the options of another, whose allocator is this one. NULL: not possible. */
void *job_create_like(bry_job job, const void *object, const bry_allocator *allocator);
/* bry_..._clear(). */
void job_clear(bry_job job, void *object);
/* Moves the time of an object to that of another; does nothing for jobs without a time. */
void job_set_time(bry_job job, void *object, const void *other);

/* Saves to memory, which must succeed; the caller frees the buffer. */
bry_buffer job_saved(bry_job job, const void *object);
/* Loads from memory. BRY_OK only if all bytes were read. */
bry_status job_load_bytes(bry_job job, const void *bytes, size_t len, bry_load *how, void **object);
/* Saves, loads and saves again, to the same bytes; returns what was loaded. */
void *job_reloaded(bry_job job, const void *object);

void assert_same_bytes(const bry_buffer *a, const bry_buffer *b);
/* The object saves to these bytes; both save to the same. */
void job_assert_saved(bry_job job, const void *object, const bry_buffer *expected);
void job_assert_alike(bry_job job, const void *a, const void *b);

#endif
