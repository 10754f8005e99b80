/*
 * What all jobs have in common: calls on objects of any job.
 *
 * For programs that treat several jobs alike, such as a server that stores and counts objects, and
 * for lists of engines. bry_job_save(BRY_JOB_MAP, map, sink, save) is bry_map_save(map, sink,
 * save), and so on: what a call means and which statuses it returns is documented there.
 *
 * An object is passed as void *, with its job. Nothing checks that they belong together.
 *
 *     for (bry_job job = 0; bry_job_name(job); job++)
 *         for (size_t i = 0; bry_job_engine_at(job, i) != BRY_ENGINE_AUTO; i++)
 *             printf("%s %s\n", bry_job_name(job), bry_engine_name(bry_job_engine_at(job, i)));
 */
#ifndef BLOOMERY_JOB_H
#define BLOOMERY_JOB_H

#include <bloomery/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A job. The numbers of jobs have no gaps, and never change. */
typedef uint32_t bry_job;
enum {
    BRY_JOB_FILTER = 0, /* bry_filter */
    BRY_JOB_MAP = 1, /* bry_map */
    BRY_JOB_WINDOW = 2, /* bry_window */
    BRY_JOB_COUNTERS = 3, /* bry_counters */
    BRY_JOB_INDEX = 4, /* bry_index */
};

/* "filter", "map", "window", "counter" or "index"; NULL: this library has no such job. */
BRY_API const char *bry_job_name(bry_job job);

/* ---- engines ------------------------------------------------------------------------------- */

/* Engine number i of a job, from 0 on; BRY_ENGINE_AUTO after the last one. */
BRY_API bry_engine bry_job_engine_at(bry_job job, size_t i);

/* One line about an engine of a job, for help texts. NULL: the job has no such engine. */
BRY_API const char *bry_job_engine_text(bry_job job, bry_engine engine);

/* The engine with that name, or BRY_ENGINE_AUTO. BRY_E_RANGE: the job has no such engine. */
BRY_API bry_status bry_job_engine_parse(bry_job job, const char *name, bry_engine *engine);

/* ---- objects ------------------------------------------------------------------------------- */

/* The engine of an object; never BRY_ENGINE_AUTO. */
BRY_API bry_engine bry_job_engine(bry_job job, const void *object);

/* The seed, the number of items, and the memory in bytes, in constant time. */
BRY_API uint64_t bry_job_seed(bry_job job, const void *object);
BRY_API uint64_t bry_job_items(bry_job job, const void *object);
BRY_API uint64_t bry_job_bytes(bry_job job, const void *object);

/* A copy, with this allocator; NULL: with the allocator of the object. */
BRY_API bry_status bry_job_clone(bry_job job, const void *object, const bry_allocator *allocator,
                                 void **copy);

BRY_API void bry_job_destroy(bry_job job, void *object);

/* BRY_E_UNSUPPORTED: objects of this job cannot be merged. */
BRY_API bry_status bry_job_merge(bry_job job, void *into, const void *from);

/* Save and load; a load returns BRY_E_RANGE for a job that this library does not have. */
BRY_API bry_status bry_job_save(bry_job job, const void *object, const bry_sink *sink,
                                const bry_save *save);
BRY_API bry_status bry_job_load(bry_job job, const bry_source *source, bry_load *load,
                                void **object);
BRY_API bry_status bry_job_save_file(bry_job job, const void *object, const char *path,
                                     const bry_save *save);
BRY_API bry_status bry_job_load_file(bry_job job, const char *path, bry_load *load, void **object);

#ifdef __cplusplus
}
#endif

#endif
