/* The dictionary: every value one code, whatever the secondary says, and back again. */
#include "map/dictionary.h"
#include "support/cmocka_all.h"
#include "support/failing_allocator.h"
#include "support/generator.h"

#include <string.h>

enum { MANY = 5000 };

/* An engine whose look-ups for the dictionary never know. */
static bry_answer know_nothing(const void *self, bry_hash hash, uint64_t codes,
                               bry__map_match *match, void *context, uint32_t *code)
{
    (void)self;
    (void)hash;
    (void)codes;
    (void)match;
    (void)context;
    (void)code;
    return BRY_UNSURE;
}

static bry__map_engine engine_number(int i)
{
    bry__map_engine engine = i % 2 ? bry__kbf_map_engine : bry__compact_map_engine;
    if (i >= 2)
        engine.find = know_nothing;
    return engine;
}

static void init(bry__dictionary *dictionary, const bry__map_engine *engine,
                 failing_allocator *memory)
{
    bry_map_options options = {.struct_size = sizeof options, .engine = engine->engine, .seed = 3};
    failing_allocator_init(memory);
    assert_int_equal(bry__dictionary_init(dictionary, engine, &options, 8191, &memory->allocator),
                     BRY_OK);
}

/* Value i: many lengths, 0 included, and many that begin alike. */
static size_t value(unsigned i, unsigned char *bytes)
{
    size_t len = i == 0 ? 0 : i % 100 == 99 ? 3000 + i : 2 + i % 50;
    memset(bytes, 'v', len);
    if (len)
        memcpy(bytes + len - 2, &(uint16_t){(uint16_t)i}, 2);
    return len;
}

static unsigned char bytes[1 << 16];

static uint32_t intern(bry__dictionary *dictionary, unsigned i)
{
    uint32_t code = UINT32_MAX;
    size_t len = value(i, bytes);
    assert_int_equal(bry__dictionary_intern(dictionary, bytes, len, &code), BRY_OK);
    return code;
}

static void assert_value(const bry__dictionary *dictionary, uint32_t code, unsigned i)
{
    size_t len = value(i, bytes);
    uint32_t found = UINT32_MAX;
    assert_true(bry__dictionary_has(dictionary, code));
    bry_map_value stored = bry__dictionary_value(dictionary, code);
    assert_int_equal(stored.len, len);
    assert_memory_equal(stored.bytes, bytes, len);
    assert_true(bry__dictionary_find(dictionary, bytes, len, &found));
    assert_int_equal(found, code);
}

static bool finds(const bry__dictionary *dictionary, unsigned i)
{
    uint32_t code;
    return bry__dictionary_find(dictionary, bytes, value(i, bytes), &code);
}

static uint64_t bytes_of(const bry__dictionary *dictionary)
{
    return bry__dictionary_bytes(dictionary) + bry__dictionary_bytes_secondary(dictionary);
}

static void test_codes(void **state)
{
    (void)state;
    for (int e = 0; e < 4; e++) {
        bry__map_engine engine = engine_number(e);
        unsigned n = e < 2 ? MANY : 300; /* a secondary that knows nothing is slow */
        failing_allocator memory;
        bry__dictionary dictionary, copy;
        init(&dictionary, &engine, &memory);
        for (unsigned i = 0; i < n; i++) {
            assert_false(finds(&dictionary, i));
            assert_int_equal(intern(&dictionary, i), i);
            assert_int_equal(intern(&dictionary, i / 2), i / 2);
        }
        assert_int_equal(bry__dictionary_count(&dictionary), n);
        assert_int_equal(bytes_of(&dictionary), memory.now);
        assert_int_equal(bry__dictionary_clone(&dictionary, &copy), BRY_OK);
        bry__dictionary_clear(&dictionary);
        assert_false(finds(&dictionary, 5));
        assert_int_equal(intern(&dictionary, 5), 0);
        bry__dictionary_free(&dictionary);
        for (unsigned i = 0; i < n; i++)
            assert_value(&copy, i, i);
        assert_false(finds(&copy, n));
        uint32_t code;
        assert_false(bry__dictionary_find(&copy, bytes, BRY_MAP_VALUE_MAX + 1, &code));
        assert_int_equal(bry__dictionary_intern(&copy, bytes, BRY_MAP_VALUE_MAX + 1, &code),
                         BRY_E_RANGE);
        bry__dictionary_free(&copy);
        assert_int_equal(memory.now, 0);
    }
}

static void test_going_back(void **state)
{
    (void)state;
    for (int e = 0; e < 4; e++) {
        bry__map_engine engine = engine_number(e);
        failing_allocator memory;
        bry__dictionary dictionary;
        init(&dictionary, &engine, &memory);
        for (unsigned round = 0; round < 3; round++) {
            bry__dictionary_mark mark = bry__dictionary_remember(&dictionary);
            uint64_t before = bry__dictionary_count(&dictionary);
            for (unsigned i = 0; i < 250; i++)
                intern(&dictionary, 100 * round + i); /* 150 of them are known */
            bry__dictionary_forget(&dictionary, &mark);
            assert_int_equal(bry__dictionary_count(&dictionary), before);
            for (unsigned i = 0; i < 400; i++)
                assert_int_equal(finds(&dictionary, i), i < before);
            for (unsigned i = 0; i < 100; i++)
                assert_int_equal(intern(&dictionary, 100 * round + i), 100 * round + i);
        }
        assert_int_equal(bytes_of(&dictionary), memory.now);
        bry__dictionary_free(&dictionary);
        assert_int_equal(memory.now, 0);
    }
}

/* compact alone: codes that are freed are given again, the smallest first, and taken back too. */
static void test_free_codes(void **state)
{
    (void)state;
    bry__map_engine engine = engine_number(0);
    failing_allocator memory;
    bry__dictionary dictionary;
    init(&dictionary, &engine, &memory);
    for (unsigned i = 0; i < 1000; i++)
        intern(&dictionary, i);
    uint64_t full = bytes_of(&dictionary), used[16] = {0};
    for (unsigned i = 0; i < 900; i++)
        if (i % 3 == 0)
            used[i / 64] |= UINT64_C(1) << (i % 64);

    /* Without memory nothing is freed. */
    failing_allocator_restart(&memory);
    memory.fail_at = 1;
    bry__dictionary_keep(&dictionary, used);
    assert_int_equal(bry__dictionary_count(&dictionary), 1000);
    assert_value(&dictionary, 1, 1);
    memory.fail_at = 0;

    bry__dictionary_keep(&dictionary, used);
    assert_int_equal(bry__dictionary_count(&dictionary), 300);
    assert_int_equal(dictionary.codes, 898); /* those above the last in use are gone for good */
    assert_true(bytes_of(&dictionary) < full * 2 / 3);
    assert_int_equal(bytes_of(&dictionary), memory.now);
    for (unsigned i = 0; i < 1000; i++) {
        assert_int_equal(finds(&dictionary, i), i < 900 && i % 3 == 0);
        if (i < 900 && i % 3 == 0)
            assert_value(&dictionary, i, i);
    }
    static const uint32_t next[] = {1, 2, 4, 5, 7};
    for (int round = 0; round < 2; round++) {
        bry__dictionary_mark mark = bry__dictionary_remember(&dictionary);
        for (unsigned i = 0; i < 5; i++) {
            assert_int_equal(intern(&dictionary, 2000 + i), next[i]);
            assert_value(&dictionary, next[i], 2000 + i);
        }
        if (round == 0)
            bry__dictionary_forget(&dictionary, &mark);
    }
    assert_int_equal(bry__dictionary_count(&dictionary), 305);
    for (unsigned i = 0; i < 700; i++)
        intern(&dictionary, 3000 + i);
    assert_int_equal(dictionary.codes, 1005);
    assert_int_equal(dictionary.free_count, 0);
    bry__dictionary_free(&dictionary);
    assert_int_equal(memory.now, 0);
}

static uint64_t pairs_of(const bry__dictionary *dictionary)
{
    return dictionary->engine->items(dictionary->secondary);
}

/* The empty string, the first of all, has place 0 and length 0: it goes as others do, and comes
 * back as they do when there is no memory. */
static void test_free_empty(void **state)
{
    (void)state;
    bry__map_engine engine = engine_number(0);
    failing_allocator memory;
    bry__dictionary dictionary;
    init(&dictionary, &engine, &memory);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(intern(&dictionary, i), i);
    const uint64_t used = 6;
    failing_allocator_restart(&memory);
    memory.fail_at = 1;
    bry__dictionary_keep(&dictionary, &used);
    assert_int_equal(bry__dictionary_count(&dictionary), 3);
    assert_value(&dictionary, 0, 0);
    assert_int_equal(pairs_of(&dictionary), 3);
    memory.fail_at = 0;

    bry__dictionary_keep(&dictionary, &used);
    assert_int_equal(bry__dictionary_count(&dictionary), 2);
    assert_false(finds(&dictionary, 0));
    assert_int_equal(pairs_of(&dictionary), 2);
    assert_int_equal(intern(&dictionary, 0), 0);
    assert_int_equal(pairs_of(&dictionary), 3);
    for (unsigned i = 0; i < 3; i++)
        assert_value(&dictionary, i, i);
    bry__dictionary_free(&dictionary);
    assert_int_equal(memory.now, 0);
}

static void test_failing_allocations(void **state)
{
    (void)state;
    for (int e = 0; e < 2; e++) {
        bry__map_engine engine = engine_number(e);
        failing_allocator memory;
        bry__dictionary dictionary, copy;
        init(&dictionary, &engine, &memory);
        uint64_t failed = 0;
        for (unsigned i = 0; i < 2000; i++) {
            failing_allocator_restart(&memory);
            memory.fail_at = 1 + i % 3;
            size_t len = value(i, bytes);
            uint32_t code = UINT32_MAX;
            bry_status status = bry__dictionary_intern(&dictionary, bytes, len, &code);
            if (status != BRY_OK) {
                assert_int_equal(status, BRY_E_NOMEM);
                assert_int_equal(code, UINT32_MAX);
                assert_false(finds(&dictionary, i));
                failed++;
                memory.fail_at = 0;
                code = intern(&dictionary, i);
            }
            memory.fail_at = 0;
            assert_int_equal(code, i);
            assert_int_equal(bytes_of(&dictionary), memory.now);
        }
        assert_true(failed > 3);
        for (uint64_t failing = 1;; failing++) {
            uint64_t before = memory.now;
            failing_allocator_restart(&memory);
            memory.fail_at = failing;
            if (bry__dictionary_clone(&dictionary, &copy) == BRY_OK)
                break;
            assert_int_equal(memory.now, before);
        }
        memory.fail_at = 0;
        for (unsigned i = 0; i < 2000; i++) {
            assert_value(&dictionary, i, i);
            assert_value(&copy, i, i);
        }
        bry__dictionary_free(&dictionary);
        bry__dictionary_free(&copy);
        assert_int_equal(memory.now, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_codes),
        cmocka_unit_test(test_going_back),
        cmocka_unit_test(test_free_codes),
        cmocka_unit_test(test_free_empty),
        cmocka_unit_test(test_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
