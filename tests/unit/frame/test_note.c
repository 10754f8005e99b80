/* Notes: bytes of the caller that are saved with an object of any job. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/endian.h"
#include "frame/frame.h"
#include "index/index_save.h"
#include "support/cmocka_all.h"
#include "support/dir_helpers.h"
#include "support/generator.h"
#include "support/job_calls.h"
#include "support/recording_io.h"
#include "support/repair.h"

enum { LONGEST = 3 * (int)BRY__NOTE_FULL };
static unsigned char bytes[LONGEST];
static char dir[] = "/tmp/bloomery-note-XXXXXX";

static bry_save note_of(size_t len)
{
    bry_save save = BRY_SAVE;
    save.note = bytes;
    save.note_len = len;
    return save;
}

static void assert_note(const bry_buffer *note, size_t len)
{
    assert_int_equal(note->len, len);
    if (len)
        assert_memory_equal(note->bytes, bytes, len);
}

/* ---- every job ------------------------------------------------------------------------------ */

/* Saves with a note to memory and to a file, and loads it from both; or discards it. */
static void comes_back(bry_job job, const void *object, const char *path, size_t len)
{
    bry_buffer stream = BRY_BUFFER, note = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&stream);
    bry_save save = note_of(len);
    assert_int_equal(bry_job_save(job, object, &sink, &save), BRY_OK);
    for (int drop = 0; drop < 2; drop++) {
        bry_load load = BRY_LOAD;
        load.note = drop ? NULL : &note;
        void *loaded;
        assert_int_equal(job_load_bytes(job, stream.bytes, stream.len, &load, &loaded), BRY_OK);
        assert_note(&note, len);
        bry_job_destroy(job, loaded);
    }
    assert_int_equal(bry_job_save_file(job, object, path, &save), BRY_OK);
    bry_load load = BRY_LOAD;
    load.note = &note;
    void *loaded = NULL;
    assert_int_equal(bry_job_load_file(job, path, &load, &loaded), BRY_OK);
    assert_note(&note, len);
    bry_job_destroy(job, loaded);
    bry_buffer_free(&stream);
    bry_buffer_free(&note);
}

/* A note that is too long, or an invalid struct: nothing is written, and the file is unchanged. */
static void refuses_wrong_ones(bry_job job, const void *object, const char *path)
{
    bry_buffer nothing = BRY_BUFFER, note = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&nothing);
    bry_save wrong = note_of(BRY_NOTE_MAX + 1);
    assert_int_equal(bry_job_save(job, object, &sink, &wrong), BRY_E_TOOLONG);
    wrong = note_of(0);
    wrong.struct_size = sizeof wrong + 1;
    assert_int_equal(bry_job_save(job, object, &sink, &wrong), BRY_E_RANGE);
    wrong.struct_size = 0;
    assert_int_equal(bry_job_save_file(job, object, path, &wrong), BRY_E_RANGE);
    assert_int_equal(nothing.len, 0);
    bry_load load = BRY_LOAD;
    load.note = &note;
    void *loaded = NULL;
    assert_int_equal(bry_job_load_file(job, path, &load, &loaded), BRY_OK);
    assert_note(&note, LONGEST);
    bry_job_destroy(job, loaded);
    bry_buffer_free(&note);
}

TEST(every_job_keeps_it)
{
    static const size_t lengths[] = {0, 1, BRY__NOTE_FULL, BRY__NOTE_FULL + 1, LONGEST};
    for (bry_job job = 0; bry_job_name(job); job++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s.bry", dir, bry_job_name(job));
        void *object = NULL;
        assert_int_equal(job_create(job, BRY_ENGINE_AUTO, NULL, &object), BRY_OK);
        for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
            comes_back(job, object, path, lengths[i]);
        refuses_wrong_ones(job, object, path);
        bry_job_destroy(job, object);
    }
}

TEST(a_dir_and_a_unit_keep_it)
{
    static recording_io disk;
    recording_init(&disk);
    bry_index *index, *loaded;
    uint32_t unit;
    assert_int_equal(bry_index_create(NULL, &index), BRY_OK);
    assert_int_equal(bry_index_open(index, 7, &unit), BRY_OK);
    bry_buffer note = BRY_BUFFER, stream = BRY_BUFFER;
    bry_save save = note_of(100);
    bry_load load = BRY_LOAD;
    load.note = &note;
    assert_int_equal(bry__index_save_dir(&disk.io, index, "f", &save), BRY_OK);
    assert_int_equal(bry__index_load_dir(&disk.io, "f", &load, &loaded), BRY_OK);
    assert_note(&note, 100);
    bry_index_destroy(loaded);
    bry_save wrong = note_of(BRY_NOTE_MAX + 1);
    assert_int_equal(bry__index_save_dir(&disk.io, index, "f", &wrong), BRY_E_TOOLONG);
    save = note_of(99); /* nothing else has changed */
    assert_int_equal(bry__index_save_dir(&disk.io, index, "f", &save), BRY_OK);
    assert_int_equal(bry__index_load_dir(&disk.io, "f", &load, &loaded), BRY_OK);
    assert_note(&note, 99);
    bry_index_destroy(loaded);

    bry_sink sink = bry_buffer_sink(&stream);
    assert_int_equal(bry_index_save_unit(index, unit, &sink, &save), BRY_OK);
    bry_view view = {stream.bytes, stream.len, 0};
    bry_source source = bry_view_source(&view);
    note.len = 0;
    assert_int_equal(bry_index_import_unit(index, &source, &load, &unit), BRY_OK);
    assert_note(&note, 99);
    bry_index_destroy(index);
    bry_buffer_free(&note);
    bry_buffer_free(&stream);
    recording_free(&disk);
}

/* ---- bad streams ---------------------------------------------------------------------------- */

static bry_status load_stream(const bry_buffer *stream, bry_load *load)
{
    bry_view view = {stream->bytes, stream->len, 0};
    bry_source source = bry_view_source(&view);
    bry_filter *filter = NULL;
    bry_status status = bry_filter_load(&source, load, &filter);
    assert_true((status == BRY_OK) == (filter != NULL));
    assert_true(status == BRY_OK || load->problem);
    bry_filter_destroy(filter);
    return status;
}

static bry_buffer filter_with_note(size_t len)
{
    bry_buffer stream = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&stream);
    bry_save save = note_of(len);
    bry_filter *filter;
    assert_int_equal(bry_filter_create(NULL, &filter), BRY_OK);
    assert_int_equal(bry_filter_save(filter, &sink, &save), BRY_OK);
    bry_filter_destroy(filter);
    return stream;
}

/* A stream with a note in frames of these lengths at `first`, with correct checksums. */
static bry_buffer forge(const bry_buffer *plain, size_t first, const size_t *lengths, size_t count)
{
    bry_buffer stream = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&stream);
    sink.write(sink.opaque, plain->bytes, first);
    for (size_t i = 0, from = 0; i < count; from += lengths[i++]) {
        unsigned char head[16] = {0}, sum[8] = {0};
        bry__store32(head, BRY__FRAME_NOTE);
        bry__store32(head + 4, (uint32_t)lengths[i]);
        sink.write(sink.opaque, head, sizeof head);
        sink.write(sink.opaque, bytes + from, lengths[i]);
        sink.write(sink.opaque, sum, sizeof sum);
    }
    sink.write(sink.opaque, plain->bytes + first, plain->len - first);
    unsigned char *counts = stream.bytes + stream.len - 24; /* of the end frame */
    bry__store64(counts, bry__load64(counts) + count);
    for (size_t i = 0; i < count; i++)
        bry__store64(counts + 8, bry__load64(counts + 8) + lengths[i]);
    repair_stream(stream.bytes, stream.len);
    return stream;
}

TEST(forged_notes_are_refused)
{
    static const struct {
        size_t lengths[3], count;
        bool behind;
        bry_status status;
        size_t kept;
    } cases[] = {
        {{10}, 1, false, BRY_OK, 10},
        {{BRY__NOTE_FULL, 1}, 2, false, BRY_OK, BRY__NOTE_FULL + 1},
        {{0}, 1, false, BRY_E_BADDATA, 0},
        {{10, 10}, 2, false, BRY_E_BADDATA, 10},
        {{BRY__NOTE_FULL, 0}, 2, false, BRY_E_BADDATA, BRY__NOTE_FULL},
        {{BRY__NOTE_FULL + 1}, 1, false, BRY_E_BADDATA, 0},
        {{10}, 1, true, BRY_E_BADDATA, 0},
    };
    bry_buffer note = BRY_BUFFER;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bry_buffer plain = filter_with_note(0);
        size_t first = BRY__HEADER_BYTES + (cases[i].behind ? BRY__FRAME_OVERHEAD + 48 : 0);
        bry_buffer stream = forge(&plain, first, cases[i].lengths, cases[i].count);
        bry_load load = BRY_LOAD;
        load.note = &note;
        assert_int_equal(load_stream(&stream, &load), cases[i].status);
        assert_note(&note, cases[i].kept);
        load.note = NULL; /* a discarded note is checked, too */
        assert_int_equal(load_stream(&stream, &load), cases[i].status);
        bry_buffer_free(&plain);
        bry_buffer_free(&stream);
    }
    bry_buffer_free(&note);
}

/* The stream of a table, with a note of that length in its window. */
static bry_buffer table_with_noted_window(size_t len)
{
    const uint32_t window = BRY__FOUR('W', 'I', 'N', 'D');
    bry_counters *table;
    assert_int_equal(bry_counters_create(NULL, &table), BRY_OK);
    bry_buffer saved = BRY_BUFFER, inner = BRY_BUFFER, stream = BRY_BUFFER;
    bry_sink to_saved = bry_buffer_sink(&saved), to_inner = bry_buffer_sink(&inner),
             sink = bry_buffer_sink(&stream);
    assert_int_equal(bry_counters_save(table, &to_saved, NULL), BRY_OK);
    bry_counters_destroy(table);
    bry__frame_writer writer;
    bry__frame_writer_begin(&writer, &sink, NULL, bry__load32(saved.bytes + 12), 1,
                            bry__load64(saved.bytes + 24));
    for (size_t at = BRY__HEADER_BYTES, length;; at += BRY__FRAME_OVERHEAD + length) {
        uint32_t type = bry__load32(saved.bytes + at);
        length = bry__load32(saved.bytes + at + 4);
        if (type == BRY__FRAME_END)
            break;
        if (type == window)
            to_inner.write(to_inner.opaque, saved.bytes + at + 16, length);
        else
            bry__frame_writer_write(&writer, type, saved.bytes + at + 16, length);
    }
    bry_buffer forged = forge(&inner, BRY__HEADER_BYTES, &len, len > 0);
    assert_true(forged.len < 16384); /* one frame's worth */
    bry__frame_writer_write(&writer, window, forged.bytes, forged.len);
    assert_int_equal(bry__frame_writer_end(&writer), BRY_OK);
    bry_buffer_free(&saved);
    bry_buffer_free(&inner);
    bry_buffer_free(&forged);
    return stream;
}

TEST(the_window_of_a_table_has_none)
{
    static const size_t lengths[] = {0, 1, 2, 1000};
    for (int i = 0; i < 4; i++) {
        bry_buffer stream = table_with_noted_window(lengths[i]);
        bry_view view = {stream.bytes, stream.len, 0};
        bry_source source = bry_view_source(&view);
        bry_counters *table = NULL;
        bry_load load = BRY_LOAD;
        bry_status status = bry_counters_load(&source, &load, &table);
        assert_int_equal(status, i == 0 ? BRY_OK : BRY_E_BADDATA);
        if (i > 0)
            assert_string_equal(load.problem, "the window inside has a note");
        bry_counters_destroy(table);
        bry_buffer_free(&stream);
    }
}

TEST(a_note_above_the_limit_is_refused)
{
    bry_buffer stream = filter_with_note(LONGEST), note = BRY_BUFFER;
    bry_load load = BRY_LOAD;
    load.note = &note;
    load.note_max = LONGEST;
    assert_int_equal(load_stream(&stream, &load), BRY_OK);
    load.note_max = LONGEST - 1;
    assert_int_equal(load_stream(&stream, &load), BRY_E_LIMIT);
    assert_true(note.len <= LONGEST - BRY__NOTE_FULL);
    load.note = NULL; /* it takes no memory */
    assert_int_equal(load_stream(&stream, &load), BRY_OK);
    bry_buffer_free(&stream);
    bry_buffer_free(&note);
}

/* A caller from before notes existed. */
TEST(an_older_struct_is_read_no_further)
{
    bry_save save = note_of(10);
    save.struct_size = offsetof(bry_save, note);
    bry_filter *filter;
    assert_int_equal(bry_filter_create(NULL, &filter), BRY_OK);
    bry_buffer with = BRY_BUFFER, without = BRY_BUFFER;
    bry_sink first = bry_buffer_sink(&with), second = bry_buffer_sink(&without);
    assert_int_equal(bry_filter_save(filter, &first, &save), BRY_OK);
    assert_int_equal(bry_filter_save(filter, &second, NULL), BRY_OK);
    assert_int_equal(with.len, without.len);
    assert_memory_equal(with.bytes, without.bytes, with.len);
    bry_buffer_free(&with);
    bry_buffer_free(&without);
    bry_filter_destroy(filter);
}

int main(void)
{
    generator numbers = {1};
    generator_fill(&numbers, bytes, sizeof bytes);
    assert_non_null(mkdtemp(dir));
    int failed = run_all_tests(NULL, NULL);
    remove_dir(dir);
    return failed;
}
