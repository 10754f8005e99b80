/*
 * A job as a row of calls that take objects of any type, which lib/job/ makes public. BRY__JOB(map,
 * "map", bry__map_engines, NULL) defines bry__map_job by the functions of the job, and
 * bry_map_save_file() and bry_map_load_file() by the row.
 */
#ifndef BRY_FRAME_JOB_ROW_H
#define BRY_FRAME_JOB_ROW_H

#include "common/allocator.h"
#include "common/engine_row.h"
#include "common/random.h"
#include "common/struct_size.h"
#include "frame/frame.h"

typedef struct bry__job {
    const char *name;
    const bry__engine_row *engines;
    bry_engine (*engine)(const void *object);
    uint64_t (*seed)(const void *object);
    uint64_t (*items)(const void *object);
    uint64_t (*bytes)(const void *object);
    bry_status (*clone)(const void *object, const bry_allocator *allocator, void **copy);
    void (*destroy)(void *object);
    bry_status (*save)(const void *object, const bry_sink *sink, const bry_save *save);
    bry_status (*load)(const bry_source *source, bry_load *load, void **object);
    bry_status (*merge)(void *into, const void *from); /* NULL: not supported */
} bry__job;

/* Save to a file atomically, and load from it; BRY_E_BADDATA if bytes follow the object. */
bry_status bry__job_save_file(const bry__job *job, const void *object, const char *path,
                              const bry_save *save);
bry_status bry__job_load_file(const bry__job *job, const char *path, bry_load *load, void **object);

/* NOLINTBEGIN(bugprone-macro-parentheses): names */
#define BRY__JOB_NUMBER(job, type, what)                                                           \
    static type job##_any_##what(const void *object)                                               \
    {                                                                                              \
        return bry_##job##_##what(object);                                                         \
    }

/* `made` is an object of the job's type; the void pointer is set if the call succeeds. */
#define BRY__JOB_MAKER(job, name, parameters, call)                                                \
    static bry_status name parameters                                                              \
    {                                                                                              \
        bry_##job *made = NULL;                                                                    \
        bry_status status = call;                                                                  \
        if (status == BRY_OK)                                                                      \
            *object = made;                                                                        \
        return status;                                                                             \
    }

#define BRY__JOB_MERGE(job)                                                                        \
    static bry_status job##_any_merge(void *into, const void *from)                                \
    {                                                                                              \
        return bry_##job##_merge(into, from);                                                      \
    }

#define BRY__JOB(job, name, engines, merge)                                                        \
    BRY__JOB_NUMBER(job, bry_engine, engine)                                                       \
    BRY__JOB_NUMBER(job, uint64_t, seed)                                                           \
    BRY__JOB_NUMBER(job, uint64_t, items)                                                          \
    BRY__JOB_NUMBER(job, uint64_t, bytes)                                                          \
    BRY__JOB_MAKER(job, job##_any_clone,                                                           \
                   (const void *from, const bry_allocator *allocator, void **object),              \
                   bry_##job##_clone(from, allocator, &made))                                      \
    BRY__JOB_MAKER(job, job##_any_load, (const bry_source *source, bry_load *load, void **object), \
                   bry_##job##_load(source, load, &made))                                          \
    static void job##_any_destroy(void *object)                                                    \
    {                                                                                              \
        bry_##job##_destroy(object);                                                               \
    }                                                                                              \
    static bry_status job##_any_save(const void *object, const bry_sink *sink,                     \
                                     const bry_save *save)                                         \
    {                                                                                              \
        return bry_##job##_save(object, sink, save);                                               \
    }                                                                                              \
    const bry__job bry__##job##_job = {name,                                                       \
                                       engines,                                                    \
                                       job##_any_engine,                                           \
                                       job##_any_seed,                                             \
                                       job##_any_items,                                            \
                                       job##_any_bytes,                                            \
                                       job##_any_clone,                                            \
                                       job##_any_destroy,                                          \
                                       job##_any_save,                                             \
                                       job##_any_load,                                             \
                                       merge};                                                     \
    bry_status bry_##job##_save_file(const bry_##job *object, const char *path,                    \
                                     const bry_save *save)                                         \
    {                                                                                              \
        return bry__job_save_file(&bry__##job##_job, object, path, save);                          \
    }                                                                                              \
    bry_status bry_##job##_load_file(const char *path, bry_load *load, bry_##job **object)         \
    {                                                                                              \
        void *made = NULL;                                                                         \
        bry_status status = bry__job_load_file(&bry__##job##_job, path, load, &made);              \
        if (status == BRY_OK)                                                                      \
            *object = made;                                                                        \
        return status;                                                                             \
    }

/*
 * Plan, options and creation of a job by three functions of it: `read` checks options, chooses the
 * engine and plans; `like` returns options that create the same object; `make` makes an object.
 */
#define BRY__JOB_OPTIONS(job, read, like_of, make)                                                 \
    bry_status bry_##job##_plan_sized(const bry_##job##_options *given, bry_##job##_shape *shape,  \
                                      size_t size)                                                 \
    {                                                                                              \
        bry_##job##_options options;                                                               \
        const bry__##job##_engine *engine;                                                         \
        bry_##job##_shape planned;                                                                 \
        bry_status status = read(given, &options, &engine, &planned);                              \
        return status == BRY_OK ? bry__struct_write(shape, size, &planned, sizeof planned)         \
                                : status;                                                          \
    }                                                                                              \
    bry_status bry_##job##_options_like_sized(const bry_##job *other,                              \
                                              bry_##job##_options *options, size_t size)           \
    {                                                                                              \
        bry_##job##_options like = like_of(other);                                                 \
        return bry__options_write(options, size, &like, sizeof like);                              \
    }                                                                                              \
    bry_status bry_##job##_create(const bry_##job##_options *given, bry_##job **object)            \
    {                                                                                              \
        bry_##job##_options options;                                                               \
        const bry__##job##_engine *engine;                                                         \
        bry_##job##_shape shape;                                                                   \
        bry_status status = read(given, &options, &engine, &shape);                                \
        if (status == BRY_OK && options.seed == 0)                                                 \
            status = bry__random_seed(&options.seed);                                              \
        if (status != BRY_OK)                                                                      \
            return status;                                                                         \
        bry_allocator allocator = bry__allocator_or_default(options.allocator);                    \
        options.allocator = NULL;                                                                  \
        return make(&options, engine, &shape, &allocator, object);                                 \
    }

/* Seed and engine, which are these members of the object. */
#define BRY__JOB_GETTERS(job, its_seed, its_engine)                                                \
    uint64_t bry_##job##_seed(const bry_##job *object)                                             \
    {                                                                                              \
        return object->its_seed;                                                                   \
    }                                                                                              \
    bry_engine bry_##job##_engine(const bry_##job *object)                                         \
    {                                                                                              \
        return object->its_engine;                                                                 \
    }

/* Streams of this kind, of which there is one version, by job##_write() and job##_read(). */
#define BRY__JOB_STREAM(job, kind)                                                                 \
    bry_status bry_##job##_save(const bry_##job *object, const bry_sink *sink,                     \
                                const bry_save *save)                                              \
    {                                                                                              \
        bry__frame_writer writer;                                                                  \
        bry__frame_writer_begin(&writer, sink, save, kind, 1, bry_##job##_seed(object));           \
        job##_write(object, &writer);                                                              \
        return bry__frame_writer_end(&writer);                                                     \
    }                                                                                              \
    bry_status bry_##job##_load(const bry_source *source, bry_load *load, bry_##job **object)      \
    {                                                                                              \
        bry__frame_reader reader;                                                                  \
        bry_status status = bry__frame_reader_open(&reader, source, load, kind, 1);                \
        if (status == BRY_OK)                                                                      \
            status = job##_read(&reader, object);                                                  \
        bry__frame_reader_close(&reader);                                                          \
        return status;                                                                             \
    }

/* NOLINTEND(bugprone-macro-parentheses) */

#endif
