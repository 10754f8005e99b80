/* Forged maplets with correct checksums: what is accepted is a valid maplet with exactly these
 * bytes, and can be used. */
#include "maplet/maplet.h"

#include "support/cmocka_all.h"
#include "support/generator.h"
#include "support/maplet_entries.h"
#include "support/repair.h"

#include <stdlib.h>
#include <string.h>

enum { HEADER = 64 }; /* bytes of the stream, not the maplet: frame/frame_header.h */

/* n entries, and `crowd` more with one key. */
typedef struct shape {
    uint64_t capacity;
    unsigned value_bits;
    uint64_t n;
    unsigned crowd;
} shape;

static bry_buffer saved_of(shape of)
{
    bry__maplet maplet;
    bry__maplet_options options = {of.capacity, 1e-3, of.value_bits, false};
    bry_allocator memory = bry__allocator_or_default(NULL);
    assert_true(bry__maplet_init(&maplet, &options, &memory));
    uint32_t mask = of.value_bits < 32 ? (1u << of.value_bits) - 1 : UINT32_MAX;
    for (uint64_t i = 0; i < of.n; i++)
        assert_int_equal(
            bry__maplet_add(&maplet, maplet_key(i), (uint32_t)(i * 2654435761u) & mask), BRY_OK);
    for (uint32_t i = 0; i < of.crowd; i++)
        assert_int_equal(bry__maplet_add(&maplet, maplet_key(1), i & mask), BRY_OK);
    bry_buffer saved = maplet_saved(&maplet);
    bry__maplet_free(&maplet);
    return saved;
}

/* Whether the changed bytes are accepted. Their heap block has exactly that size, for the
 * sanitizer. */
static unsigned accept_forged(unsigned char *forged, const bry_buffer *saved)
{
    repair_stream(forged, saved->len);
    if (memcmp(forged, saved->bytes, saved->len) == 0)
        return 0;
    bry__maplet loaded;
    bry_view view = {forged, saved->len, 0};
    bry_source source = bry_view_source(&view);
    bry_load how = BRY_LOAD;
    if (bry__maplet_load(&loaded, &source, &how) != BRY_OK) {
        assert_non_null(how.problem);
        return 0;
    }
    assert_int_equal(view.at, saved->len);
    maplet_check(&loaded);
    maplet_assert_saved(&loaded, &(bry_buffer){.bytes = forged, .len = saved->len});
    uint64_t n = bry__maplet_count(&loaded), removed = 0;
    for (uint64_t i = 0; i < 120; i++)
        removed += bry__maplet_del(&loaded, maplet_key(i));
    assert_true(removed <= n && bry__maplet_count(&loaded) == n - removed);
    maplet_check(&loaded);
    bry__maplet_free(&loaded);
    return 1;
}

TEST(test_every_forged_flip)
{
    static const shape shapes[] = {{200, 6, 100, 0}, {40, 0, 100, 0}, {40, 6, 100, 40}};
    unsigned accepted = 0, tried = 0;
    for (unsigned i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        bry_buffer saved = saved_of(shapes[i]);
        unsigned char *forged = malloc(saved.len);
        assert_non_null(forged);
        for (size_t bit = 8 * (size_t)HEADER; bit < 8 * saved.len; bit++, tried++) {
            memcpy(forged, saved.bytes, saved.len);
            forged[bit / 8] ^= (unsigned char)(1u << bit % 8);
            accepted += accept_forged(forged, &saved);
        }
        free(forged);
        bry_buffer_free(&saved);
    }
    assert_true(accepted > 0 && accepted < tried / 2);
}

/* Several bytes at once, including numbers that are far too large. */
TEST(test_forged_at_random)
{
    static const unsigned char extremes[] = {0, 1, 0x7f, 0x80, 0xff};
    static const shape shapes[] = {
        {5, 1, 40, 0}, {100, 16, 90, 30}, {300, 32, 250, 600}, {40, 3, 700, 20}};
    generator numbers = {9};
    for (unsigned i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        bry_buffer saved = saved_of(shapes[i]);
        unsigned char *forged = malloc(saved.len);
        assert_non_null(forged);
        for (unsigned round = 0; round < 1500; round++) {
            memcpy(forged, saved.bytes, saved.len);
            size_t at =
                HEADER + (size_t)generator_below(&numbers, round % 2 ? 256 : saved.len - HEADER);
            size_t count = 1 + (size_t)generator_below(&numbers, 8);
            for (size_t b = at; b < at + count && b < saved.len; b++)
                forged[b] = extremes[generator_below(&numbers, sizeof extremes)];
            accept_forged(forged, &saved);
        }
        free(forged);
        bry_buffer_free(&saved);
    }
}
