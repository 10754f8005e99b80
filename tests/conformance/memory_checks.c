/* Failing allocations: the call returns BRY_E_NOMEM, changes nothing and leaks nothing. */
#include "conformance/object_kind.h"

void check_failing_create(const object_kind *kind)
{
    failing_allocator memory;
    failing_allocator_init(&memory);
    void *object = NULL;
    for (memory.fail_at = 1; !object; memory.fail_at++) {
        failing_allocator_restart(&memory);
        bry_status status = kind->create(kind, &memory.allocator, &object);
        assert_int_equal(status, object ? BRY_OK : BRY_E_NOMEM);
        assert_true(object || memory.blocks == 0);
    }
    assert_true(memory.fail_at > 2); /* an object takes some memory */
    assert_int_equal(bry_job_bytes(kind->job, object), memory.now);
    bry_job_destroy(kind->job, object);
    assert_int_equal(memory.blocks, 0);
}

/* A clone shares no memory with the original, and does not use its allocator. */
void check_failing_clone(const object_kind *kind)
{
    failing_allocator here, there;
    failing_allocator_init(&here);
    failing_allocator_init(&there);
    void *object = object_make(kind, &here.allocator), *copy = NULL;
    bry_buffer saved = job_saved(kind->job, object);
    uint64_t before = here.now, calls = here.calls, failed = 0;
    for (uint64_t at = 1;; at++) {
        failing_allocator_restart(&there);
        there.fail_at = at;
        bry_status status = bry_job_clone(kind->job, object, &there.allocator, &copy);
        if (status == BRY_OK && there.calls < at)
            break;
        if (status == BRY_OK) { /* fewer allocations */
            bry_job_destroy(kind->job, copy);
            copy = NULL;
        } else {
            assert_int_equal(status, BRY_E_NOMEM);
            failed++;
        }
        assert_null(copy);
        assert_int_equal(there.blocks, 0);
    }
    there.fail_at = 0;
    assert_true(failed > 0);
    assert_int_equal(here.now, before);
    assert_int_equal(here.calls, calls);
    assert_int_equal(bry_job_bytes(kind->job, copy), there.now);
    assert_int_equal(bry_job_items(kind->job, copy), bry_job_items(kind->job, object));
    job_assert_saved(kind->job, copy, &saved);

    void *second = NULL; /* NULL: the allocator of the original */
    assert_int_equal(bry_job_clone(kind->job, object, NULL, &second), BRY_OK);
    assert_true(here.now > before);
    bry_job_destroy(kind->job, second);
    bry_job_destroy(kind->job, object);
    assert_int_equal(here.blocks, 0);
    bry_buffer answers = BRY_BUFFER;
    kind->use(copy, &answers);
    bry_buffer_free(&answers);
    bry_job_destroy(kind->job, copy);
    assert_int_equal(there.blocks, 0);
    bry_buffer_free(&saved);
}

/* Saving may need temporary memory, which it frees. */
void check_failing_save(const object_kind *kind)
{
    failing_allocator memory;
    failing_allocator_init(&memory);
    void *object = object_make(kind, &memory.allocator);
    bry_buffer expected = job_saved(kind->job, object);
    bry_status status = BRY_E_NOMEM;
    for (uint64_t at = 1; status != BRY_OK; at++) {
        bry_buffer saved = BRY_BUFFER;
        bry_sink sink = bry_buffer_sink(&saved);
        failing_allocator_restart(&memory);
        memory.fail_at = at;
        status = bry_job_save(kind->job, object, &sink, NULL);
        memory.fail_at = 0;
        if (status == BRY_OK)
            assert_same_bytes(&saved, &expected);
        else
            assert_int_equal(status, BRY_E_NOMEM);
        bry_buffer_free(&saved);
        assert_int_equal(bry_job_bytes(kind->job, object), memory.now);
    }
    bry_buffer_free(&expected);
    bry_job_destroy(kind->job, object);
    assert_int_equal(memory.blocks, 0);
}

void check_failing_load(const object_kind *kind)
{
    failing_allocator memory;
    failing_allocator_init(&memory);
    void *object = object_make(kind, NULL), *loaded;
    bry_buffer saved = job_saved(kind->job, object);
    bry_job_destroy(kind->job, object);
    uint64_t failed = 0, at = 0;
    do {
        failing_allocator_restart(&memory);
        memory.fail_at = ++at;
        bry_load how = BRY_LOAD;
        how.allocator = &memory.allocator;
        bry_status status = job_load_bytes(kind->job, saved.bytes, saved.len, &how, &loaded);
        assert_int_equal(status, loaded ? BRY_OK : BRY_E_NOMEM);
        assert_true(loaded || how.problem);
        failed += !loaded;
        memory.fail_at = 0;
        if (loaded)
            job_assert_saved(kind->job, loaded, &saved);
        bry_job_destroy(kind->job, loaded);
        assert_int_equal(memory.blocks, 0);
    } while (memory.calls >= at);
    assert_true(failed > 0);
    bry_buffer_free(&saved);
}

/* ---- operations ---------------------------------------------------------------------------- */

typedef struct trial {
    const object_kind *kind;
    const object_operation *operation;
    failing_allocator memory, aside;
    void *object, *before; /* `before` is a clone with its own memory */
    uint64_t failed;
} trial;

static void restore(trial *it)
{
    bry_job_destroy(it->kind->job, it->object);
    it->object = NULL;
    assert_int_equal(bry_job_clone(it->kind->job, it->before, &it->memory.allocator, &it->object),
                     BRY_OK);
}

/* Runs the operation with a failure of allocation number `at`; returns whether there was such an
 * allocation. */
static bool fail_one(trial *it, uint64_t round, uint64_t at, bool keep_failing,
                     const bry_buffer *saved)
{
    const object_kind *kind = it->kind;
    failing_allocator_restart(&it->memory);
    it->memory.fail_at = at;
    it->memory.keep_failing = keep_failing;
    bry_status status = it->operation->run(it->object, round);
    bool met = it->memory.calls >= at;
    it->memory.fail_at = 0;
    it->memory.keep_failing = false;
    assert_int_equal(bry_job_bytes(kind->job, it->object), it->memory.now);
    if (status == BRY_OK) {
        if (met) /* no allocation */
            restore(it);
        return met;
    }
    if (status != BRY_E_NOMEM || !met)
        fail_msg("%s: %s", it->operation->name, bry_status_word(status));
    it->failed++;
    if (it->operation->in_steps) {
        assert_int_equal(it->operation->run(it->object, round), BRY_OK);
        restore(it);
    } else {
        job_assert_saved(kind->job, it->object, saved);
    }
    return true;
}

/* Every allocation fails, alone and with all later ones. Afterwards the operation has the same
 * result as with enough memory. */
static void fail_each(trial *it, uint64_t round)
{
    const object_kind *kind = it->kind;
    bry_buffer saved = job_saved(kind->job, it->object);
    it->before = NULL;
    assert_int_equal(bry_job_clone(kind->job, it->object, &it->aside.allocator, &it->before),
                     BRY_OK);
    for (uint64_t at = 1; fail_one(it, round, at, true, &saved); at++)
        ;
    restore(it);
    for (uint64_t at = 1; fail_one(it, round, at, false, &saved); at++)
        ;
    assert_int_equal(it->operation->run(it->before, round), BRY_OK);
    bry_buffer_free(&saved);
    saved = job_saved(kind->job, it->before);
    job_assert_saved(kind->job, it->object, &saved);
    bry_buffer_free(&saved);
    bry_job_destroy(kind->job, it->before);
    assert_int_equal(it->aside.blocks, 0);
}

void check_failing_operations(const object_kind *kind)
{
    for (const object_operation *operation = kind->operations; operation->name; operation++) {
        print_message("    %s\n", operation->name);
        trial it = {.kind = kind, .operation = operation};
        failing_allocator_init(&it.memory);
        failing_allocator_init(&it.aside);
        it.object = object_make(kind, &it.memory.allocator);
        for (uint64_t round = 0; round < operation->rounds + !operation->rounds; round++)
            fail_each(&it, round);
        assert_true(it.failed > 0 || operation->may_need_none);
        bry_job_destroy(kind->job, it.object);
        assert_int_equal(it.memory.blocks, 0);
    }
}
