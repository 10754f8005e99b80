/* Callers and libraries of different versions: a struct that has grown, passed to either. */
#include "common/struct_size.h"
#include "support/cmocka_all.h"

#include <string.h>

/* The first field is the struct_size of options; in other structs it has no meaning. */
typedef struct old_struct {
    size_t struct_size;
    uint64_t first;
} old_struct;

typedef struct new_struct {
    size_t struct_size;
    uint64_t first;
    uint64_t second, third;
} new_struct;

#define GUARD 0xa5

/* A caller's struct, followed by bytes that the library must not touch. */
typedef union guarded {
    size_t struct_size;
    new_struct whole;
    unsigned char bytes[sizeof(new_struct) + 16];
} guarded;

static guarded guarded_of(size_t size)
{
    guarded made;
    memset(made.bytes, GUARD, sizeof made.bytes);
    made.struct_size = size;
    return made;
}

static void assert_untouched(const guarded *given, size_t from)
{
    for (size_t i = from; i < sizeof given->bytes; i++)
        assert_int_equal(given->bytes[i], GUARD);
}

TEST(test_an_old_caller_reads_what_it_knows)
{
    guarded theirs = guarded_of(0);
    const new_struct ours = {7, 1, 2, 3};
    assert_int_equal(bry__struct_write(&theirs, sizeof(old_struct), &ours, sizeof ours), BRY_OK);
    assert_int_equal(theirs.struct_size, 7);
    assert_int_equal(theirs.whole.first, 1);
    assert_untouched(&theirs, sizeof(old_struct));
}

TEST(test_a_new_caller_finds_zeros)
{
    guarded theirs = guarded_of(0);
    const old_struct ours = {7, 1};
    assert_int_equal(bry__struct_write(&theirs, sizeof(new_struct), &ours, sizeof ours), BRY_OK);
    assert_int_equal(theirs.struct_size, 7);
    assert_int_equal(theirs.whole.first, 1);
    assert_int_equal(theirs.whole.second, 0);
    assert_int_equal(theirs.whole.third, 0);
    assert_untouched(&theirs, sizeof(new_struct));
}

TEST(test_options_lose_nothing)
{
    guarded theirs = guarded_of(0);
    new_struct ours = {sizeof ours, 1, 0, 3};
    assert_int_equal(bry__options_write(&theirs, sizeof(old_struct), &ours, sizeof ours),
                     BRY_E_RANGE);
    assert_untouched(&theirs, sizeof theirs.struct_size);
    ours.third = 0;
    assert_int_equal(bry__options_write(&theirs, sizeof(old_struct), &ours, sizeof ours), BRY_OK);
    assert_int_equal(theirs.struct_size, sizeof(old_struct));
    assert_int_equal(theirs.whole.first, 1);
    assert_untouched(&theirs, sizeof(old_struct));
}

TEST(test_an_old_caller_gets_defaults)
{
    guarded theirs = guarded_of(sizeof(old_struct)); /* after it: not zero, and not read */
    theirs.whole.first = 1;
    new_struct ours = {sizeof ours, 0, 20, 30};
    assert_int_equal(bry__struct_read(&ours, sizeof ours, &theirs), BRY_OK);
    assert_int_equal(ours.struct_size, sizeof ours);
    assert_int_equal(ours.first, 1);
    assert_int_equal(ours.second, 20);
    assert_int_equal(ours.third, 30);
}

TEST(test_a_new_caller_is_told)
{
    new_struct theirs = {sizeof theirs, 1, 0, 0};
    old_struct ours = {sizeof ours, 0};
    assert_int_equal(bry__struct_read(&ours, sizeof ours, &theirs), BRY_OK);
    assert_int_equal(ours.struct_size, sizeof ours);
    assert_int_equal(ours.first, 1);
    theirs.third = 1; /* an option that this library does not have */
    ours.first = 7;
    assert_int_equal(bry__struct_read(&ours, sizeof ours, &theirs), BRY_E_RANGE);
    assert_int_equal(ours.first, 7);
}

TEST(test_sizes_that_no_struct_has)
{
    static const size_t wrong[] = {0, 1, 7, 12, 17, 4104, SIZE_MAX, SIZE_MAX - 7};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        guarded theirs = guarded_of(wrong[i]);
        new_struct ours = {sizeof ours, 1, 2, 3};
        assert_int_equal(bry__struct_write(&theirs, wrong[i], &ours, sizeof ours), BRY_E_RANGE);
        assert_int_equal(bry__options_write(&theirs, wrong[i], &ours, sizeof ours), BRY_E_RANGE);
        assert_int_equal(bry__struct_read(&ours, sizeof ours, &theirs), BRY_E_RANGE);
        assert_int_equal(ours.first, 1);
        assert_untouched(&theirs, sizeof theirs.struct_size);
    }
}

TEST(test_elements)
{
    const uint64_t ours[2] = {1, 2};
    unsigned char array[3 * 24];
    for (size_t step = 8; step <= 24; step += 8) {
        memset(array, GUARD, sizeof array);
        for (size_t i = 0; i < 2; i++)
            bry__struct_write(bry__element(array, step, i), step, ours, sizeof ours);
        for (size_t i = 0; i < sizeof array; i++) {
            size_t in = i % step;
            unsigned char expected = in == 0 ? 1 : in == 8 ? 2 : 0;
            assert_int_equal(array[i], i < 2 * step ? expected : GUARD);
        }
    }
}
