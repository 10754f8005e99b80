/* Segments of many shapes compared with a sorted array. */
#include "maplet/segment.h"

#include "kernel/kernel.h"
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
    if (a.u != b.u)
        return a.u < b.u ? -1 : 1;
    return a.value < b.value ? -1 : a.value > b.value;
}

static unsigned lower_bound(const beside *it, bry__entry entry)
{
    unsigned i = 0;
    while (i < it->n && order(it->entry[i], entry) < 0)
        i++;
    return i;
}

static uint32_t some_value(beside *it)
{
    uint32_t value = (uint32_t)generator_next(&it->numbers);
    if (value % 4 == 0)
        value = value >> 8 & 3;
    return it->value_bits < 32 ? value & ((1u << it->value_bits) - 1) : value;
}

static bry__entry some_entry(beside *it)
{
    uint64_t u = generator_next(&it->numbers);
    u = it->u_limit == UINT64_MAX ? u : u % (it->u_limit + 1);
    if (it->u_kinds)
        u = it->u_limit / it->u_kinds * (u % it->u_kinds);
    else if (u % 16 == 0)
        u = u % 32 ? 0 : it->u_limit;
    return (bry__entry){u, some_value(it)};
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

static void finish(beside *it)
{
    bry__segment_free(&it->segment, &it->home);
    assert_int_equal(it->memory.now, 0);
    assert_int_equal(it->memory.blocks, 0);
}

/* ---- comparing ---- */

static void compare_find(const beside *it, bry__entry entry)
{
    unsigned index = lower_bound(it, entry), count = 0;
    uint32_t value = 0;
    for (unsigned i = index; i < it->n; i++)
        count += it->entry[i].u == entry.u;
    bry__place place = bry__segment_find(&it->segment, it->u_most, entry.u, entry.value);
    assert_int_equal(place.index, index);
    assert_int_equal(place.count, count);
    if (count > 0) {
        assert_int_equal(place.value, it->entry[index].value);
        assert_int_equal(bry__segment_value(&it->segment, place.index), place.value);
    }
    if (it->n > 0)
        assert_int_equal(place.bit, index + (entry.u >> it->segment.remainder_bits));

    bry__entry smallest = {entry.u, 0};
    unsigned at = lower_bound(it, smallest);
    bool has = at < it->n && it->entry[at].u == entry.u;
    assert_int_equal(bry__segment_get(&it->segment, it->u_most, entry.u, &value), has);
    if (has)
        assert_int_equal(value, it->entry[at].value);
    bry__query queries[2] = {{&it->segment, it->u_most, entry.u},
                             {&it->segment, it->u_most, entry.u}};
    uint32_t values[2] = {0, 77};
    uint8_t answers[2] = {0, 1}; /* the second is answered already */
    bry__segment_prefetch_n(queries, 2);
    bry__segment_get_n(queries, 2, values, answers);
    assert_int_equal(answers[0], has);
    if (has)
        assert_int_equal(values[0], it->entry[at].value);
    assert_int_equal(answers[1], 1);
    assert_int_equal(values[1], 77);
}

static void compare_all(const beside *it)
{
    bry__segment_cursor cursor = {0};
    bry__entry entry;
    for (unsigned i = 0; i < it->n; i++) {
        assert_true(bry__segment_next(&it->segment, it->u_most, &cursor, &entry));
        assert_int_equal(entry.u, it->entry[i].u);
        assert_int_equal(entry.value, it->entry[i].value);
        assert_int_equal(bry__segment_value(&it->segment, i), entry.value);
    }
    assert_false(bry__segment_next(&it->segment, it->u_most, &cursor, &entry));
    assert_int_equal(it->segment.n, it->n);
    const char *problem = bry__segment_check(&it->segment, it->u_most, it->u_limit);
    if (problem)
        fail_msg("%s", problem);
    assert_int_equal(bry__segment_bytes(&it->segment), it->memory.now);
}

/* ---- changing both ---- */

static void insert(beside *it, bry__entry entry)
{
    bry__place place = bry__segment_find(&it->segment, it->u_most, entry.u, entry.value);
    unsigned index = lower_bound(it, entry);
    assert_int_equal(
        bry__segment_insert(&it->segment, it->u_most, place, entry, it->value_bits, &it->home),
        BRY_OK);
    memmove(it->entry + index + 1, it->entry + index, (it->n - index) * sizeof entry);
    it->entry[index] = entry;
    it->n++;
}

static void remove_at(beside *it, unsigned index)
{
    bry__entry entry = it->entry[index];
    bry__place place = bry__segment_find(&it->segment, it->u_most, entry.u, entry.value);
    assert_true(place.count > 0);
    bry__segment_remove(&it->segment, it->u_most, place, entry.u, &it->home);
    it->n--;
    unsigned first = lower_bound(it, entry); /* one of several equal entries */
    memmove(it->entry + first, it->entry + first + 1, (it->n - first) * sizeof entry);
}

static void change(beside *it, unsigned most, bool grows)
{
    uint64_t what = generator_below(&it->numbers, 100);
    if (it->n > 0 && (what < (grows ? 25u : 75u) || it->n == most))
        remove_at(it, (unsigned)generator_below(&it->numbers, it->n));
    else
        insert(it, some_entry(it));
    if (it->n > 0 && what % 8 == 0) { /* another value that keeps the order */
        unsigned i = (unsigned)generator_below(&it->numbers, it->n);
        uint32_t value = some_value(it);
        bry__entry entry = {it->entry[i].u, value};
        if (bry__segment_fits(&it->segment, value) &&
            (i == 0 || order(it->entry[i - 1], entry) <= 0) &&
            (i + 1 == it->n || order(entry, it->entry[i + 1]) <= 0)) {
            bry__segment_set_value(&it->segment, i, value);
            it->entry[i].value = value;
        }
    }
}

static void run(uint64_t u_most, unsigned value_bits, unsigned u_kinds, unsigned most,
                unsigned changes, uint64_t seed)
{
    static beside it;
    start(&it, u_most, value_bits, seed);
    it.u_kinds = u_kinds;
    bool grows = true;
    for (unsigned i = 0; i < changes; i++) {
        if (it.n == most || it.n == 0)
            grows = it.n == 0;
        change(&it, most, grows);
        compare_find(&it, some_entry(&it));
        if (it.n > 0)
            compare_find(&it, it.entry[generator_below(&it.numbers, it.n)]);
        if (i % 64 == 0)
            compare_all(&it);
    }
    compare_all(&it);
    while (it.n > 0)
        remove_at(&it, (unsigned)generator_below(&it.numbers, it.n));
    compare_all(&it);
    finish(&it);
}

/* ---- the tests ---- */

static const unsigned widths[] = {0, 1, 2, 5, 8, 12, 16, 24, 31, 32};
enum { WIDTHS = sizeof widths / sizeof widths[0] };

/* Every number of bits that u can have, with each width of values; so remainders of 1 to 56 bits.
 */
TEST(test_shapes)
{
    for (unsigned bits = 9; bits <= 62; bits++)
        for (unsigned w = 0; w < WIDTHS; w++)
            run((UINT64_C(1) << bits) - 1, widths[w], 0, 40 + bits * 3, 300, bits * 100 + w);
}

TEST(test_ranges_that_are_no_powers)
{
    generator numbers = {5};
    for (unsigned i = 0; i < 150; i++) {
        unsigned bits = 9 + (unsigned)generator_below(&numbers, 53);
        uint64_t u_most = (UINT64_C(1) << bits) + generator_below(&numbers, UINT64_C(1) << bits);
        run(u_most, widths[i % WIDTHS], 0, 50 + i * 3, 500, i);
    }
}

/* Up to the capacity of a segment; remainders of one bit with more entries than quotients. */
TEST(test_full_segments)
{
    static const struct {
        uint64_t u_most;
        unsigned value_bits, u_kinds;
    } shapes[] = {{511, 12, 0},
                  {513, 0, 0},
                  {1000, 32, 0},
                  {4095, 1, 7},
                  {70000, 8, 1},
                  {UINT64_C(1) << 40, 16, 0},
                  {(UINT64_C(1) << 62) - 1, 32, 0},
                  {UINT64_C(3) << 50, 3, 3}};
    for (unsigned i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        run(shapes[i].u_most, shapes[i].value_bits, shapes[i].u_kinds, BRY__SEGMENT_MAX, 4000, i);
}

/* The same operations with every instruction set give the same bytes. */
TEST(test_instruction_sets_agree)
{
    bry__isa before = bry__kernels()->isa;
    static beside first, other;
    for (unsigned w = 0; w < WIDTHS; w++) {
        bool have = false;
        for (int isa = 0; isa < BRY__ISA_COUNT; isa++) {
            if (!bry__kernel_force((bry__isa)isa))
                continue;
            beside *it = have ? &other : &first;
            start(it, UINT64_C(1) << (20 + 3 * w), widths[w], w);
            for (unsigned i = 0; i < 1500; i++)
                change(it, 1000, i < 1200);
            compare_all(it);
            if (have) {
                assert_int_equal(first.n, other.n);
                assert_int_equal(bry__segment_bytes(&first.segment),
                                 bry__segment_bytes(&other.segment));
                assert_memory_equal(first.segment.bytes, other.segment.bytes,
                                    bry__segment_bytes(&first.segment));
                finish(&other);
            }
            have = true;
        }
        finish(&first);
    }
    bry__kernel_force(before);
}

TEST(test_write)
{
    static beside it;
    static const unsigned counts[] = {0, 1, 2, 63, 64, 65, 127, 128, 129, 384, 1000, 2047, 2048};
    for (unsigned i = 0; i < sizeof counts / sizeof counts[0] * 4; i++) {
        unsigned n = counts[i / 4];
        start(&it, (UINT64_C(1) << (11 + 13 * (i % 4))) - 3, widths[i % WIDTHS], i);
        while (it.n < n) {
            bry__entry entry = some_entry(&it);
            unsigned at = lower_bound(&it, entry);
            memmove(it.entry + at + 1, it.entry + at, (it.n - at) * sizeof entry);
            it.entry[at] = entry;
            it.n++;
        }
        if (n > 0) {
            it.memory.fail_at = 1;
            assert_int_equal(
                bry__segment_write(&it.segment, it.u_most, it.entry, n, it.value_bits, &it.home),
                BRY_E_NOMEM);
            it.memory.fail_at = 0;
        }
        assert_int_equal(
            bry__segment_write(&it.segment, it.u_most, it.entry, n, it.value_bits, &it.home),
            BRY_OK);
        compare_all(&it);
        for (unsigned j = 0; j < n; j += 1 + n / 50)
            compare_find(&it, it.entry[j]);
        finish(&it);
    }
}

TEST(test_widen)
{
    static beside it;
    for (unsigned from = 0; from < 32; from += 3) {
        for (unsigned to = from; to <= 32; to += 5) {
            start(&it, UINT64_C(1) << 30, from, from);
            for (unsigned i = 0; i < 200; i++)
                insert(&it, some_entry(&it));
            failing_allocator_restart(&it.memory);
            it.memory.fail_at = 1;
            bry_status status = bry__segment_rewrite(&it.segment, it.u_most, NULL, to, &it.home);
            assert_int_equal(status, to > from ? BRY_E_NOMEM : BRY_OK);
            compare_all(&it);
            it.memory.fail_at = 0;
            assert_int_equal(bry__segment_rewrite(&it.segment, it.u_most, NULL, to, &it.home),
                             BRY_OK);
            assert_int_equal(it.segment.value_bits, to);
            compare_all(&it);
            it.value_bits = to;
            for (unsigned i = 0; i < 100; i++)
                insert(&it, some_entry(&it));
            compare_all(&it);
            finish(&it);
        }
        /* An insertion widens too. */
        start(&it, UINT64_C(1) << 30, from, from);
        for (unsigned i = 0; i < 100; i++)
            insert(&it, some_entry(&it));
        it.value_bits = 32;
        insert(&it, (bry__entry){77, UINT32_MAX});
        assert_int_equal(it.segment.value_bits, 32);
        compare_all(&it);
        finish(&it);
    }
}

TEST(test_clone)
{
    static beside it, copy;
    for (unsigned n = 0; n < 700; n += 1 + n / 2) {
        start(&it, 1 << 20, 9, n);
        for (unsigned i = 0; i < n; i++)
            insert(&it, some_entry(&it));
        it.segment.spilled = n & 1;
        start(&copy, it.u_most, 9, 0);
        bry__segment untouched = copy.segment;
        if (n > 0) {
            copy.memory.fail_at = 1;
            assert_int_equal(bry__segment_clone(&it.segment, it.u_most, &copy.segment, &copy.home),
                             BRY_E_NOMEM);
            assert_memory_equal(&copy.segment, &untouched, sizeof untouched);
        }
        copy.memory.fail_at = 0;
        assert_int_equal(bry__segment_clone(&it.segment, it.u_most, &copy.segment, &copy.home),
                         BRY_OK);
        assert_int_equal(copy.segment.spilled, n & 1);
        copy.n = it.n;
        memcpy(copy.entry, it.entry, sizeof it.entry);
        compare_all(&copy);
        assert_int_equal(copy.segment.bytes == it.segment.bytes, n == 0);
        insert(&it, some_entry(&it)); /* one does not follow the other */
        compare_all(&copy);
        compare_all(&it);
        finish(&copy);
        finish(&it);
    }
}

/* Without memory an insertion changes nothing, and a removal succeeds nevertheless. */
TEST(test_without_memory)
{
    static beside it;
    start(&it, UINT64_C(1) << 33, 12, 9);
    unsigned refused = 0;
    for (unsigned i = 0; i < 1500; i++) {
        bry__entry entry = some_entry(&it);
        bry__place place = bry__segment_find(&it.segment, it.u_most, entry.u, entry.value);
        failing_allocator_restart(&it.memory);
        it.memory.fail_at = 1;
        bry_status status =
            bry__segment_insert(&it.segment, it.u_most, place, entry, it.value_bits, &it.home);
        assert_int_equal(status, it.memory.calls ? BRY_E_NOMEM : BRY_OK);
        it.memory.fail_at = 0;
        if (status != BRY_OK) {
            refused++;
            compare_all(&it);
            insert(&it, entry);
            continue;
        }
        unsigned index = lower_bound(&it, entry);
        memmove(it.entry + index + 1, it.entry + index, (it.n - index) * sizeof entry);
        it.entry[index] = entry;
        it.n++;
    }
    assert_true(refused > 20);
    it.memory.fail_at = 1;
    it.memory.keep_failing = true;
    while (it.n > 0) {
        failing_allocator_restart(&it.memory);
        remove_at(&it, (unsigned)generator_below(&it.numbers, it.n));
        if (it.n % 16 == 0)
            compare_all(&it);
    }
    finish(&it);
}

/* A segment that has lost most of its entries is not much larger than one that never had them. */
TEST(test_memory_comes_back)
{
    static beside it;
    start(&it, (1 << 14) - 1, 0, 12);
    while (it.n < 2000)
        insert(&it, some_entry(&it));
    while (it.n > 1) {
        remove_at(&it, (unsigned)generator_below(&it.numbers, it.n));
        double fresh = bry__segment_plan_bytes(it.n, it.u_most, 0);
        assert_true((double)bry__segment_bytes(&it.segment) <= 1.3 * fresh + 64);
    }
    compare_all(&it);
    finish(&it);
}

TEST(test_plan)
{
    static beside it;
    for (unsigned n = 100; n <= 2000; n += 380) {
        double bytes = 0, planned = 0;
        for (unsigned i = 0; i < 20; i++) {
            start(&it, UINT64_C(1) << (20 + i), 12, n + i);
            while (it.n < n + i)
                insert(&it, some_entry(&it));
            bytes += (double)bry__segment_bytes(&it.segment);
            planned += bry__segment_plan_bytes(it.n, it.u_most, 12);
            finish(&it);
        }
        assert_true(planned > bytes * 0.97 && planned < bytes * 1.03);
    }
}

/* ---- damage ---- */

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
        while (it.n < n)
            insert(&it, some_entry(&it));
        for (unsigned j = 0; j < n / 4; j++)
            remove_at(&it, (unsigned)generator_below(&it.numbers, it.n));
        compare_all(&it);
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
        while (it.n < 3 + i * 20)
            insert(&it, some_entry(&it));
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
