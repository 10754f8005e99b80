/* Encoded segments compared with segments built from the same entries. */
#include "kernel/kernel.h"
#include "maplet/segment_layout.h"

#include "support/cmocka_all.h"
#include "support/failing_allocator.h"
#include "support/generator.h"

#include <stdlib.h>
#include <string.h>

#define GUARD 16u
#define NAMES 1024u

static bry_allocator memory;
static const bry__home home = {.allocator = &memory};
static bry__entry entries[BRY__SEGMENT_MAX];
static unsigned char record[2 * GUARD + BRY__SEGMENT_RECORD_MOST];

static bry__segment build(const bry__entry *from, unsigned n, uint64_t u_most, unsigned value_bits)
{
    bry__segment made = {0};
    for (unsigned i = 0; i < n; i++)
        assert_int_equal(
            bry__segment_insert(&made, u_most,
                                bry__segment_find(&made, u_most, from[i].u, from[i].value), from[i],
                                value_bits, &home),
            BRY_OK);
    return made;
}

/* Whether the record equals a segment of these entries. */
static void compare_record(const bry__entry *from, unsigned n, uint64_t u_most, unsigned value_bits,
                           const bry__segment_layout *layout)
{
    bry__segment segment = build(from, n, u_most, value_bits);
    assert_int_equal(layout->remainder_bits, segment.remainder_bits);
    if (n > 0) {
        assert_memory_equal(record + GUARD, segment.bytes, layout->front);
        assert_memory_equal(record + GUARD + layout->front,
                            segment.bytes + bry__segment_bytes(&segment) - layout->slots,
                            layout->slots);
    }
    bry__segment_free(&segment, &home);
}

/* Entries with many equal u, quotients or values. */
static void draw(generator *numbers, unsigned n, uint64_t u_most, unsigned value_bits)
{
    for (unsigned i = 0; i < n; i++) {
        uint64_t u = generator_next(numbers) % (u_most + 1);
        if (i > 0 && generator_below(numbers, 4) == 0)
            u = entries[i - 1].u;
        uint32_t value = (uint32_t)generator_next(numbers);
        entries[i] = (bry__entry){u, value_bits < 32 ? value & ((1u << value_bits) - 1) : value};
    }
    qsort(entries, n, sizeof *entries, bry__entry_compare);
}

static const unsigned counts[] = {1, 2, 63, 64, 65, 127, 128, 129, 384, 1000, 2047, 2048};
static const uint64_t ranges[] = {
    511, 1021, 8191, 1 << 20, (UINT64_C(1) << 34) - 3, (UINT64_C(1) << 61) + 5};

#define LENGTH(array) ((unsigned)(sizeof(array) / sizeof *(array)))
/* Removes one digit of a number that enumerates all combinations. */
#define DIGIT(number, array) ((array)[pick(&(number), LENGTH(array))])

static unsigned pick(unsigned *number, unsigned of)
{
    unsigned digit = *number % of;
    *number /= of;
    return digit;
}

TEST(test_entries)
{
    generator numbers = {1};
    static const unsigned widths[] = {0, 1, 5, 8, 13, 31, 32};
    for (unsigned i = 0; i < LENGTH(counts) * LENGTH(ranges) * LENGTH(widths); i++) {
        unsigned which = i, n = DIGIT(which, counts), value_bits = DIGIT(which, widths);
        uint64_t u_most = DIGIT(which, ranges);
        bry__segment_layout layout = bry__segment_layout_of(n, u_most, value_bits);
        unsigned char *front = record + GUARD, *end = front + layout.front + layout.slots;
        draw(&numbers, n, u_most, value_bits);
        memset(record, 0xa5, sizeof record);
        bry__segment_encode(entries, n, u_most, value_bits, &layout, front, front + layout.front);
        compare_record(entries, n, u_most, value_bits, &layout);
        for (unsigned j = 0; j < GUARD; j++) {
            assert_int_equal(record[j], 0xa5);
            assert_int_equal(end[j], 0xa5);
        }
    }
}

/* The names: equal, higher by 3, or unordered; and the share of values without a name. */
typedef enum naming { SAME, HIGHER, DISORDER } naming;

static void give_names(generator *numbers, naming how, unsigned value_bits, unsigned gone,
                       uint32_t *name)
{
    uint32_t n = 1u << value_bits;
    for (uint32_t i = 0; i < n; i++)
        name[i] = i + (how == HIGHER ? 3 : 0);
    for (uint32_t i = n; how == DISORDER && i-- > 1;) {
        uint32_t j = (uint32_t)generator_below(numbers, i + 1), was = name[i];
        name[i] = name[j];
        name[j] = was;
    }
    for (uint32_t i = 0; i < n; i++)
        if (generator_below(numbers, 100) < gone)
            name[i] = BRY__NOT_KEPT;
}

static void count_told(void *context, uint32_t value)
{
    ((uint64_t *)context)[value]++;
}

/* The remaining entries in order, with names as values. */
static unsigned keep(const uint32_t *name, bool named, unsigned n, bry__entry *to)
{
    unsigned left = 0;
    for (unsigned i = 0; i < n; i++) {
        uint32_t value = entries[i].value;
        if (name[value] != BRY__NOT_KEPT)
            to[left++] = (bry__entry){entries[i].u, named ? name[value] : value};
    }
    return left;
}

static bool same_entry(bry__entry a, bry__entry b)
{
    return a.u == b.u && a.value == b.value;
}

/* Reading with names and dropping the others gives the remaining entries. */
static void compare_dropped(unsigned n, uint64_t u_most, unsigned value_bits, const uint32_t *name)
{
    static bry__entry expected[BRY__SEGMENT_MAX], read[BRY__SEGMENT_MAX];
    bry__segment segment = build(entries, n, u_most, value_bits);
    bry__kept_values names = bry__keep_named(name, 1u << value_bits);
    unsigned left = keep(name, true, n, expected);
    assert_int_equal(bry__segment_read_named(&segment, u_most, &names, read), left);
    for (unsigned i = 0; i < left; i++)
        assert_true(same_entry(read[i], expected[i]));

    uint64_t told[NAMES] = {0};
    keep(name, false, n, expected);
    segment.spilled = n % 2;
    assert_int_equal(
        bry__segment_drop_nameless(&segment, u_most, &names, value_bits, count_told, told, &home),
        BRY_OK);
    for (unsigned i = 0; i < n; i++)
        if (name[entries[i].value] == BRY__NOT_KEPT)
            told[entries[i].value]--;
    for (unsigned i = 0; i < NAMES; i++)
        assert_int_equal(told[i], 0);
    assert_int_equal(segment.spilled, n % 2);
    segment.spilled = 0;
    bry__segment made = build(expected, left, u_most, value_bits);
    if (left < n) { /* else it stays as it is */
        assert_int_equal(segment.n, made.n);
        assert_int_equal(segment.steps, made.steps);
        assert_int_equal(segment.remainder_bits, made.remainder_bits);
        assert_int_equal(bry__segment_bytes(&segment), bry__segment_bytes(&made));
        if (left > 0)
            assert_memory_equal(segment.bytes, made.bytes, bry__segment_bytes(&made));
    }
    bry__segment_free(&made, &home);
    bry__segment_free(&segment, &home);
}

/* Whether the segment could be written with names; otherwise the caller must do it. */
static bool compare_named(unsigned n, uint64_t u_most, unsigned value_bits, naming how,
                          const uint32_t *name)
{
    static bry__entry expected[BRY__SEGMENT_MAX];
    bry__segment segment = build(entries, n, u_most, value_bits);
    bry__segment_layout layout;
    unsigned written, wide = value_bits + (how == HIGHER);
    bry__names names = {.of = bry__keep_named(name, 1u << value_bits),
                        .rising = how != DISORDER,
                        .same = how == SAME};
    bool done = bry__segment_encode_named(&segment, u_most, &names, wide, record + GUARD, &written,
                                          &layout);
    unsigned left = keep(name, true, n, expected);
    if (done) {
        qsort(expected, left, sizeof *expected, bry__entry_compare);
        assert_int_equal(written, left);
        compare_record(expected, left, u_most, wide, &layout);
    }
    bry__segment_free(&segment, &home);
    return done;
}

static void name_all(void)
{
    generator numbers = {2};
    static const unsigned widths[] = {2, 5, 10}, gone[] = {0, 5, 50, 100};
    static const naming how[] = {SAME, HIGHER, DISORDER};
    static uint32_t name[NAMES];
    unsigned combinations =
        LENGTH(counts) * LENGTH(ranges) * LENGTH(widths) * LENGTH(gone) * LENGTH(how);
    unsigned done = 0;
    for (unsigned i = 0; i < combinations; i++) {
        unsigned which = i, n = DIGIT(which, counts), value_bits = DIGIT(which, widths);
        unsigned share = DIGIT(which, gone);
        uint64_t u_most = DIGIT(which, ranges);
        naming kind = DIGIT(which, how);
        draw(&numbers, n, u_most, value_bits);
        give_names(&numbers, kind, value_bits, share, name);
        bool one = compare_named(n, u_most, value_bits, kind, name);
        compare_dropped(n, u_most, value_bits, name);
        /* If nothing is dropped and the order stays, it must be possible. */
        if (share == 0 && kind != DISORDER && u_most < UINT64_C(1) << 40)
            assert_true(one);
        done += one;
    }
    assert_true(done > combinations / 2);
}

TEST(test_names)
{
    bry__isa used = bry__kernels()->isa;
    for (int isa = 0; isa < BRY__ISA_COUNT; isa++)
        if (bry__kernel_force((bry__isa)isa))
            name_all();
    assert_true(bry__kernel_force(used));
}

/* Without memory entries are dropped nevertheless, and the block stays. If values get wider, nothing
 * happens. */
TEST(test_no_memory_to_drop)
{
    static uint32_t name[NAMES];
    static bry__entry expected[BRY__SEGMENT_MAX], read[BRY__SEGMENT_MAX];
    generator numbers = {3};
    failing_allocator counting;
    failing_allocator_init(&counting);
    counting.keep_failing = true;
    counting.fail_at = 1;
    bry__home without = {.allocator = &counting.allocator};
    draw(&numbers, 500, 1 << 20, 5);
    give_names(&numbers, SAME, 5, 20, name);
    bry__kept_values names = bry__keep_named(name, 32);
    bry__segment segment = build(entries, 500, 1 << 20, 5), before = segment;
    uint64_t told[NAMES] = {0};
    assert_int_equal(
        bry__segment_drop_nameless(&segment, 1 << 20, &names, 32, count_told, told, &without),
        BRY_E_NOMEM);
    assert_memory_equal(&segment, &before, sizeof segment);
    for (unsigned i = 0; i < NAMES; i++)
        assert_int_equal(told[i], 0);
    assert_int_equal(
        bry__segment_drop_nameless(&segment, 1 << 20, &names, 5, count_told, told, &without),
        BRY_OK);
    unsigned left = keep(name, false, 500, expected);
    assert_int_equal(segment.n, left);
    assert_int_equal(segment.steps, before.steps);
    bry__segment_read(&segment, 1 << 20, read);
    for (unsigned i = 0; i < left; i++)
        assert_true(same_entry(read[i], expected[i]));
    assert_null(bry__segment_check(&segment, 1 << 20, 1 << 20));
    bry__segment_free(&segment, &home);
}

/* The same for a segment whose copy would have to be allocated. */
TEST(test_no_memory_to_drop_from_a_large_one)
{
    enum { N = 2000, VALUE_BITS = 30 };
    uint64_t u_most = (uint64_t)1 << 50;
    static uint32_t name[NAMES];
    static bry__entry expected[BRY__SEGMENT_MAX], read[BRY__SEGMENT_MAX];
    generator numbers = {4};
    failing_allocator counting;
    failing_allocator_init(&counting);
    counting.keep_failing = true;
    counting.fail_at = 1;
    bry__home without = {.allocator = &counting.allocator};
    draw(&numbers, N, u_most, 5);
    give_names(&numbers, SAME, 5, 20, name);
    bry__kept_values names = bry__keep_named(name, 32);
    bry__segment segment = build(entries, N, u_most, VALUE_BITS), before = segment;
    uint64_t told[NAMES] = {0}, all = 0;
    assert_true(bry__segment_bytes(&segment) > sizeof(((bry__segment_copy *)NULL)->bytes));
    assert_int_equal(bry__segment_rewrite(&segment, u_most, NULL, VALUE_BITS - 5, &without),
                     BRY_E_NOMEM);
    assert_memory_equal(&segment, &before, sizeof segment);
    assert_int_equal(bry__segment_drop_nameless(&segment, u_most, &names, VALUE_BITS, count_told,
                                                told, &without),
                     BRY_OK);
    unsigned left = keep(name, false, N, expected);
    for (unsigned i = 0; i < NAMES; i++)
        all += told[i];
    assert_int_equal(segment.n, left);
    assert_int_equal(all, N - left);
    bry__segment_read(&segment, u_most, read);
    for (unsigned i = 0; i < left; i++)
        assert_true(same_entry(read[i], expected[i]));
    assert_null(bry__segment_check(&segment, u_most, u_most));
    bry__segment_free(&segment, &home);
}

int main(void)
{
    memory = bry__allocator_or_default(NULL);
    return run_all_tests(NULL, NULL);
}
