/* Saving to and loading from streams and files. */
#include "conformance/object_kind.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void assert_same_seen(const object_kind *kind, const void *a, const void *b)
{
    bry_buffer x = object_answers(kind, a), y = object_answers(kind, b);
    assert_same_bytes(&x, &y);
    bry_buffer_free(&x);
    bry_buffer_free(&y);
}

/* The same operations on two objects give the same answers and the same bytes. */
static void assert_go_on_alike(const object_kind *kind, void *a, void *b)
{
    bry_buffer x = BRY_BUFFER, y = BRY_BUFFER;
    kind->use(a, &x);
    kind->use(b, &y);
    assert_true(x.len > 0);
    assert_same_bytes(&x, &y);
    bry_buffer_free(&x);
    bry_buffer_free(&y);
    job_assert_alike(kind->job, a, b);
}

/* Saves and loads an object: the result looks the same, saves to the same bytes, counts its memory,
 * and behaves the same afterwards. */
static void assert_round_trip(const object_kind *kind, void *object)
{
    failing_allocator memory;
    failing_allocator_init(&memory);
    bry_load how = BRY_LOAD;
    how.allocator = &memory.allocator;
    bry_buffer saved = job_saved(kind->job, object);
    void *loaded;
    assert_int_equal(job_load_bytes(kind->job, saved.bytes, saved.len, &how, &loaded), BRY_OK);
    assert_int_equal(bry_job_bytes(kind->job, loaded), memory.now);
    assert_same_seen(kind, object, loaded);
    job_assert_saved(kind->job, loaded, &saved);
    assert_go_on_alike(kind, object, loaded);
    assert_same_seen(kind, object, loaded);
    bry_job_destroy(kind->job, loaded);
    assert_int_equal(memory.blocks, 0);
    bry_buffer_free(&saved);
}

void check_round_trip(const object_kind *kind)
{
    void *object = object_make(kind, NULL);
    assert_round_trip(kind, object);
    bry_job_destroy(kind->job, object);
}

void check_empty(const object_kind *kind)
{
    void *object = NULL;
    assert_int_equal(kind->create(kind, NULL, &object), BRY_OK);
    assert_round_trip(kind, object);
    bry_job_destroy(kind->job, object);
}

/* After an operation and clear(), an object is what a new one is at that time. */
static void assert_clears(const object_kind *kind, const object_operation *operation)
{
    void *object = object_make(kind, NULL), *new = NULL;
    for (uint64_t round = 0; operation && round < operation->rounds + !operation->rounds; round++)
        assert_int_equal(operation->run(object, round), BRY_OK);
    job_clear(kind->job, object);
    assert_int_equal(kind->create(kind, NULL, &new), BRY_OK);
    job_set_time(kind->job, new, object);
    job_assert_alike(kind->job, object, new);
    assert_same_seen(kind, object, new);
    assert_go_on_alike(kind, object, new);
    bry_job_destroy(kind->job, object);
    bry_job_destroy(kind->job, new);
}

void check_clear(const object_kind *kind)
{
    assert_clears(kind, NULL);
    for (const object_operation *operation = kind->operations; operation->name; operation++) {
        print_message("    %s\n", operation->name);
        assert_clears(kind, operation);
    }
}

void check_files(const object_kind *kind)
{
    char path[] = "saved_XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    void *object = object_make(kind, NULL), *loaded = NULL;
    bry_buffer saved = job_saved(kind->job, object);
    bry_save wrong = BRY_SAVE; /* refused before a file is created */
    wrong.note_len = BRY_NOTE_MAX + 1;
    assert_int_equal(bry_job_save_file(kind->job, object, "none/file", &wrong), BRY_E_TOOLONG);
    wrong.struct_size = 7;
    assert_int_equal(bry_job_save_file(kind->job, object, "none/file", &wrong), BRY_E_RANGE);
    assert_int_equal(bry_job_save_file(kind->job, object, path, NULL), BRY_OK);
    assert_int_equal(bry_job_load_file(kind->job, path, NULL, &loaded), BRY_OK);
    job_assert_saved(kind->job, loaded, &saved);
    bry_job_destroy(kind->job, loaded);
    bry_job_destroy(kind->job, object);
    bry_buffer_free(&saved);

    loaded = NULL;
    FILE *file = fopen(path, "ab");
    assert_non_null(file);
    assert_int_equal(fputc('x', file), 'x');
    assert_int_equal(fclose(file), 0);
    bry_load how = BRY_LOAD;
    bry_buffer note = BRY_BUFFER;
    how.note = &note;
    assert_int_equal(bry_job_load_file(kind->job, path, &how, &loaded), BRY_E_BADDATA);
    assert_string_equal(how.problem, "trailing data");
    assert_int_equal(unlink(path), 0);
    note_number(&note, 1); /* of an earlier load */
    assert_int_equal(bry_job_load_file(kind->job, path, &how, &loaded), BRY_E_IO);
    assert_non_null(how.problem);
    assert_int_equal(note.len, 0);
    assert_null(loaded);
    bry_buffer_free(&note);
}

/* BRY_E_LIMIT below a limit near the object's size, BRY_OK above it. */
void check_limit(const object_kind *kind)
{
    void *object = object_make(kind, NULL), *loaded = NULL;
    bry_buffer saved = job_saved(kind->job, object);
    bry_job_destroy(kind->job, object);
    assert_int_equal(job_load_bytes(kind->job, saved.bytes, saved.len, NULL, &loaded), BRY_OK);
    uint64_t bytes = bry_job_bytes(kind->job, loaded), least = 0;
    uint64_t step = 1 + bytes / (kind->large ? 3 : 23);
    bry_job_destroy(kind->job, loaded);
    for (uint64_t limit = 1; limit < 2 * bytes; limit += step) {
        failing_allocator memory;
        failing_allocator_init(&memory);
        bry_load how = BRY_LOAD;
        how.allocator = &memory.allocator;
        how.max_bytes = kind->exact_limit && !least && limit >= bytes ? bytes : limit;
        bry_status status = job_load_bytes(kind->job, saved.bytes, saved.len, &how, &loaded);
        assert_int_equal(status, loaded ? BRY_OK : BRY_E_LIMIT);
        assert_true(loaded || (least == 0 && how.problem)); /* a larger limit is enough, too */
        if (loaded && least == 0)
            least = how.max_bytes;
        assert_true(!loaded || bry_job_bytes(kind->job, loaded) <= how.max_bytes);
        assert_true(memory.peak <= most_while_loading(kind, how.max_bytes));
        bry_job_destroy(kind->job, loaded);
        assert_int_equal(memory.blocks, 0);
    }
    assert_true(least >= bytes / 2 && least < bytes * 5 / 4);
    if (kind->exact_limit) {
        bry_load how = BRY_LOAD;
        how.max_bytes = bytes - 1;
        assert_int_equal(least, bytes);
        assert_int_equal(job_load_bytes(kind->job, saved.bytes, saved.len, &how, &loaded),
                         BRY_E_LIMIT);
    }
    bry_buffer_free(&saved);
}

static bry_status refuse_at_last(void *opaque, const void *bytes, size_t len)
{
    (void)bytes;
    (void)len;
    uint64_t *left = opaque;
    return *left && --*left ? BRY_OK : BRY_E_STOPPED;
}

/* If the sink refuses any write, the save fails. */
void check_sink_refuses(const object_kind *kind)
{
    void *object = object_make(kind, NULL);
    bry_buffer saved = job_saved(kind->job, object);
    uint64_t left = UINT64_MAX;
    bry_sink sink = {refuse_at_last, &left};
    assert_int_equal(bry_job_save(kind->job, object, &sink, NULL), BRY_OK);
    uint64_t writes = UINT64_MAX - left;
    for (uint64_t at = 1; at <= writes; at += 1 + writes / 100) {
        left = at;
        assert_int_equal(bry_job_save(kind->job, object, &sink, NULL), BRY_E_STOPPED);
    }
    job_assert_saved(kind->job, object, &saved);
    bry_buffer_free(&saved);
    bry_job_destroy(kind->job, object);
}
