/* The foundations: statuses with fixed numbers and words, memory, sizes, byte order. */
#include "common/allocator.h"
#include "common/checked.h"
#include "common/cpu.h"
#include "common/endian.h"
#include "common/random.h"
#include "common/struct_size.h"
#include "support/cmocka_all.h"
#include "support/failing_allocator.h"
#include "support/generator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A second copy, so that a change in base.h is noticed: programs and files rely on these values.
 */
static const struct {
    bry_status status;
    int value;
    const char *word, *text;
} pinned[] = {
    {BRY_OK, 0, "OK", "done"},
    {BRY_E_NOMEM, -1, "NOMEM", "out of memory"},
    {BRY_E_RANGE, -2, "RANGE", "an argument is out of range"},
    {BRY_E_FULL, -3, "FULL", "the capacity or the memory limit is reached"},
    {BRY_E_MISMATCH, -4, "MISMATCH",
     "engine, seed or shape differ; create one object with the other's options"},
    {BRY_E_UNSURE, -5, "UNSURE", "the stored value is ambiguous, so nothing was changed"},
    {BRY_E_BADDATA, -6, "BADDATA", "the data is damaged, truncated or not Bloomery's"},
    {BRY_E_VERSION, -7, "VERSION",
     "the data was written in a format that this build does not read"},
    {BRY_E_LIMIT, -8, "LIMIT", "the data needs more memory than the limit allows"},
    {BRY_E_IO, -9, "IO", "reading or writing failed; see errno"},
    {BRY_E_NOUNIT, -10, "NOUNIT", "there is no such unit"},
    {BRY_E_UNSUPPORTED, -11, "UNSUPPORTED",
     "not supported by this engine, or for this kind of values"},
    {BRY_E_STOPPED, -12, "STOPPED", "a callback asked to stop"},
    {BRY_E_SEALED, -13, "SEALED", "the unit is sealed and accepts no more elements"},
    {BRY_E_SKEW, -14, "SKEW", "the time is further ahead than max_skew allows"},
    {BRY_E_OVERFLOW, -15, "OVERFLOW", "a counter would overflow 64 bits"},
    {BRY_E_TOOLONG, -16, "TOOLONG", "a name, value, note or batch is too long"},
    {BRY_E_NOTFOUND, -17, "NOTFOUND", "there is no such map or table"},
    {BRY_E_WRONGTYPE, -18, "WRONGTYPE", "the key holds another type"},
};
enum { PINNED = sizeof pinned / sizeof pinned[0] };

TEST(test_statuses_are_pinned)
{
    for (int i = 0; i < PINNED; i++) {
        assert_int_equal(pinned[i].status, pinned[i].value);
        assert_string_equal(bry_status_word(pinned[i].status), pinned[i].word);
        assert_string_equal(bry_status_text(pinned[i].status), pinned[i].text);
    }
    int listed = 1;
#define COUNT(name, value) listed++;
    BRY_STATUS_LIST(COUNT)
#undef COUNT
    assert_int_equal(listed, PINNED);
}

TEST(test_unknown_statuses)
{
    static const int unknown[] = {1, -PINNED, -1000};
    for (int i = 0; i < 3; i++) {
        assert_string_equal(bry_status_word((bry_status)unknown[i]), "UNKNOWN");
        assert_string_equal(bry_status_text((bry_status)unknown[i]), "unknown status");
    }
}

TEST(test_answers_are_pinned)
{
    assert_int_equal(BRY_ABSENT, 0);
    assert_int_equal(BRY_PRESENT, 1);
    assert_int_equal(BRY_UNSURE, 2);
}

TEST(test_engines)
{
    static const char *const names[] = {"auto", "bloom", "compact", "kbf", "fbf", "dba"};
    for (int i = 0; i < 6; i++) {
        bry_engine engine = (bry_engine)99;
        assert_string_equal(bry_engine_name((bry_engine)i), names[i]);
        assert_int_equal(bry_engine_parse(names[i], &engine), BRY_OK);
        assert_int_equal(engine, i);
    }
    assert_int_equal(BRY_ENGINE_DBA, 5);
    assert_null(bry_engine_name((bry_engine)99));
    assert_null(bry_engine_name((bry_engine)-1));

    static const char *const not_names[] = {"", "Bloom", "bloom ", "blo", "bloomy"};
    for (int i = 0; i < 5; i++) {
        bry_engine engine = (bry_engine)99;
        assert_int_equal(bry_engine_parse(not_names[i], &engine), BRY_E_RANGE);
        assert_int_equal(engine, 99);
    }
}

TEST(test_version_is_the_headers)
{
    char expected[64];
    snprintf(expected, sizeof expected, "%d.%d.%d%s", BRY_VERSION_MAJOR, BRY_VERSION_MINOR,
             BRY_VERSION_PATCH, BRY_VERSION_RELEASE ? "" : "-dev");
    assert_string_equal(bry_version(), expected);
}

/* ---- memory ---- */

TEST(test_memory_is_cleared_and_given_back)
{
    failing_allocator memory; /* returns dirty memory and checks every size on free */
    failing_allocator_init(&memory);
    for (size_t size = 0; size < 300; size++) {
        unsigned char *block = bry__alloc(&memory.allocator, size);
        assert_non_null(block);
        assert_int_equal(memory.now, size ? size : 1);
        assert_true(bry__all_zero(block, size ? size : 1));
        bry__free(&memory.allocator, block, size);
        assert_int_equal(memory.now, 0);
    }
    bry__free(&memory.allocator, NULL, 17);
    bry__free_lines(&memory.allocator, NULL, 17);
}

/* Hands out addresses at every offset that an allocator over malloc may have. */
typedef struct shifted {
    _Alignas(64) unsigned char room[1024];
    size_t shift;
} shifted;

static void *shifted_alloc(void *opaque, size_t size)
{
    shifted *from = opaque;
    assert_true(from->shift + size <= sizeof from->room);
    memset(from->room, 0xa5, sizeof from->room);
    return from->room + from->shift;
}

static void shifted_free(void *opaque, void *block, size_t size)
{
    shifted *from = opaque;
    assert_ptr_equal(block, from->room + from->shift);
    (void)size;
    from->shift = SIZE_MAX;
}

TEST(test_lines_are_aligned_wherever_the_allocator_puts_them)
{
    static shifted from;
    bry_allocator allocator = {shifted_alloc, shifted_free, &from};
    for (size_t shift = 0; shift < 64; shift++) {
        for (size_t size = 0; size <= 512; size += 32) {
            from.shift = shift;
            unsigned char *block = bry__alloc_lines(&allocator, size);
            assert_non_null(block);
            assert_int_equal((uintptr_t)block % BRY__LINE, 0);
            assert_true(block > from.room + shift);
            assert_true(block + size <= from.room + shift + bry__lines_cost(size));
            assert_true(bry__all_zero(block, size));
            assert_int_equal(from.room[shift + bry__lines_cost(size)], 0xa5);
            bry__free_lines(&allocator, block, size);
            assert_true(from.shift == SIZE_MAX);
        }
    }
}

TEST(test_lines_fail_cleanly)
{
    failing_allocator memory;
    failing_allocator_init(&memory);
    memory.fail_at = 1;
    assert_null(bry__alloc_lines(&memory.allocator, 64));
    assert_int_equal(memory.calls, 1);
    /* A size that cannot be aligned without overflow never reaches the allocator. */
    assert_null(bry__alloc_lines(&memory.allocator, SIZE_MAX - BRY__LINE + 1));
    assert_int_equal(memory.calls, 1);
}

TEST(test_default_allocator)
{
    bry_allocator standard = bry__allocator_or_default(NULL);
    void *block = standard.alloc(standard.opaque, 100);
    assert_non_null(block);
    standard.free(standard.opaque, block, 100);

    failing_allocator memory;
    failing_allocator_init(&memory);
    bry_allocator given = bry__allocator_or_default(&memory.allocator);
    assert_memory_equal(&given, &memory.allocator, sizeof given);
}

/* ---- sizes and bytes ---- */

TEST(test_checked_sizes)
{
    uint64_t result = 0;
    assert_true(bry__mul(UINT64_C(1) << 32, (UINT64_C(1) << 32) - 1, &result));
    assert_int_equal(result, UINT64_C(0xffffffff00000000));
    assert_false(bry__mul(UINT64_C(1) << 32, UINT64_C(1) << 32, &result));
    assert_true(bry__mul(0, UINT64_MAX, &result));
    assert_int_equal(result, 0);
    size_t size = 0;
    assert_true(bry__to_size(12345, &size));
    assert_int_equal(size, 12345);
    assert_int_equal(bry__to_size(UINT64_MAX, &size), sizeof(size_t) >= sizeof(uint64_t));
}

TEST(test_bytes_are_little_endian_at_any_address)
{
    static const unsigned char bytes[] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef};
    for (size_t at = 0; at < 8; at++) {
        unsigned char place[16] = {0}, back[16] = {0};
        memcpy(place + at, bytes, 8);
        assert_int_equal(bry__load16(place + at), 0x2301);
        assert_int_equal(bry__load32(place + at), 0x67452301);
        assert_int_equal(bry__load64(place + at), UINT64_C(0xefcdab8967452301));
        bry__store64(back + at, UINT64_C(0xefcdab8967452301));
        assert_memory_equal(place, back, sizeof place);
        memset(back + at, 0, 8);
        bry__store32(back + at, 0x67452301);
        assert_memory_equal(back + at, bytes, 4);
        assert_int_equal(back[at + 4], 0);
        memset(back + at, 0, 8);
        bry__store16(back + at, 0x2301);
        assert_memory_equal(back + at, bytes, 2);
        assert_int_equal(back[at + 2], 0);
    }
}

TEST(test_doubles_are_ieee_bits)
{
    static const unsigned char quarter[8] = {0, 0, 0, 0, 0, 0, 0xd0, 0x3f}; /* 2^-2 */
    unsigned char bytes[8];
    bry__store_double(bytes, 0.25);
    assert_memory_equal(bytes, quarter, 8);
    assert_true(bry__load_double(quarter) == 0.25);
    bry__store_double(bytes, -0.1);
    assert_true(bry__load_double(bytes) == -0.1);
}

/* ---- buffers and views ---- */

TEST(test_buffer_takes_everything_in_order)
{
    bry_buffer buffer = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&buffer);
    static unsigned char written[40000];
    generator numbers = {1};
    generator_fill(&numbers, written, sizeof written);
    size_t done = 0;
    assert_int_equal(sink.write(sink.opaque, NULL, 0), BRY_OK);
    assert_int_equal(buffer.len, 0);
    for (size_t len = 0; done + len <= sizeof written; len++) {
        assert_int_equal(sink.write(sink.opaque, written + done, len), BRY_OK);
        done += len;
        assert_int_equal(buffer.len, done);
        assert_true(buffer.capacity >= buffer.len);
    }
    assert_memory_equal(buffer.bytes, written, done);
    bry_buffer_free(&buffer);
    assert_null(buffer.bytes);
    assert_int_equal(buffer.len + buffer.capacity, 0);
    bry_buffer_free(&buffer);
}

TEST(test_buffer_refuses_sizes_that_cannot_be)
{
    bry_buffer buffer = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&buffer);
    assert_int_equal(sink.write(sink.opaque, "abc", 3), BRY_OK);
    /* Growing the third by half wraps around to a possible size. */
    static const size_t huge[] = {SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / 3 + 16};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(sink.write(sink.opaque, "abc", huge[i]), BRY_E_NOMEM);
        assert_int_equal(buffer.len, 3);
        assert_memory_equal(buffer.bytes, "abc", 3);
    }
    bry_buffer_free(&buffer);
}

TEST(test_view_gives_its_bytes_and_then_the_end)
{
    bry_view view = {"0123456789", 10, 0};
    bry_source source = bry_view_source(&view);
    char bytes[16];
    size_t got = 99;
    assert_int_equal(source.read(source.opaque, bytes, 4, &got), BRY_OK);
    assert_int_equal(got, 4);
    assert_memory_equal(bytes, "0123", 4);
    assert_int_equal(view.at, 4);
    assert_int_equal(source.read(source.opaque, bytes, 16, &got), BRY_OK);
    assert_int_equal(got, 6);
    assert_memory_equal(bytes, "456789", 6);
    for (int i = 0; i < 2; i++) {
        got = 99;
        assert_int_equal(source.read(source.opaque, bytes, 16, &got), BRY_OK);
        assert_int_equal(got, 0);
        assert_int_equal(view.at, 10);
    }
    bry_view nothing = {NULL, 0, 0};
    source = bry_view_source(&nothing);
    assert_int_equal(source.read(source.opaque, bytes, 16, &got), BRY_OK);
    assert_int_equal(got, 0);
}

/* ---- the machine ---- */

TEST(test_random_seeds_differ)
{
    uint64_t seeds[16];
    for (int i = 0; i < 16; i++) {
        assert_int_equal(bry__random_seed(&seeds[i]), BRY_OK);
        assert_true(seeds[i] != 0);
        for (int j = 0; j < i; j++)
            assert_true(seeds[i] != seeds[j]);
    }
}

TEST(test_isa_names)
{
    static const char *const names[] = {"scalar", "avx2", "avx512", "neon"};
    assert_int_equal(BRY__ISA_COUNT, 4);
    for (int i = 0; i < BRY__ISA_COUNT; i++)
        assert_string_equal(bry__isa_names[i], names[i]);
    assert_true(bry__cpu_has(BRY__ISA_SCALAR));
    assert_false(bry__cpu_has(BRY__ISA_COUNT));
    assert_false(bry__cpu_has(BRY__ISA_NEON) && bry__cpu_has(BRY__ISA_AVX2));
    assert_true(!bry__cpu_has(BRY__ISA_AVX512) || bry__cpu_has(BRY__ISA_AVX2));
}
