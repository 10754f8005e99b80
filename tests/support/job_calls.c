#include "support/job_calls.h"

#include "support/cmocka_all.h"
#include "support/like.h"

/* NOLINTBEGIN(bugprone-macro-parentheses): names */
#define CREATE(job)                                                                                \
    static void *job##_made(bry_##job##_options options, const bry_allocator *allocator,           \
                            bry_status *status)                                                    \
    {                                                                                              \
        bry_##job *made = NULL;                                                                    \
        options.allocator = allocator;                                                             \
        *status = bry_##job##_create(&options, &made);                                             \
        return made;                                                                               \
    }
/* NOLINTEND(bugprone-macro-parentheses) */
CREATE(filter)
CREATE(map)
CREATE(window)
CREATE(counters)
CREATE(index)

#define CASES(X)                                                                                   \
    X(BRY_JOB_FILTER, filter)                                                                      \
    X(BRY_JOB_MAP, map)                                                                            \
    X(BRY_JOB_WINDOW, window)                                                                      \
    X(BRY_JOB_COUNTERS, counters)                                                                  \
    X(BRY_JOB_INDEX, index)

bry_status job_create(bry_job job, bry_engine engine, const bry_allocator *allocator, void **object)
{
    bry_status status = BRY_E_UNSUPPORTED;
    void *made = NULL;
    switch (job) {
#define CREATE_CASE(number, name)                                                                  \
    case number: {                                                                                 \
        bry_##name##_options options = {                                                           \
            .struct_size = sizeof options, .engine = engine, .seed = 1};                           \
        made = name##_made(options, allocator, &status);                                           \
        break;                                                                                     \
    }
        CASES(CREATE_CASE)
    default:
        break;
    }
    if (status == BRY_OK)
        *object = made;
    return status;
}

void *job_create_like(bry_job job, const void *object, const bry_allocator *allocator)
{
    bry_status status;
    switch (job) {
#define LIKE_CASE(number, name)                                                                    \
    case number:                                                                                   \
        return name##_made(name##_like(object), allocator, &status);
        CASES(LIKE_CASE)
    default:
        return NULL;
    }
}

void job_clear(bry_job job, void *object)
{
    switch (job) {
#define CLEAR_CASE(number, name)                                                                   \
    case number:                                                                                   \
        (void)bry_##name##_clear(object);                                                          \
        break;
        CASES(CLEAR_CASE)
    default:
        fail();
    }
}

void job_set_time(bry_job job, void *object, const void *other)
{
    if (job == BRY_JOB_WINDOW)
        assert_int_equal(bry_window_advance(object, bry_window_time(other)), BRY_OK);
    else if (job == BRY_JOB_COUNTERS)
        assert_int_equal(bry_counters_advance(object, bry_counters_time(other)), BRY_OK);
}

bry_status job_load_bytes(bry_job job, const void *bytes, size_t len, bry_load *how, void **object)
{
    bry_view view = {bytes, len, 0};
    bry_source source = bry_view_source(&view);
    *object = NULL;
    bry_status status = bry_job_load(job, &source, how, object);
    if (status == BRY_OK && view.at != len) {
        bry_job_destroy(job, *object);
        *object = NULL;
        return BRY_E_RANGE;
    }
    return status;
}

bry_buffer job_saved(bry_job job, const void *object)
{
    bry_buffer buffer = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&buffer);
    assert_int_equal(bry_job_save(job, object, &sink, NULL), BRY_OK);
    return buffer;
}

void *job_reloaded(bry_job job, const void *object)
{
    bry_buffer saved = job_saved(job, object);
    void *loaded;
    assert_int_equal(job_load_bytes(job, saved.bytes, saved.len, NULL, &loaded), BRY_OK);
    job_assert_saved(job, loaded, &saved);
    bry_buffer_free(&saved);
    return loaded;
}

void assert_same_bytes(const bry_buffer *a, const bry_buffer *b)
{
    assert_int_equal(a->len, b->len);
    assert_memory_equal(a->bytes, b->bytes, a->len);
}

void job_assert_saved(bry_job job, const void *object, const bry_buffer *expected)
{
    bry_buffer now = job_saved(job, object);
    assert_same_bytes(&now, expected);
    bry_buffer_free(&now);
}

void job_assert_alike(bry_job job, const void *a, const void *b)
{
    bry_buffer saved = job_saved(job, a);
    job_assert_saved(job, b, &saved);
    bry_buffer_free(&saved);
}
