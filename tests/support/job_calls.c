#include "support/job_calls.h"

#include "support/cmocka_all.h"

/* NOLINTBEGIN(bugprone-macro-parentheses): names */
#define CALLS_OF(job)                                                                              \
    static bry_status job##_create(bry_engine engine, const bry_allocator *allocator,              \
                                   void **object)                                                  \
    {                                                                                              \
        bry_##job##_options options = {                                                            \
            .struct_size = sizeof options, .engine = engine, .seed = 1, .allocator = allocator};   \
        bry_##job *made = *object;                                                                 \
        bry_status status = bry_##job##_create(&options, &made);                                   \
        *object = made;                                                                            \
        return status;                                                                             \
    }                                                                                              \
    static bry_status job##_clone(const void *object, const bry_allocator *allocator, void **copy) \
    {                                                                                              \
        bry_##job *made = *copy;                                                                   \
        bry_status status = bry_##job##_clone(object, allocator, &made);                           \
        *copy = made;                                                                              \
        return status;                                                                             \
    }                                                                                              \
    static bry_status job##_save(const void *object, const bry_sink *sink, const bry_save *how)    \
    {                                                                                              \
        return bry_##job##_save(object, sink, how);                                                \
    }                                                                                              \
    static bry_status job##_load(const bry_source *source, bry_load *how, void **object)           \
    {                                                                                              \
        bry_##job *made = *object;                                                                 \
        bry_status status = bry_##job##_load(source, how, &made);                                  \
        *object = made;                                                                            \
        return status;                                                                             \
    }                                                                                              \
    static bry_status job##_save_file(const void *object, const char *path, const bry_save *how)   \
    {                                                                                              \
        return bry_##job##_save_file(object, path, how);                                           \
    }                                                                                              \
    static bry_status job##_load_file(const char *path, bry_load *how, void **object)              \
    {                                                                                              \
        bry_##job *made = *object;                                                                 \
        bry_status status = bry_##job##_load_file(path, how, &made);                               \
        *object = made;                                                                            \
        return status;                                                                             \
    }                                                                                              \
    static void job##_destroy(void *object)                                                        \
    {                                                                                              \
        bry_##job##_destroy(object);                                                               \
    }                                                                                              \
    static uint64_t job##_items(const void *object)                                                \
    {                                                                                              \
        return bry_##job##_items(object);                                                          \
    }                                                                                              \
    static uint64_t job##_bytes(const void *object)                                                \
    {                                                                                              \
        return bry_##job##_bytes(object);                                                          \
    }                                                                                              \
    static bry_hash job##_hash(const void *object, const void *bytes, size_t len)                  \
    {                                                                                              \
        return bry_##job##_hash(object, bytes, len);                                               \
    }                                                                                              \
    const job_calls job##_calls = {#job,        job##_create,    job##_clone,     job##_save,      \
                                   job##_load,  job##_save_file, job##_load_file, job##_destroy,   \
                                   job##_items, job##_bytes,     job##_hash};

/* NOLINTEND(bugprone-macro-parentheses) */
CALLS_OF(filter)
CALLS_OF(map)
CALLS_OF(window)
CALLS_OF(counters)
CALLS_OF(index)

const job_calls *const all_job_calls[JOB_CALLS] = {&filter_calls, &map_calls, &window_calls,
                                                   &counters_calls, &index_calls};

bry_status job_load_bytes(const job_calls *calls, const void *bytes, size_t len, bry_load *how,
                          void **object)
{
    bry_view view = {bytes, len, 0};
    bry_source source = bry_view_source(&view);
    *object = NULL;
    bry_status status = calls->load(&source, how, object);
    if (status == BRY_OK && view.at != len) {
        calls->destroy(*object);
        *object = NULL;
        return BRY_E_RANGE;
    }
    return status;
}

bry_buffer job_saved(const job_calls *calls, const void *object)
{
    bry_buffer buffer = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&buffer);
    assert_int_equal(calls->save(object, &sink, NULL), BRY_OK);
    return buffer;
}
