/* Tests of the model harness, with a small model that is wrong on purpose. */
#include "model/model.h"

#include "support/cmocka_all.h"
#include "support/generator.h"

#include <stdlib.h>
#include <string.h>

/*
 * A register that adds, and clears. The "object" forgets a carry: once cleared, it is wrong when it
 * passes 100. So every failing program has a clear, and then additions of more than 100.
 *
 *     0 mod 4       clear
 *     1 mod 4, x    add x
 *     2, 3 mod 4    nothing
 */
typedef struct sums {
    unsigned object, twin;
    bool cleared;
    int *alive;
} sums;

static int alive;
static unsigned steps, checks;

static void *sums_create(model_reader *reader)
{
    sums *state = calloc(1, sizeof *state);
    assert_non_null(state);
    state->object = state->twin = model_below(reader, 8);
    state->alive = &alive;
    alive++;
    steps = checks = 0;
    model_say(reader, "start at %u", state->twin);
    return state;
}

static void sums_step(void *opaque, model_reader *reader)
{
    sums *state = opaque;
    unsigned operation = model_below(reader, 4), by;
    steps++;
    switch (operation) {
    case 0:
        model_say(reader, "clear");
        state->object = state->twin = 0;
        state->cleared = true;
        break;
    case 1:
        by = model_byte(reader);
        model_say(reader, "add %u", by);
        state->object += by;
        state->twin += by;
        if (state->cleared && state->twin > 100)
            state->object = 100;
        break;
    default:
        model_say(reader, "nothing");
    }
}

static void sums_check(void *opaque, model_reader *reader)
{
    sums *state = opaque;
    checks++;
    if (state->object != state->twin)
        model_fail(reader, "%u is not %u", state->object, state->twin);
    model_expect(reader, state->object == state->twin); /* the second failure is ignored */
}

static void sums_destroy(void *opaque, model_reader *reader)
{
    (void)reader;
    sums *state = opaque;
    --*state->alive;
    free(state);
}

static const model wrong_sums = {.name = "wrong sums",
                                 .create = sums_create,
                                 .step = sums_step,
                                 .check = sums_check,
                                 .destroy = sums_destroy};

static const uint8_t failing[] = {
    5, /* the start */
    1, 60, 2,  1, 70, 3, /* 130, but not cleared */
    0, 1,  60, 2, 0,  1, 30, 6, 1, 20, 1, 49, 2, 1, 2, 3, 1, 200, 0, 2,
};

TEST(test_run)
{
    model_failure failure = {99, "untouched"};
    assert_true(model_run(&wrong_sums, failing, 9, &failure));
    assert_int_equal(failure.step, 99);
    assert_int_equal(steps, 6);
    assert_int_equal(checks, 7); /* after create, and after every step */
    assert_false(model_run(&wrong_sums, failing, sizeof failing, &failure));
    assert_string_equal(failure.text, "100 is not 101");
    assert_int_equal(failure.step, 14);
    assert_int_equal(steps, 14); /* none after the failure */
    assert_true(model_run(&wrong_sums, NULL, 0, NULL));
    assert_int_equal(steps, 0);
    assert_int_equal(alive, 0); /* destroyed each time */
}

TEST(test_reader)
{
    const uint8_t bytes[] = {7, 1, 2, 255, 9};
    model_reader reader = {.bytes = bytes, .len = sizeof bytes};
    assert_int_equal(model_byte(&reader), 7);
    assert_int_equal(model_pair(&reader), 0x201);
    assert_int_equal(model_below(&reader, 10), 5);
    assert_int_equal(model_pair(&reader), 9); /* half of it beyond the end */
    assert_int_equal(model_byte(&reader), 0);
    assert_int_equal(reader.at, sizeof bytes);
}

/* The shortest failing program: clear (the start value first), then additions beyond 100. */
TEST(test_shrink_reaches_the_shortest)
{
    uint8_t bytes[sizeof failing];
    memcpy(bytes, failing, sizeof failing);
    size_t len = model_shrink(&wrong_sums, bytes, sizeof bytes);
    const uint8_t shortest[] = {0, 0, 1, 101};
    assert_int_equal(len, sizeof shortest);
    assert_memory_equal(bytes, shortest, len);
    assert_int_equal(alive, 0);
}

TEST(test_shrink_of_long_programs)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        static uint8_t bytes[2000];
        generator numbers = {seed};
        generator_fill(&numbers, bytes, sizeof bytes);
        model_failure failure;
        assert_false(model_run(&wrong_sums, bytes, sizeof bytes, NULL));
        size_t len = model_shrink(&wrong_sums, bytes, sizeof bytes);
        assert_false(model_run(&wrong_sums, bytes, len, &failure));
        assert_int_equal(len, 4);
        assert_string_equal(failure.text, "100 is not 101");
    }
}

TEST(test_shrink_leaves_what_passes)
{
    uint8_t bytes[9];
    memcpy(bytes, failing, sizeof bytes);
    assert_int_equal(model_shrink(&wrong_sums, bytes, sizeof bytes), sizeof bytes);
    assert_memory_equal(bytes, failing, sizeof bytes);
    assert_int_equal(model_shrink(&wrong_sums, bytes, 0), 0);
}

TEST(test_show)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    assert_non_null(out);
    assert_true(model_try(&wrong_sums, failing, 9, out));
    fflush(out);
    assert_int_equal(len, 0); /* prints nothing for a program that passes */
    assert_false(model_try(&wrong_sums, failing, sizeof failing, out));
    fclose(out);
    assert_string_equal(text, "model wrong sums, 4 bytes:\n"
                              "  00000165\n"
                              "    0  start at 0\n"
                              "    1  clear\n"
                              "    2  add 101\n"
                              "fails in step 2: 100 is not 101\n");
    free(text);
}

/* A step that reads nothing does not hang the run. */
static void lazy_step(void *opaque, model_reader *reader)
{
    (void)opaque;
    (void)reader;
    steps++;
}

TEST(test_a_step_that_reads_nothing)
{
    model lazy = wrong_sums;
    lazy.step = lazy_step;
    assert_true(model_run(&lazy, failing, sizeof failing, NULL));
    assert_int_equal(steps, sizeof failing - 1);
}
