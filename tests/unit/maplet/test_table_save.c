/* The saved bytes of a maplet depend only on its entries; and saving in parts. */
#include "frame/frame.h"
#include "maplet/maplet_values.h"

#include "support/cmocka_all.h"
#include "support/failing_allocator.h"
#include "support/generator.h"
#include "support/maplet_entries.h"

#include <string.h>

/* A range of 2^32, so that the hash contains the fingerprint. */
static const bry__maplet_options options = {1 << 20, 1.0 / 4096, 12, true};

static bry_hash hash_of(uint64_t fingerprint)
{
    return (bry_hash){.hi = fingerprint << 32, .lo = 0};
}

typedef struct item {
    uint64_t fingerprint;
    uint32_t value;
} item;

enum { MOST = 12000, PASSING = 4000 };
static item items[MOST];
static unsigned item_count;
static uint64_t passing[PASSING];

/* Random fingerprints, `crowded` of them with many values, and some that all end in zeros and so
 * share one segment. */
static void make_items(unsigned n, unsigned crowded, unsigned alike, uint64_t seed)
{
    generator numbers = {seed};
    item_count = 0;
    for (unsigned i = 0; i < n; i++)
        items[item_count++] = (item){generator_below(&numbers, (uint64_t)1 << 32),
                                     (uint32_t)generator_below(&numbers, 4090)};
    for (unsigned i = 0; i < crowded; i++)
        for (unsigned j = 0, count = 5 + i % 30; j < count; j++)
            items[item_count++] =
                (item){items[i].fingerprint, (uint32_t)generator_below(&numbers, 64)};
    for (unsigned i = 0; i < alike; i++)
        items[item_count++] = (item){(uint64_t)(i / 3) << 16, i % 200};
    assert_true(item_count <= MOST);
}

static void shuffle(generator *numbers)
{
    for (unsigned i = item_count; i > 1; i--) {
        unsigned j = (unsigned)generator_below(numbers, i);
        item other = items[j];
        items[j] = items[i - 1];
        items[i - 1] = other;
    }
}

static void add(bry__maplet *maplet, uint64_t fingerprint, uint32_t value)
{
    bry_status status;
    do /* memory is sometimes short */
        status = bry__maplet_add(maplet, hash_of(fingerprint), value);
    while (status == BRY_E_NOMEM);
    assert_int_equal(status, BRY_OK);
}

static void fill(bry__maplet *maplet, const bry_allocator *allocator)
{
    bry_allocator memory = bry__allocator_or_default(allocator);
    assert_true(bry__maplet_init(maplet, &options, &memory));
    for (unsigned i = 0; i < item_count; i++)
        add(maplet, items[i].fingerprint, items[i].value);
}

/* The same entries after additions in another order, deletions, changed values, narrow segments and
 * failed allocations. */
static void fill_otherwise(bry__maplet *maplet, failing_allocator *memory, generator *numbers)
{
    bry__maplet_options narrow = options;
    narrow.value_bits = 7;
    assert_true(bry__maplet_init(maplet, &narrow, &memory->allocator));
    shuffle(numbers);
    for (unsigned i = 0; i < item_count; i++) {
        bool last = i >= item_count / 2;
        if (last && maplet->value_bits < options.value_bits)
            assert_int_equal(bry__maplet_widen(maplet, options.value_bits), BRY_OK);
        memory->fail_at = memory->calls + generator_below(numbers, 60) + 1;
        add(maplet, items[i].fingerprint, last ? items[i].value : items[i].value & 127);
    }
    for (unsigned i = 0; i < item_count / 2; i++) {
        bry_answer was;
        if (items[i].value > 127) {
            memory->fail_at = 0;
            assert_int_equal(bry__maplet_replace(maplet, hash_of(items[i].fingerprint),
                                                 items[i].value & 127, items[i].value, &was),
                             BRY_OK);
            assert_int_equal(was, BRY_PRESENT);
        }
    }
    assert_int_equal(bry__maplet_widen(maplet, options.value_bits), BRY_OK);
    for (unsigned i = 0; i < PASSING; i++) { /* unique values */
        passing[i] = generator_below(numbers, (uint64_t)1 << 24) << 8;
        add(maplet, passing[i], 4090);
    }
    for (unsigned i = 0; i < item_count; i++)
        add(maplet, items[i].fingerprint, 4091);
    memory->fail_at = 0;
    for (unsigned i = 0; i < item_count; i++)
        assert_int_equal(bry__maplet_del_value(maplet, hash_of(items[i].fingerprint), 4091),
                         BRY_PRESENT);
    for (unsigned i = 0; i < PASSING; i++) { /* sometimes the table cannot even shrink */
        memory->fail_at = memory->calls + 1;
        memory->keep_failing = generator_below(numbers, 2);
        assert_int_equal(bry__maplet_del_value(maplet, hash_of(passing[i]), 4090), BRY_PRESENT);
    }
    memory->fail_at = 0;
}

static const struct {
    unsigned n, crowded, alike;
} shapes[] = {{0, 0, 0}, {1, 1, 0}, {500, 0, 0}, {900, 40, 0}, {2000, 60, 2500}, {300, 300, 4500}};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

TEST(test_histories)
{
    for (unsigned i = 0; i < SHAPES; i++) {
        bry__maplet one, other;
        failing_allocator memory;
        failing_allocator_init(&memory);
        generator numbers = {i + 1};
        make_items(shapes[i].n, shapes[i].crowded, shapes[i].alike, i);
        fill(&one, NULL);
        fill_otherwise(&other, &memory, &numbers);
        maplet_check(&other);
        assert_int_equal(bry__maplet_count(&one), bry__maplet_count(&other));
        bry_buffer saved = maplet_saved(&one);
        maplet_assert_saved(&other, &saved);
        bry_buffer_free(&saved);
        bry__maplet_free(&one);
        bry__maplet_free(&other);
        assert_int_equal(memory.now, 0);
    }
}

/* Values below 2048 have names in descending order; the others die. */
static uint32_t name_of(uint32_t value)
{
    return value < 2048 ? 2047 - value : BRY__NO_NAME;
}

TEST(test_names)
{
    for (unsigned i = 0; i < SHAPES; i++) {
        bry__maplet all, some;
        bry_allocator memory = bry__allocator_or_default(NULL);
        bry__maplet_options named = options;
        named.value_bits = 11;
        make_items(shapes[i].n, shapes[i].crowded, shapes[i].alike, i);
        for (unsigned j = 0; j < item_count; j += 3)
            items[j].value = 4000 + j % 90;
        assert_true(bry__maplet_init(&all, &options, &memory));
        assert_true(bry__maplet_init(&some, &named, &memory));
        assert_int_equal(bry__values_begin(&all), BRY_OK);
        for (uint32_t value = 0; value < 4096; value++)
            assert_int_equal(bry__values_use(&all, value, value < 2048 ? name_of(value) : value),
                             BRY_OK);
        for (unsigned j = 0; j < item_count; j++) {
            add(&all, items[j].fingerprint, items[j].value);
            if (items[j].value < 2048)
                add(&some, items[j].fingerprint, name_of(items[j].value));
        }
        for (uint32_t value = 2048; value < 4096; value++)
            bry__values_kill(&all, value);
        bry_buffer saved = maplet_saved(&some);
        maplet_assert_saved(&all, &saved);
        bry_buffer_free(&saved);
        bry__maplet_free(&all);
        bry__maplet_free(&some);
    }
}

/* ---- parts --------------------------------------------------------------------------------- */

enum { PARTS = 16 };

/* The head at [0], then the parts; returns their number. */
static unsigned save_parts(const bry__maplet *maplet, bry_buffer *bytes, uint64_t (*stamp)[2],
                           uint64_t *id)
{
    bry__maplet_writer *saving;
    assert_int_equal(bry__maplet_writer_begin(maplet, &saving), BRY_OK);
    unsigned parts = (unsigned)bry__maplet_save_parts(saving);
    assert_true(parts < PARTS);
    for (unsigned i = 0; i <= parts; i++) {
        bytes[i] = (bry_buffer)BRY_BUFFER;
        bry_sink sink = bry_buffer_sink(&bytes[i]);
        bry__frame_writer writer;
        bry__frame_writer_begin(&writer, &sink, NULL, BRY__FOUR('P', 'A', 'R', 'T'), 1, 0);
        if (i == 0) {
            bry__maplet_save_head(saving, &writer);
        } else {
            id[i] = bry__maplet_part_id(saving, i - 1);
            assert_int_equal(bry__maplet_part_stamp(saving, i - 1, stamp[i]), BRY_OK);
            bry__maplet_save_part(saving, i - 1, &writer);
        }
        assert_int_equal(bry__frame_writer_end(&writer), BRY_OK);
        assert_true(i < 2 || id[i] > id[i - 1]);
    }
    bry__maplet_writer_end(saving);
    return parts;
}

static void free_parts(bry_buffer *bytes, unsigned parts)
{
    for (unsigned i = 0; i <= parts; i++)
        bry_buffer_free(&bytes[i]);
}

/* Reads all but the part `without`. */
static const char *load_parts(bry__maplet *maplet, const bry_buffer *bytes, const uint64_t *id,
                              unsigned parts, unsigned without)
{
    bry_allocator memory = bry__allocator_or_default(NULL);
    bry__maplet_reader *reading = NULL;
    const char *problem = NULL;
    for (unsigned i = 0; i <= parts && !problem; i++) {
        if (i == without)
            continue;
        bry_view view = {bytes[i].bytes, bytes[i].len, 0};
        bry_source source = bry_view_source(&view);
        bry_load load = BRY_LOAD;
        bry__frame_reader reader;
        bry_status status =
            bry__frame_reader_open(&reader, &source, &load, BRY__FOUR('P', 'A', 'R', 'T'), 1);
        if (status == BRY_OK)
            status = i == 0 ? bry__maplet_reader_begin(&reading, &reader, &memory, NULL)
                            : bry__maplet_read_part(reading, id[i], &reader);
        if (status == BRY_OK)
            status = bry__frame_reader_end(&reader);
        problem = status == BRY_OK ? NULL : load.problem;
        bry__frame_reader_close(&reader);
    }
    if (!problem)
        return bry__maplet_reader_end(reading, maplet);
    bry__maplet_reader_free(reading);
    return problem;
}

TEST(test_parts)
{
    bry_buffer bytes[PARTS], after[PARTS];
    uint64_t stamp[PARTS][2], stamp_after[PARTS][2], id[PARTS], id_after[PARTS];
    bry__maplet maplet, loaded;
    generator numbers = {5};
    make_items(2000, 60, 2500, 7);
    fill(&maplet, NULL);
    for (unsigned i = 0; i < 300000; i++)
        add(&maplet, generator_below(&numbers, (uint64_t)1 << 32), i % 4096);
    unsigned parts = save_parts(&maplet, bytes, stamp, id);
    assert_true(parts > 4);
    bry_buffer whole = maplet_saved(&maplet);
    assert_null(load_parts(&loaded, bytes, id, parts, parts + 1));
    maplet_assert_saved(&loaded, &whole);
    bry__maplet_free(&loaded);
    for (unsigned i = 1; i <= parts; i++)
        assert_non_null(load_parts(&loaded, bytes, id, parts, i));

    /* A change that adds no segment changes one part. */
    assert_int_equal(bry__maplet_upsert(&maplet, hash_of(items[0].fingerprint), 1, NULL, NULL),
                     BRY_OK);
    assert_int_equal(save_parts(&maplet, after, stamp_after, id_after), parts);
    unsigned changed = 0;
    for (unsigned i = 1; i <= parts; i++) {
        assert_int_equal(id[i], id_after[i]);
        bool same = memcmp(stamp[i], stamp_after[i], sizeof stamp[i]) == 0;
        assert_int_equal(same, bytes[i].len == after[i].len &&
                                   memcmp(bytes[i].bytes, after[i].bytes, bytes[i].len) == 0);
        changed += !same;
    }
    assert_in_range(changed, 1, 2);
    free_parts(bytes, parts);
    free_parts(after, parts);
    bry_buffer_free(&whole);
    bry__maplet_free(&maplet);
}
