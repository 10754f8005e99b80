/* Engine dba as altered frames, in parts, and without memory. */
#include "frame/frame.h"
#include "support/altered_file.h"
#include "support/dba_helpers.h"
#include "support/failing_allocator.h"
#include "support/like.h"

#include <string.h>

static const bry__index_engine *engine = &bry__dba_index_engine;

/* While it grows: units of two levels, one of them dropped, and columns to clear. */
static bry_index *busy(bry_index_options options)
{
    uint64_t left, n = 12;
    bry_index_supplier supplier = {supply, &n};
    options.units = 10;
    options.unit_capacity = 20;
    options.error = 0.01;
    bry_index *index = make(options);
    fill(index, 16, n);
    assert_int_equal(bry_index_step(index, &supplier, 100, &left), BRY_OK);
    assert_int_equal(bry_index_drop(index, 15), BRY_OK);
    return index;
}

/* Each rule separately. Offsets are those of doc/format.md. */
TEST(test_refused)
{
    enum { RECORD = 56, UNITS = 15, RECORDS_AT = NUMBERS_AT + 80 + FRAME_SUM + FRAME_HEAD };
    enum { DBA = RECORDS_AT + UNITS * RECORD + FRAME_SUM + FRAME_HEAD, LEVELS = DBA + 16 };
    enum { LEVEL = 24, SLOTS = LEVELS + 2 * LEVEL + FRAME_SUM + FRAME_HEAD };
    enum { FIRST_COLUMN = SLOTS + UNITS * 8 + FRAME_SUM + FRAME_HEAD };
    static const altered_number altered[] = {
        {DBA, 4, 0, "the number of levels is out of range"},
        {DBA, 4, 65, "the number of levels is out of range"},
        {DBA + 4, 4, 14, "the number of units does not match the index"},
        {LEVELS, 8, 21, "the first level does not match the options"},
        {LEVELS + 8, 8, 0, "the first level does not match the options"},
        {LEVELS + 16, 4, 65, "the first level does not match the options"},
        {LEVELS + 20, 4, 0, "the first level does not match the options"},
        {LEVELS + LEVEL, 8, 19, "a level does not follow from the one before"},
        {LEVELS + LEVEL + 8, 8, 3, "a level does not follow from the one before"},
        {LEVELS + LEVEL + 8, 8, (uint64_t)1 << 60, "a level does not follow from the one before"},
        {LEVELS + LEVEL + 16, 4, 2, "a level does not follow from the one before"},
        {LEVELS + LEVEL + 20, 4, 1, "a level does not follow from the one before"},
        {SLOTS, 4, 15, "a unit's slot does not match the index"},
        {SLOTS + 8, 4, 0, "a unit's slot does not match the index"},
        {SLOTS + 8, 4, 1u << 30, "a unit's slot does not match the index"},
        {SLOTS + 4, 4, 2, "the level of a unit does not match its capacity"},
        {FIRST_COLUMN + 56, 8, UINT64_MAX, "bits are set past the last row of a unit"},
        {RECORDS_AT + 7 * RECORD + 32, 8, 0, "a unit without elements has bits set"},
        {RECORDS_AT + 7 * RECORD + 32, 8, 1, "a unit has too many bits set for its elements"},
    };
    static const altered_number of_empty_units[] = {
        {RECORDS_AT + 32, 8, 5, "a unit with elements has no bits set"}};
    bry_index *index = busy((bry_index_options){.dba.segmented = true});
    assert_int_equal(((const bry__dba *)index->elements)->levels, 2);
    ASSERT_ALTERED_REFUSED(BRY_JOB_INDEX, index, altered);
    bry_index_destroy(index);
    index = make((bry_index_options){.units = 2, .unit_capacity = 20});
    fill(index, 2, 0);
    ASSERT_ALTERED_REFUSED(BRY_JOB_INDEX, index, of_empty_units);
    bry_index_destroy(index);
}

/* ---- parts --------------------------------------------------------------------------------- */

enum { HEAD = -1 };

static bry_buffer written(const bry_index *index, int part)
{
    bry_buffer image = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&image);
    bry__frame_writer writer;
    bry__frame_writer_begin(&writer, &sink, NULL, BRY__FOUR('P', 'A', 'R', 'T'), 1, 1);
    if (part == HEAD)
        engine->write_head(index->elements, NULL, &writer);
    else
        engine->write_part(index->elements, NULL, (uint64_t)part, &writer);
    assert_int_equal(bry__frame_writer_end(&writer), BRY_OK);
    return image;
}

/* Reads the head if `part` is NULL. */
static bry_status load(const bry_index *index, const bry__index_part *part, const bry_buffer *image,
                       bry_load *how, void **elements)
{
    bry_view view = {image->bytes, image->len, 0};
    bry_source source = bry_view_source(&view);
    bry_allocator allocator = bry__allocator_or_default(NULL);
    bry_index_options options = bry__index_kept_options(&index->options);
    bry__frame_reader reader;
    bry_status status =
        bry__frame_reader_open(&reader, &source, how, BRY__FOUR('P', 'A', 'R', 'T'), 1);
    if (status == BRY_OK)
        status = part ? engine->read_part(*elements, part, &reader)
                      : engine->read_head(&options, &index->slots, &reader, &allocator, elements);
    bry__frame_reader_close(&reader);
    return status;
}

TEST(test_parts)
{
    bry_index *index = busy((bry_index_options){.dba.group = 16});
    bry_buffer head = written(index, HEAD);
    void *read = NULL;
    const char *problem = NULL;
    bry_load how = BRY_LOAD;
    assert_int_equal(engine->parts(index->elements, NULL), 15);
    assert_int_equal(load(index, NULL, &head, &how, &read), BRY_OK);
    assert_int_equal(engine->read_done(read, &index->slots, &problem), BRY_E_BADDATA);
    assert_string_equal(problem, "a part is missing");
    for (int place = 0; place < 15; place++) {
        bry__index_part part, again;
        bry_buffer image = written(index, place);
        engine->part(index->elements, NULL, (uint64_t)place, &part);
        assert_true(part.stamp[0] != 0);
        bry__index_part unknown = {.id = 1000, .stamp = {1, 1}};
        assert_int_equal(load(index, &unknown, &image, &how, &read), BRY_E_BADDATA);
        assert_string_equal(how.problem, "a part of an unknown unit");
        assert_int_equal(load(index, &part, &image, &how, &read), BRY_OK);
        assert_int_equal(load(index, &part, &image, &how, &read), BRY_E_BADDATA);
        assert_string_equal(how.problem, "duplicate part");
        bool found = false;
        for (uint64_t i = 0; i < 15; i++) {
            engine->part(read, NULL, i, &again);
            found |= again.id == part.id && memcmp(again.stamp, part.stamp, sizeof part.stamp) == 0;
        }
        assert_true(found);
        bry_buffer_free(&image);
    }
    assert_int_equal(engine->read_done(read, &index->slots, &problem), BRY_OK);
    bry_index loaded = *index;
    loaded.elements = read;
    job_assert_alike(BRY_JOB_INDEX, index, &loaded);
    bry__slot(&index->slots, 3)->elements = 0;
    assert_int_equal(engine->read_done(read, &index->slots, &problem), BRY_E_BADDATA);
    engine->destroy(read);
    bry_buffer_free(&head);
    bry_index_destroy(index);
}

/* A stamp changes when the unit does, and does not when it only moves. */
TEST(test_stamps)
{
    bry_index *index = make((bry_index_options){.units = 40, .unit_capacity = 20, .error = 1e-6});
    uint64_t left = 1;
    fill(index, 40, 10);
    bry__index_part before[40], part;
    for (uint64_t i = 0; i < 40; i++)
        engine->part(index->elements, NULL, i, &before[i]);
    while (left > 0) /* groups are merged */
        assert_int_equal(bry_index_step(index, NULL, 100, &left), BRY_OK);
    assert_int_equal(bry_index_add(index, element(3005), 3, NULL, NULL), BRY_OK); /* was there */
    bry_index *copy = NULL;
    assert_int_equal(bry_index_clone(index, NULL, &copy), BRY_OK);
    assert_int_equal(bry_index_add(index, element(3999), 3, NULL, NULL), BRY_OK);
    assert_int_equal(bry_index_merge_units(index, 5, 6), BRY_OK);
    assert_int_equal(bry_index_add(copy, element(4999), 4, NULL, NULL), BRY_OK);
    unsigned kept = 0;
    for (int side = 0; side < 2; side++) {
        const bry_index *one = side ? copy : index;
        for (uint64_t i = 0; i < engine->parts(one->elements, NULL); i++) {
            engine->part(one->elements, NULL, i, &part);
            const bry__index_part *was = before;
            while (was->id != part.id)
                was++;
            bool changed = side ? part.id == 4 : part.id == 3 || part.id == 5;
            assert_int_equal(memcmp(was->stamp, part.stamp, sizeof part.stamp) != 0, changed);
            kept += !changed;
        }
    }
    assert_int_equal(kept, 37 + 39);
    bry_index_destroy(copy);
    bry_index_destroy(index);
}

/* ---- without memory ------------------------------------------------------------------------ */

/* All work of growing, with every allocation failing once: nothing is lost, and the work
 * continues. */
TEST(test_steps_without_memory)
{
    uint64_t failures = 0;
    for (int kind = 0; kind < 4; kind++) {
        uint64_t n = 12;
        bry_index_supplier supplier = {supply, &n};
        for (uint64_t at = 1;; at++) {
            failing_allocator memory;
            failing_allocator_init(&memory);
            bry_index *index = make(
                (bry_index_options){.units = 12,
                                    .unit_capacity = kind == 3 ? 13 : 20,
                                    .error = 0.01,
                                    .dba.segmented = kind == 1,
                                    .dba.group = kind == 2 ? 8 : 0,
                                    .dba.control = kind == 3 ? BRY_INDEX_LARGER : BRY_INDEX_TIGHTER,
                                    .allocator = &memory.allocator});
            fill(index, kind == 3 ? 12 : 40, n);
            for (uint32_t u = 0; u < 40 && kind == 2; u++)
                if (u % 4)
                    assert_int_equal(bry_index_drop(index, u), BRY_OK);
            failing_allocator_restart(&memory);
            memory.fail_at = at;
            uint64_t left = 1, failed = 0;
            while (left > 0) {
                bry_status status = bry_index_step(index, &supplier, 20, &left);
                if (status == BRY_OK)
                    continue;
                assert_int_equal(status, BRY_E_NOMEM);
                failed++;
                left = 1;
                bry_index_stats stats = {0};
                bry_index_get_stats(index, &stats);
                assert_int_equal(stats.bytes, memory.now);
            }
            for (uint32_t u = 0; u < (kind == 3 ? 12u : 40u); u++)
                for (uint64_t i = 0; i < n; i++)
                    if (kind != 2 || u % 4 == 0)
                        assert_int_equal(bry_index_has(index, element(1000 * (uint64_t)u + i)),
                                         BRY_PRESENT);
            bry_index_destroy(index);
            assert_int_equal(memory.now, 0);
            assert_true(failed <= 1);
            failures += failed;
            if (memory.calls < at)
                break;
        }
    }
    assert_true(failures > 20);
}

TEST(test_import_without_memory)
{
    failing_allocator memory;
    failing_allocator_init(&memory);
    bry_index_options options = {
        .units = 4, .unit_capacity = 50, .error = 0.01, .allocator = &memory.allocator};
    bry_index *index = make(options), *apart = NULL;
    fill(index, 4, 30); /* the next unit raises the level, and needs a group */
    bry_index_options like = index_like(index);
    assert_int_equal(bry_index_create(&like, &apart), BRY_OK);
    fill(apart, 1, 40);
    bry_buffer image = BRY_BUFFER, before = job_saved(BRY_JOB_INDEX, index);
    bry_sink sink = bry_buffer_sink(&image);
    assert_int_equal(bry_index_save_unit(apart, 0, &sink, NULL), BRY_OK);
    bry_status status = BRY_E_NOMEM;
    uint32_t unit = 99;
    for (uint64_t at = 1; status != BRY_OK; at++) {
        bry_view view = {image.bytes, image.len, 0};
        bry_source source = bry_view_source(&view);
        failing_allocator_restart(&memory);
        memory.fail_at = at;
        status = bry_index_import_unit(index, &source, NULL, &unit);
        if (status != BRY_OK) {
            assert_int_equal(status, BRY_E_NOMEM);
            job_assert_saved(BRY_JOB_INDEX, index, &before);
        } else {
            assert_true(at > 2);
        }
    }
    memory.fail_at = 0;
    /* Altered frames are refused without a leak. */
    bry_buffer now = job_saved(BRY_JOB_INDEX, index);
    bry_index_stats stats = {0};
    for (size_t at = BRY__HEADER_BYTES; at < image.len; at += 5) {
        image.bytes[at] ^= 0x11;
        bry_view view = {image.bytes, image.len, 0};
        bry_source source = bry_view_source(&view);
        assert_int_equal(bry_index_import_unit(index, &source, NULL, &unit), BRY_E_BADDATA);
        job_assert_saved(BRY_JOB_INDEX, index, &now);
        image.bytes[at] ^= 0x11;
    }
    bry_index_get_stats(index, &stats);
    assert_int_equal(stats.units, 5);
    bry_buffer_free(&now);
    bry_buffer_free(&before);
    bry_buffer_free(&image);
    bry_index_destroy(apart);
    bry_index_destroy(index);
    assert_int_equal(memory.now, 0);
}
