/* Saving and loading maplets: the same bytes, and only those. */
#include "maplet/maplet.h"

#include "support/cmocka_all.h"
#include "support/failing_allocator.h"
#include "support/generator.h"
#include "support/maplet_entries.h"
#include "support/repair.h"

#include <stdlib.h>
#include <string.h>

static bry_hash key(uint64_t number)
{
    generator numbers = {number * 77};
    return generator_hash(&numbers);
}

/* n entries, and `crowd` more with one key. */
static void make(bry__maplet *maplet, uint64_t capacity, unsigned value_bits, uint64_t n,
                 unsigned crowd, const bry_allocator *allocator)
{
    bry__maplet_options options = {capacity, 1e-3, value_bits, false};
    bry_allocator memory = bry__allocator_or_default(allocator);
    assert_true(bry__maplet_init(maplet, &options, &memory));
    uint32_t mask = value_bits < 32 ? (1u << value_bits) - 1 : UINT32_MAX;
    for (uint64_t i = 0; i < n; i++)
        assert_int_equal(bry__maplet_add(maplet, key(i), (uint32_t)(i * 2654435761u) & mask),
                         BRY_OK);
    for (uint32_t i = 0; i < crowd; i++)
        assert_int_equal(bry__maplet_add(maplet, key(1), i & mask), BRY_OK);
}

static bry_status load(bry__maplet *maplet, const void *bytes, size_t len, bry_load *how)
{
    bry_view view = {bytes, len, 0};
    bry_source source = bry_view_source(&view);
    bry_status status = bry__maplet_load(maplet, &source, how);
    if (status == BRY_OK)
        assert_int_equal(view.at, len);
    else
        assert_non_null(how->problem);
    return status;
}

static const struct {
    uint64_t capacity;
    unsigned value_bits;
    uint64_t n;
    unsigned crowd;
} shapes[] = {{1, 0, 0, 0},     {100, 8, 0, 0},        {100, 8, 1, 0},
              {5, 1, 40, 0},    {100, 16, 90, 30},     {300, 32, 250, 600},
              {40, 3, 700, 20}, {30000, 12, 30000, 0}, {20000, 0, 90000, 9000}};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

TEST(test_there_and_back)
{
    for (unsigned i = 0; i < SHAPES; i++) {
        bry__maplet maplet, loaded;
        make(&maplet, shapes[i].capacity, shapes[i].value_bits, shapes[i].n, shapes[i].crowd, NULL);
        bry_buffer saved = maplet_saved(&maplet);
        failing_allocator memory;
        failing_allocator_init(&memory);
        bry_load how = BRY_LOAD;
        how.allocator = &memory.allocator;
        assert_int_equal(load(&loaded, saved.bytes, saved.len, &how), BRY_OK);
        assert_int_equal(bry__maplet_bytes(&loaded), memory.now);
        maplet_check(&loaded);
        assert_int_equal(maplet_sum(&loaded), maplet_sum(&maplet));
        maplet_assert_saved(&loaded, &saved);

        /* Both behave the same. */
        generator numbers = {i};
        uint32_t mask = shapes[i].value_bits < 32 ? (1u << shapes[i].value_bits) - 1 : UINT32_MAX;
        for (unsigned j = 0; j < 3000; j++) {
            bry_hash hash = key(generator_below(&numbers, shapes[i].n + 100));
            uint32_t value = (uint32_t)generator_next(&numbers) & mask;
            switch (generator_below(&numbers, 4)) {
            case 0:
                assert_int_equal(bry__maplet_del(&maplet, hash), bry__maplet_del(&loaded, hash));
                break;
            default:
                assert_int_equal(bry__maplet_add(&maplet, hash, value),
                                 bry__maplet_add(&loaded, hash, value));
            }
        }
        bry_buffer after = maplet_saved(&maplet);
        maplet_assert_saved(&loaded, &after);
        bry_buffer_free(&after);
        bry_buffer_free(&saved);
        bry__maplet_free(&loaded);
        bry__maplet_free(&maplet);
        assert_int_equal(memory.now, 0);
    }
}

/* The largest value is like any other, also in a segment that is rewritten. */
TEST(test_largest_value)
{
    bry__maplet maplet, loaded;
    make(&maplet, 1000, 32, 0, 0, NULL);
    for (uint64_t i = 0; i < 600; i++)
        assert_int_equal(bry__maplet_add(&maplet, key(i), UINT32_MAX), BRY_OK);
    for (uint32_t i = 0; i < 20; i++)
        assert_int_equal(bry__maplet_add(&maplet, key(1), UINT32_MAX - i % 3), BRY_OK);
    for (uint64_t i = 100; i < 500; i++)
        assert_int_equal(bry__maplet_del(&maplet, key(i)), 1);
    bry_buffer saved = maplet_saved(&maplet);
    bry_load how = BRY_LOAD;
    assert_int_equal(load(&loaded, saved.bytes, saved.len, &how), BRY_OK);
    assert_int_equal(maplet_sum(&loaded), maplet_sum(&maplet));
    bry_buffer_free(&saved);
    bry__maplet_free(&loaded);
    bry__maplet_free(&maplet);
}

/* Memory never exceeds the limit by more than the frame that is being read. */
TEST(test_limit)
{
    bry__maplet maplet, loaded;
    make(&maplet, 30000, 12, 60000, 3000, NULL);
    bry_buffer saved = maplet_saved(&maplet);
    uint64_t needed = bry__maplet_bytes(&maplet);
    failing_allocator memory;
    failing_allocator_init(&memory);
    for (uint64_t limit = 1; limit < needed * 9 / 10; limit += 1 + needed / 37) {
        bry_load how = BRY_LOAD;
        how.allocator = &memory.allocator;
        how.max_bytes = limit;
        failing_allocator_restart(&memory);
        assert_int_equal(load(&loaded, saved.bytes, saved.len, &how), BRY_E_LIMIT);
        assert_int_equal(memory.now, 0);
        assert_true(memory.peak <= limit + (1 << 19));
    }
    bry_load how = BRY_LOAD;
    how.max_bytes = needed + needed / 10;
    assert_int_equal(load(&loaded, saved.bytes, saved.len, &how), BRY_OK);
    bry__maplet_free(&loaded);
    bry__maplet_free(&maplet);
    bry_buffer_free(&saved);
}

/* In a heap block of exactly that size, for the sanitizer. */
static bry_status try_bytes(const unsigned char *bytes, size_t len, bry__maplet *loaded)
{
    unsigned char *copy = malloc(len + !len);
    assert_non_null(copy);
    memcpy(copy, bytes, len);
    bry_load how = BRY_LOAD;
    bry_status status = load(loaded, copy, len, &how);
    free(copy);
    return status;
}

TEST(test_every_truncation_and_flip)
{
    bry__maplet maplet, loaded;
    make(&maplet, 40, 6, 100, 12, NULL);
    bry_buffer saved = maplet_saved(&maplet);
    for (size_t len = 0; len < saved.len; len++)
        assert_int_not_equal(try_bytes(saved.bytes, len, &loaded), BRY_OK);
    for (size_t bit = 0; bit < 8 * saved.len; bit++) {
        saved.bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        assert_int_not_equal(try_bytes(saved.bytes, saved.len, &loaded), BRY_OK);
        saved.bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    assert_int_equal(try_bytes(saved.bytes, saved.len, &loaded), BRY_OK);
    bry__maplet_free(&loaded);
    bry__maplet_free(&maplet);
    bry_buffer_free(&saved);
}

enum { HEADER = 64 }; /* bytes of the stream, not the maplet: frame/frame_header.h */

/* Forged bytes with correct checksums. What is accepted is a valid maplet with exactly these bytes,
 * and can be used. */
static unsigned accept_forged(const unsigned char *bytes, size_t len)
{
    bry__maplet loaded;
    if (try_bytes(bytes, len, &loaded) != BRY_OK)
        return 0;
    maplet_check(&loaded);
    bry_buffer again = maplet_saved(&loaded);
    assert_int_equal(again.len, len);
    assert_memory_equal(again.bytes, bytes, len);
    bry_buffer_free(&again);
    uint64_t n = bry__maplet_count(&loaded), removed = 0;
    for (uint64_t i = 0; i < 120; i++)
        removed += bry__maplet_del(&loaded, key(i));
    assert_true(removed <= n && bry__maplet_count(&loaded) == n - removed);
    maplet_check(&loaded);
    bry__maplet_free(&loaded);
    return 1;
}

TEST(test_every_forged_flip)
{
    unsigned accepted = 0, tried = 0;
    for (unsigned shape = 0; shape < 3; shape++) {
        bry__maplet maplet;
        make(&maplet, shape == 0 ? 200 : 40, shape == 1 ? 0 : 6, 100, shape == 2 ? 40 : 0, NULL);
        bry_buffer saved = maplet_saved(&maplet);
        unsigned char *forged = malloc(saved.len);
        assert_non_null(forged);
        for (size_t bit = 8 * (size_t)HEADER; bit < 8 * saved.len; bit++, tried++) {
            memcpy(forged, saved.bytes, saved.len);
            forged[bit / 8] ^= (unsigned char)(1u << bit % 8);
            repair_stream(forged, saved.len);
            if (memcmp(forged, saved.bytes, saved.len) != 0)
                accepted += accept_forged(forged, saved.len);
        }
        free(forged);
        bry_buffer_free(&saved);
        bry__maplet_free(&maplet);
    }
    assert_true(accepted > 0 && accepted < tried / 2);
}

/* Several bytes at once, including numbers that are far too large. */
TEST(test_forged_at_random)
{
    static const unsigned char extremes[] = {0, 1, 0x7f, 0x80, 0xff};
    generator numbers = {9};
    for (unsigned shape = 3; shape < 7; shape++) {
        bry__maplet maplet;
        make(&maplet, shapes[shape].capacity, shapes[shape].value_bits, shapes[shape].n,
             shapes[shape].crowd, NULL);
        bry_buffer saved = maplet_saved(&maplet);
        unsigned char *forged = malloc(saved.len);
        assert_non_null(forged);
        for (unsigned round = 0; round < 1500; round++) {
            memcpy(forged, saved.bytes, saved.len);
            size_t at =
                HEADER + (size_t)generator_below(&numbers, round % 2 ? 256 : saved.len - HEADER);
            size_t count = 1 + (size_t)generator_below(&numbers, 8);
            for (size_t i = at; i < at + count && i < saved.len; i++)
                forged[i] = extremes[generator_below(&numbers, sizeof extremes)];
            repair_stream(forged, saved.len);
            if (memcmp(forged, saved.bytes, saved.len) != 0)
                accept_forged(forged, saved.len);
        }
        free(forged);
        bry_buffer_free(&saved);
        bry__maplet_free(&maplet);
    }
}
