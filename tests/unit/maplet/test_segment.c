/* Blocks of segments with altered bits and numbers: what a load accepts can be read. The model of
 * maplets tests the rest. */
#include "maplet/segment.h"

#include "support/cmocka_all.h"
#include "support/failing_allocator.h"
#include "support/generator.h"

#include <stdlib.h>
#include <string.h>

/* The segment, its exact contents, and its limits. */
typedef struct beside {
    failing_allocator memory;
    generator numbers;
    bry__home home; /* by itself */
    bry__segment segment;
    uint64_t u_most, u_limit;
    unsigned value_bits;
    unsigned u_kinds; /* the number of different u; 0: all */
    unsigned n;
    bry__entry entry[BRY__SEGMENT_MAX];
} beside;

static int order(bry__entry a, bry__entry b)
{
    return bry__entry_compare(&a, &b);
}

static bry__entry some_entry(beside *it)
{
    uint64_t u = generator_next(&it->numbers) % (it->u_limit + 1);
    uint32_t value = (uint32_t)generator_next(&it->numbers);
    if (it->u_kinds)
        u = it->u_limit / it->u_kinds * (u % it->u_kinds);
    else if (u % 16 == 0)
        u = u % 32 ? 0 : it->u_limit;
    if (value % 4 == 0)
        value = value >> 8 & 3;
    return (bry__entry){u, it->value_bits < 32 ? value & ((1u << it->value_bits) - 1) : value};
}

static void start(beside *it, uint64_t u_most, unsigned value_bits, uint64_t seed)
{
    memset(it, 0, sizeof *it);
    failing_allocator_init(&it->memory);
    it->home.allocator = &it->memory.allocator;
    it->numbers = (generator){seed};
    it->u_most = it->u_limit = u_most;
    it->value_bits = value_bits;
}

/* n entries. */
static void fill(beside *it, unsigned n)
{
    while (it->n < n)
        it->entry[it->n++] = some_entry(it);
    qsort(it->entry, n, sizeof *it->entry, bry__entry_compare);
    assert_int_equal(
        bry__segment_write(&it->segment, it->u_most, it->entry, n, it->value_bits, &it->home),
        BRY_OK);
}

/* Its block keeps the place, if it is not much. */
static void remove_last(beside *it)
{
    bry__entry last = it->entry[--it->n];
    bry__place place = bry__segment_find(&it->segment, it->u_most, last.u, last.value);
    bry__segment_remove(&it->segment, it->u_most, place, last.u, &it->home);
}

static void finish(beside *it)
{
    bry__segment_free(&it->segment, &it->home);
    assert_int_equal(it->memory.now, 0);
    assert_int_equal(it->memory.blocks, 0);
}

static const unsigned widths[] = {0, 1, 2, 5, 8, 12, 16, 24, 31, 32};
enum { WIDTHS = sizeof widths / sizeof widths[0] };

/* Whether the entries are still in order and in range with bit `bit` of slot `i` flipped. Then no
 * check can detect it. */
static bool still_valid(const beside *it, unsigned i, unsigned bit)
{
    bry__entry entry = it->entry[i];
    if (bit < it->segment.remainder_bits)
        entry.u ^= UINT64_C(1) << bit;
    else
        entry.value ^= 1u << (bit - it->segment.remainder_bits);
    return entry.u <= it->u_limit && (i == 0 || order(it->entry[i - 1], entry) <= 0) &&
           (i + 1 == it->n || order(entry, it->entry[i + 1]) <= 0);
}

/* Of all single bit flips in a block, exactly those within slots that keep order and range pass. */
static void flip_every_bit(beside *it)
{
    unsigned slot = (unsigned)it->segment.remainder_bits + it->segment.value_bits;
    uint64_t end = 8 * (uint64_t)bry__segment_bytes(&it->segment);
    uint64_t slots = end - (uint64_t)it->n * slot, passed = 0;
    for (uint64_t bit = 0; bit < end; bit++) {
        unsigned char *byte = &it->segment.bytes[bit / 8];
        *byte ^= (unsigned char)(1u << bit % 8);
        bool accepted = bry__segment_check(&it->segment, it->u_most, it->u_limit) == NULL;
        *byte ^= (unsigned char)(1u << bit % 8);
        bool expected = false;
        if (bit >= slots) {
            unsigned index = (unsigned)((end - 1 - bit) / slot);
            expected = still_valid(it, index, (unsigned)(bit - (end - (index + 1ull) * slot)));
        }
        if (accepted != expected)
            fail_msg("bit %ju of %ju, slots from %ju: %s", (uintmax_t)bit, (uintmax_t)end,
                     (uintmax_t)slots, accepted ? "accepted" : "rejected");
        passed += accepted;
    }
    if (it->segment.value_bits > 1 && !it->u_kinds)
        assert_true(passed > 0); /* otherwise the comparison says little */
}

TEST(test_every_flip)
{
    static beside it;
    for (unsigned i = 0; i < 60; i++) {
        start(&it, (UINT64_C(1) << (9 + i % 5 * 13)) + 5 * i, widths[i % WIDTHS], i);
        it.u_limit -= i % 3;
        it.u_kinds = i % 4 == 3 ? 9 : 0;
        unsigned n = 1 + i * 5 + (i == 50 ? 700 : 0);
        fill(&it, n);
        for (unsigned j = 0; j < n / 4; j++)
            remove_last(&it);
        flip_every_bit(&it);
        finish(&it);
    }
}

/* A block that passes the check can be read: entries are in order and in range, and each is
 * found. */
static void assert_consistent(const bry__segment *segment, uint64_t u_most, uint64_t u_limit)
{
    bry__segment_cursor cursor = {0};
    bry__entry entry, last = {0, 0};
    unsigned n = 0;
    while (bry__segment_next(segment, u_most, &cursor, &entry)) {
        assert_true(entry.u <= u_limit && order(last, entry) <= 0);
        bry__place place = bry__segment_find(segment, u_most, entry.u, entry.value);
        assert_true(place.count > 0 && place.index <= n);
        last = entry;
        n++;
    }
    assert_int_equal(n, segment->n);
}

/* The numbers beside the block, as a file might have them. A block never has fewer bytes than its
 * steps say: its reader must ensure that. */
TEST(test_wrong_numbers)
{
    static beside it;
    unsigned rejected = 0, tried = 0;
    for (unsigned i = 0; i < 24; i++) {
        start(&it, (UINT64_C(1) << (10 + i % 6 * 10)) - 1 - i % 3, widths[i % WIDTHS], i);
        fill(&it, 3 + i * 20);
        bry__segment right = it.segment;
        for (unsigned what = 0; what < 4; what++) {
            unsigned most = what == 0 ? 65535 : what == 1 ? right.steps : 255;
            for (unsigned number = 0; number <= most; number++) {
                bry__segment wrong = right;
                uint16_t *longs[2] = {&wrong.n, &wrong.steps};
                uint8_t *shorts[2] = {&wrong.remainder_bits, &wrong.value_bits};
                if (what < 2)
                    *longs[what] = (uint16_t)number;
                else
                    *shorts[what - 2] = (uint8_t)number;
                if (memcmp(&wrong, &right, sizeof right) == 0)
                    continue;
                tried++;
                if (bry__segment_check(&wrong, it.u_most, it.u_limit))
                    rejected++;
                else
                    assert_consistent(&wrong, it.u_most, it.u_limit);
                /* A wrong count never passes. */
                if (what == 0)
                    assert_non_null(bry__segment_check(&wrong, it.u_most, it.u_limit));
            }
        }
        bry__segment wrong = {.n = right.n, .steps = right.steps};
        assert_non_null(bry__segment_check(&wrong, it.u_most, it.u_limit)); /* no block */
        /* A limit below the largest u. */
        assert_non_null(bry__segment_check(&right, it.u_most, it.entry[it.n - 1].u - 1));
        finish(&it);
    }
    assert_true(rejected > tried - tried / 100);
    bry__segment empty = {0};
    assert_null(bry__segment_check(&empty, 1000, 1000));
    empty.spilled = 1;
    assert_null(bry__segment_check(&empty, 1000, 1000));
    for (unsigned number = 1; number < 256; number++) { /* the first entry would be put by these */
        bry__segment wrong = {.remainder_bits = (uint8_t)number};
        assert_non_null(bry__segment_check(&wrong, 1000, 1000));
        wrong = (bry__segment){.steps = (uint16_t)number};
        assert_non_null(bry__segment_check(&wrong, 1000, 1000));
    }
    for (unsigned bits = 0; bits < 256; bits++) {
        bry__segment wide = {.value_bits = (uint8_t)bits};
        assert_int_equal(bry__segment_check(&wide, 1000, 1000) != NULL, bits > 32);
    }
}

/* Garbage of the right size. */
TEST(test_rubbish)
{
    generator numbers = {77};
    for (unsigned i = 0; i < 20000; i++) {
        unsigned bits = 9 + (unsigned)generator_below(&numbers, 54);
        uint64_t u_most = (UINT64_C(1) << bits) - 1;
        bry__segment segment = {.n = (uint16_t)generator_below(&numbers, 60)};
        segment.steps = (uint16_t)generator_below(&numbers, 40);
        segment.remainder_bits = (uint8_t)generator_below(&numbers, 64);
        segment.value_bits = (uint8_t)generator_below(&numbers, 40);
        size_t size = bry__segment_block(segment.steps);
        segment.bytes = malloc(size);
        assert_non_null(segment.bytes);
        memset(segment.bytes, 0, size);
        if (i % 4)
            generator_fill(&numbers, segment.bytes, i % 4 == 1 ? size : size / 3);
        if (!bry__segment_check(&segment, u_most, u_most))
            assert_consistent(&segment, u_most, u_most);
        free(segment.bytes);
    }
}
