/* Engine dba as frames, as altered frames, in parts, and without memory. */
#include "common/endian.h"
#include "frame/frame.h"
#include "support/dba_helpers.h"
#include "support/failing_allocator.h"
#include "support/generator.h"
#include "support/like.h"
#include "support/repair.h"

#include <stdlib.h>
#include <string.h>

static const bry__index_engine *engine = &bry__dba_index_engine;

static void assert_all_there(const bry_index *index, uint32_t units, uint64_t n)
{
    for (uint32_t u = 0; u < units; u++)
        for (uint64_t i = 0; i < n; i++)
            assert_int_equal(bry_index_has(index, element(1000 * (uint64_t)u + i)), BRY_PRESENT);
}

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

/* ---- streams ------------------------------------------------------------------------------- */

static bry_buffer written(const bry_index *index, bool head)
{
    bry_buffer image = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&image);
    bry__frame_writer writer;
    bry__frame_writer_begin(&writer, &sink, NULL, BRY__FOUR('T', 'E', 'S', 'T'), 1, 1);
    if (head)
        engine->write_head(index->elements, NULL, &writer);
    else
        engine->write(index->elements, &writer);
    assert_int_equal(bry__frame_writer_end(&writer), BRY_OK);
    return image;
}

static bry_status load(const bry_index *index, const bry_buffer *image, bool head, bry_load *how,
                       void **elements)
{
    bry_view view = {image->bytes, image->len, 0};
    bry_source source = bry_view_source(&view);
    bry_allocator allocator = bry__allocator_or_default(how ? how->allocator : NULL);
    bry__frame_reader reader;
    void *read = NULL;
    bry_index_options options = bry__index_kept_options(&index->options);
    bry_status status =
        bry__frame_reader_open(&reader, &source, how, BRY__FOUR('T', 'E', 'S', 'T'), 1);
    if (status == BRY_OK)
        status = (head ? engine->read_head : engine->read)(&options, &index->slots, &reader,
                                                           &allocator, &read);
    if (status == BRY_OK)
        status = bry__frame_reader_end(&reader);
    bry__frame_reader_close(&reader);
    if (status == BRY_OK)
        *elements = read;
    else if (read)
        engine->destroy(read);
    return status;
}

static bool same(const bry_index *index, void *elements, const bry_buffer *image)
{
    bry_index with = *index;
    with.elements = elements;
    bry_buffer now = written(&with, false);
    bool equal = now.len == image->len && memcmp(now.bytes, image->bytes, now.len) == 0;
    bry_buffer_free(&now);
    return equal;
}

TEST(test_save_and_load)
{
    static const uint32_t widths[] = {0, 1, 8, 64, 512};
    for (int i = 0; i < 10; i++) {
        bry_index *index =
            busy((bry_index_options){.dba.group = widths[i / 2], .dba.segmented = i % 2 == 1});
        bry_buffer image = written(index, false);
        void *read = NULL;
        assert_int_equal(load(index, &image, false, NULL, &read), BRY_OK);
        assert_true(same(index, read, &image));
        engine->destroy(read);
        bry_buffer_free(&image);
        bry_index_destroy(index);
    }
}

/* Each rule separately. Offsets are those of doc/format.md, from the first frame's payload on. */
TEST(test_refused)
{
    enum { DBA = BRY__HEADER_BYTES + 16, LEVELS = DBA + 16, LEVEL = 24 };
    bry_index *index = busy((bry_index_options){.dba.segmented = true});
    const bry__dba *dba = index->elements;
    assert_int_equal(dba->levels, 2);
    enum { UNITS = LEVELS + 2 * LEVEL + 8 + 16, FIRST_COLUMN = UNITS + 15 * 8 + 8 + 16 };
    const struct {
        size_t at;
        unsigned bytes;
        uint64_t value;
        const char *problem;
    } cases[] = {
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
        {UNITS, 4, 15, "a unit's slot does not match the index"},
        {UNITS + 8, 4, 0, "a unit's slot does not match the index"},
        {UNITS + 8, 4, 1u << 30, "a unit's slot does not match the index"},
        {UNITS + 4, 4, 2, "the level of a unit does not match its capacity"},
        {FIRST_COLUMN + 56, 8, UINT64_MAX, "bits are set past the last row of a unit"},
        {FIRST_COLUMN, 8, 0x5, NULL}, /* other bits, but no more */
    };
    bry_buffer image = written(index, false);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        bry_buffer forged = {malloc(image.len), image.len, image.len};
        memcpy(forged.bytes, image.bytes, image.len);
        if (cases[c].bytes == 4)
            bry__store32(forged.bytes + cases[c].at, (uint32_t)cases[c].value);
        else
            bry__store64(forged.bytes + cases[c].at, cases[c].value);
        repair_stream(forged.bytes, forged.len);
        bry_load how = BRY_LOAD;
        void *read = NULL;
        bry_status status = load(index, &forged, false, &how, &read);
        if (cases[c].problem) {
            assert_int_equal(status, BRY_E_BADDATA);
            assert_string_equal(how.problem, cases[c].problem);
        } else {
            assert_int_equal(status, BRY_OK);
            engine->destroy(read);
        }
        free(forged.bytes);
    }
    bry_buffer_free(&image);
    bry_index_destroy(index);
}

/* Counts that contradict the bits. */
TEST(test_refused_counts)
{
    bry_index *index = busy((bry_index_options){.dba.segmented = true});
    bry_buffer image = written(index, false);
    static const struct {
        uint64_t elements;
        const char *problem;
    } counts[] = {
        {0, "a unit without elements has bits set"},
        {1, "a unit has too many bits set for its elements"},
    };
    for (int c = 0; c < 2; c++) {
        bry_load how = BRY_LOAD;
        void *read = NULL;
        uint64_t was = bry__slot(&index->slots, 7)->elements;
        bry__slot(&index->slots, 7)->elements = counts[c].elements;
        assert_int_equal(load(index, &image, false, &how, &read), BRY_E_BADDATA);
        assert_string_equal(how.problem, counts[c].problem);
        bry__slot(&index->slots, 7)->elements = was;
    }
    bry_buffer_free(&image);
    bry_index_destroy(index);

    index = make((bry_index_options){.units = 2, .unit_capacity = 20});
    fill(index, 2, 0);
    image = written(index, false);
    bry__slot(&index->slots, 1)->elements = 5;
    bry_load how = BRY_LOAD;
    void *read = NULL;
    assert_int_equal(load(index, &image, false, &how, &read), BRY_E_BADDATA);
    assert_string_equal(how.problem, "a unit with elements has no bits set");
    bry_buffer_free(&image);
    bry_index_destroy(index);
}

/* ---- parts --------------------------------------------------------------------------------- */

static bry_buffer written_part(const bry_index *index, uint64_t place)
{
    bry_buffer image = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&image);
    bry__frame_writer writer;
    bry__frame_writer_begin(&writer, &sink, NULL, BRY__FOUR('P', 'A', 'R', 'T'), 1, 1);
    engine->write_part(index->elements, NULL, place, &writer);
    assert_int_equal(bry__frame_writer_end(&writer), BRY_OK);
    return image;
}

static bry_status load_part(void *elements, const bry__index_part *part, const bry_buffer *image,
                            bry_load *how)
{
    bry_view view = {image->bytes, image->len, 0};
    bry_source source = bry_view_source(&view);
    bry__frame_reader reader;
    bry_status status =
        bry__frame_reader_open(&reader, &source, how, BRY__FOUR('P', 'A', 'R', 'T'), 1);
    if (status == BRY_OK)
        status = engine->read_part(elements, part, &reader);
    bry__frame_reader_close(&reader);
    return status;
}

TEST(test_parts)
{
    bry_index *index = busy((bry_index_options){.dba.group = 16});
    bry_buffer whole = written(index, false), head = written(index, true);
    void *read = NULL;
    const char *problem = NULL;
    bry_load how = BRY_LOAD;
    assert_int_equal(engine->parts(index->elements, NULL), 15);
    assert_int_equal(load(index, &head, true, NULL, &read), BRY_OK);
    assert_int_equal(engine->read_done(read, &index->slots, &problem), BRY_E_BADDATA);
    assert_string_equal(problem, "a part is missing");
    for (uint64_t place = 0; place < 15; place++) {
        bry__index_part part, again;
        bry_buffer image = written_part(index, place);
        engine->part(index->elements, NULL, place, &part);
        assert_true(part.stamp[0] != 0);
        bry__index_part unknown = {.id = 1000, .stamp = {1, 1}};
        assert_int_equal(load_part(read, &unknown, &image, &how), BRY_E_BADDATA);
        assert_string_equal(how.problem, "a part of an unknown unit");
        assert_int_equal(load_part(read, &part, &image, &how), BRY_OK);
        assert_int_equal(load_part(read, &part, &image, &how), BRY_E_BADDATA);
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
    assert_true(same(index, read, &whole));
    bry__slot(&index->slots, 3)->elements = 0;
    assert_int_equal(engine->read_done(read, &index->slots, &problem), BRY_E_BADDATA);
    engine->destroy(read);
    bry_buffer_free(&whole);
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
    bry_buffer image = BRY_BUFFER, before = written(index, false);
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
            assert_true(same(index, index->elements, &before));
        } else {
            assert_true(at > 2);
        }
    }
    memory.fail_at = 0;
    assert_all_there(index, 4, 30);
    for (uint64_t i = 0; i < 40; i++)
        assert_int_equal(bry_index_has(index, element(i)), BRY_PRESENT);
    /* Altered frames are refused without a leak. */
    bry_buffer now = written(index, false);
    bry_index_stats stats = {0};
    for (size_t at = BRY__HEADER_BYTES; at < image.len; at += 5) {
        bry_buffer forged = {malloc(image.len), image.len, image.len};
        memcpy(forged.bytes, image.bytes, image.len);
        forged.bytes[at] ^= 0x11;
        bry_view view = {forged.bytes, forged.len, 0};
        bry_source source = bry_view_source(&view);
        assert_int_equal(bry_index_import_unit(index, &source, NULL, &unit), BRY_E_BADDATA);
        assert_true(same(index, index->elements, &now));
        free(forged.bytes);
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
