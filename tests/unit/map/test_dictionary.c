/* The dictionary: one code for every value, and the value of a code. */
#include "map/dictionary.h"
#include "support/cmocka_all.h"
#include "support/failing_allocator.h"
#include "support/generator.h"

#include <string.h>

static void init(bry__dictionary *dictionary, failing_allocator *memory)
{
    failing_allocator_init(memory);
    bry__dictionary_init(dictionary, 3, 20000, &memory->allocator);
}

/* Value i: many lengths, including 0, and many common prefixes. */
static size_t value(unsigned i, unsigned char *bytes)
{
    size_t len = i == 0 ? 0 : i % 100 == 99 ? 3000 + i : 2 + i % 50;
    memset(bytes, 'v', len);
    if (len)
        memcpy(bytes + len - 2, &(uint16_t){(uint16_t)i}, 2);
    return len;
}

static unsigned char bytes[1 << 16];

static bry_status intern_one(bry__dictionary *dictionary, const void *value, size_t len,
                             uint32_t *code)
{
    size_t done;
    bry_map_value one = bry_map_value_bytes(value, len);
    return bry__dictionary_intern_n(dictionary, &one, 1, code, &done);
}

static uint32_t intern(bry__dictionary *dictionary, unsigned i)
{
    uint32_t code = UINT32_MAX;
    size_t len = value(i, bytes);
    assert_int_equal(intern_one(dictionary, bytes, len, &code), BRY_OK);
    return code;
}

/* The same for a value of this many keys. */
static uint32_t keep(bry__dictionary *dictionary, unsigned i, unsigned keys)
{
    uint32_t code = intern(dictionary, i);
    while (keys-- > 0)
        bry__dictionary_gain(dictionary, code);
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

enum { N = 5000, LARGEST = 60 };
static bry_map_value values[N];
static unsigned char text[N][LARGEST];
static uint32_t result[N];

/* Uses every code once, and then frees every third. */
static void make_gaps(bry__dictionary *dictionary, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        bry__dictionary_gain(dictionary, intern(dictionary, 20000 + i));
    for (uint32_t code = 0; code < n; code += 3)
        bry__dictionary_lose(dictionary, code);
}

/* Many values in one call get the codes that single calls give them: free ones first. */
TEST(test_many_at_once)
{
    unsigned n = N;
    failing_allocator memory[2];
    bry__dictionary single, many;
    generator numbers = {.state = 11};
    init(&single, &memory[0]);
    init(&many, &memory[1]);
    make_gaps(&single, 500);
    make_gaps(&many, 500);
    for (unsigned i = 0; i < n; i++) {
        unsigned which = (unsigned)generator_below(&numbers, 1 + i / 2);
        size_t len = value(which - (which % 100 == 99), text[i]);
        values[i] = bry_map_value_bytes(text[i], len);
    }
    size_t done;
    assert_int_equal(bry__dictionary_intern_n(&many, values, n, result, &done), BRY_OK);
    assert_int_equal(done, n);
    for (unsigned i = 0; i < n; i++) {
        uint32_t code;
        assert_int_equal(intern_one(&single, values[i].bytes, values[i].len, &code), BRY_OK);
        assert_int_equal(result[i], code);
        assert_true(bry__dictionary_find(&many, values[i].bytes, values[i].len, &code));
        assert_int_equal(result[i], code);
    }
    assert_int_equal(bry__dictionary_count(&many), bry__dictionary_count(&single));
    bry__dictionary_free(&single);
    bry__dictionary_free(&many);
    assert_int_equal(memory[0].now + memory[1].now, 0);
}

/* The first n values are numbers, each one given `times` times. */
static void set_numbers(unsigned n, unsigned times)
{
    for (unsigned i = 0; i < n; i++) {
        memcpy(text[i], &(uint32_t){i / times}, 4);
        values[i] = bry_map_value_bytes(text[i], 4);
    }
}

/* One allocation fails, or all from some on. */
static bool intern_without_memory(uint64_t failing, bool keep_failing, unsigned n, unsigned *failed)
{
    failing_allocator memory;
    bry__dictionary dictionary;
    size_t done;
    init(&dictionary, &memory);
    failing_allocator_restart(&memory);
    memory.fail_at = failing;
    memory.keep_failing = keep_failing;
    bry_status status = bry__dictionary_intern_n(&dictionary, values, n, result, &done);
    bool more = memory.calls >= failing;
    *failed += status != BRY_OK;
    assert_true(status == BRY_OK ? done == n : status == BRY_E_NOMEM);
    for (size_t i = 0; i < done; i++)
        assert_int_equal(result[i], i / 2);
    assert_int_equal(bry__dictionary_count(&dictionary), (done + 1) / 2);
    bry__dictionary_forget(&dictionary, 0, result, done);
    assert_int_equal(bry__dictionary_count(&dictionary), 0);
    memory.fail_at = 0;
    for (unsigned i = 0; i < n; i += 40)
        assert_false(finds(&dictionary, i));
    assert_int_equal(bry__dictionary_bytes(&dictionary), memory.now);
    bry__dictionary_free(&dictionary);
    assert_int_equal(memory.now, 0);
    return more;
}

TEST(test_many_without_memory)
{
    enum { SOME = 3000 };
    unsigned failed = 0;
    set_numbers(SOME, 2);
    for (unsigned kind = 0; kind < 2; kind++)
        for (uint64_t failing = 1; intern_without_memory(failing, kind == 1, SOME, &failed);)
            failing += failing < 60 ? 1 : failing / 16;
    assert_true(failed > 30);
}

/* Values as they are loaded: codes in order, some of them free, and no value twice. */
TEST(test_appending)
{
    unsigned n = N;
    failing_allocator memory;
    bry__dictionary dictionary;
    init(&dictionary, &memory);
    set_numbers(n, 1);
    for (unsigned at = 0, step = 1; at < n; at += step, step = step % BRY__DICTIONARY_ROUND + 1) {
        if (step > n - at)
            step = n - at;
        for (unsigned i = 0; i < step; i++)
            result[at + i] = (uint32_t)dictionary.table.codes + i;
        assert_int_equal(bry__dictionary_append_n(&dictionary, values + at, step), BRY_OK);
        for (unsigned i = 0; step % 3 == 0 && i < at / 10; i++)
            assert_int_equal(bry__dictionary_append_free(&dictionary), BRY_OK);
        assert_int_equal(bry__dictionary_append_n(&dictionary, values + at + step / 2, 1),
                         BRY_E_MISMATCH);
    }
    bry_map_value fresh = bry_map_value_bytes("fresh", 5), twice[] = {fresh, fresh};
    assert_int_equal(bry__dictionary_append_n(&dictionary, twice, 2), BRY_E_MISMATCH);
    for (unsigned i = 0; i < n; i++) {
        uint32_t code = UINT32_MAX;
        assert_true(bry__dictionary_find(&dictionary, values[i].bytes, 4, &code));
        assert_int_equal(code, result[i]);
    }
    bry__dictionary_free(&dictionary);
    assert_int_equal(memory.now, 0);
}

TEST(test_going_back)
{
    failing_allocator memory;
    bry__dictionary dictionary;
    init(&dictionary, &memory);
    for (unsigned round = 0; round < 3; round++) {
        uint64_t before = bry__dictionary_count(&dictionary), codes = dictionary.table.codes;
        uint32_t given[250];
        for (unsigned i = 0; i < 250; i++)
            given[i] = intern(&dictionary, 100 * round + i); /* 150 of them are known */
        bry__dictionary_forget(&dictionary, codes, given, 250);
        assert_int_equal(bry__dictionary_count(&dictionary), before);
        assert_int_equal(dictionary.table.codes, codes);
        for (unsigned i = 0; i < 400; i++)
            assert_int_equal(finds(&dictionary, i), i < before);
        for (unsigned i = 0; i < 100; i++)
            assert_int_equal(given[i] = intern(&dictionary, 100 * round + i), 100 * round + i);
        bry__dictionary_confirm(&dictionary, given, 100);
    }
    assert_int_equal(bry__dictionary_bytes(&dictionary), memory.now);
    bry__dictionary_free(&dictionary);
    assert_int_equal(memory.now, 0);
}

/* compact only: unused codes are assigned again, the smallest first, and freed. */
TEST(test_free_codes)
{
    failing_allocator memory;
    bry__dictionary dictionary;
    init(&dictionary, &memory);
    for (unsigned i = 0; i < 1000; i++)
        keep(&dictionary, i, 2);
    uint64_t full = bry__dictionary_bytes(&dictionary);
    failing_allocator_restart(&memory);
    memory.fail_at = 1; /* nothing of this needs memory */
    memory.keep_failing = true;
    for (unsigned twice = 0; twice < 2; twice++)
        for (unsigned i = 0; i < 1000; i++) {
            if (i < 900 && i % 3 == 0)
                continue;
            assert_value(&dictionary, i, i);
            bry__dictionary_lose(&dictionary, i);
        }
    memory.fail_at = 0;
    memory.keep_failing = false;
    assert_int_equal(bry__dictionary_count(&dictionary), 300);
    assert_int_equal(dictionary.table.codes, 1000 - 64); /* not all at once */
    bry__dictionary_pack(&dictionary);
    assert_int_equal(dictionary.table.codes, 898); /* codes above the last one in use are gone */
    assert_true(bry__dictionary_bytes(&dictionary) < full);
    assert_int_equal(bry__dictionary_bytes(&dictionary), memory.now);
    for (unsigned i = 0; i < 1000; i++) {
        assert_int_equal(finds(&dictionary, i), i < 900 && i % 3 == 0);
        if (i < 900 && i % 3 == 0)
            assert_value(&dictionary, i, i);
    }
    static const uint32_t next[] = {1, 2, 4, 5, 7};
    for (int round = 0; round < 2; round++) {
        uint64_t codes = dictionary.table.codes;
        for (unsigned i = 0; i < 5; i++) {
            assert_int_equal(intern(&dictionary, 2000 + i), next[i]);
            assert_value(&dictionary, next[i], 2000 + i);
        }
        if (round == 0)
            bry__dictionary_forget(&dictionary, codes, next, 5);
    }
    assert_int_equal(bry__dictionary_count(&dictionary), 305);
    for (unsigned i = 0; i < 700; i++)
        intern(&dictionary, 3000 + i);
    assert_int_equal(dictionary.table.codes, 1005);
    assert_int_equal(dictionary.table.free, 0);
    bry__dictionary_free(&dictionary);
    assert_int_equal(memory.now, 0);
}

/* The empty string is removed and added like others. */
TEST(test_free_empty)
{
    failing_allocator memory;
    bry__dictionary dictionary;
    init(&dictionary, &memory);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(keep(&dictionary, i, 1), i);
    bry__dictionary_lose(&dictionary, 0);
    assert_int_equal(bry__dictionary_count(&dictionary), 2);
    assert_false(finds(&dictionary, 0));
    assert_int_equal(keep(&dictionary, 0, 1), 0);
    for (unsigned i = 0; i < 3; i++)
        assert_value(&dictionary, i, i);
    for (unsigned i = 1; i < 3; i++) /* it is the only value, without a piece for bytes */
        bry__dictionary_lose(&dictionary, i);
    assert_value(&dictionary, 0, 0);
    bry__dictionary_lose(&dictionary, 0);
    assert_int_equal(dictionary.table.codes, 0);
    bry__dictionary_free(&dictionary);
    assert_int_equal(memory.now, 0);
}

/* Values are added and removed in any order: new codes are the smallest free ones, and gaps are
 * bounded. */
TEST(test_churn)
{
    enum { LIVE = 6000, ROUNDS = 30000 }; /* nearly as many as an index of 8192 takes */
    static uint32_t code[LIVE];
    static unsigned number[LIVE];
    failing_allocator memory;
    bry__dictionary dictionary;
    init(&dictionary, &memory);
    generator numbers = {5};
    uint64_t peak = 0;
    for (unsigned i = 0; i < LIVE; i++)
        code[i] = keep(&dictionary, number[i] = i, 1);
    for (unsigned round = 0; round < ROUNDS; round++) {
        /* Half of the time the first ones, so that others stay in old pieces. */
        unsigned i = (unsigned)generator_below(&numbers, round % 2 ? LIVE : 50), gone = code[i];
        bry__dictionary_lose(&dictionary, code[i]);
        number[i] = LIVE + round;
        code[i] = keep(&dictionary, number[i], 1);
        assert_true(code[i] <= gone);
        assert_true(dictionary.index.used <= ((uint64_t)3 << dictionary.index.bits) / 4);
        uint64_t gaps = dictionary.bytes.used - dictionary.bytes.live;
        if (gaps > peak)
            peak = gaps;
        if (round % 10000 == 0) {
            for (unsigned j = 0; j < LIVE; j++)
                assert_value(&dictionary, code[j], number[j]);
            assert_int_equal(bry__dictionary_bytes(&dictionary), memory.now);
        }
    }
    assert_true(peak < 2 * dictionary.bytes.live + 4096);
    for (unsigned j = 0; j < LIVE; j++)
        assert_value(&dictionary, code[j], number[j]);
    for (unsigned j = 0; j < LIVE; j++)
        bry__dictionary_lose(&dictionary, code[j]);
    assert_int_equal(dictionary.table.codes, 0);
    assert_int_equal(bry__dictionary_bytes(&dictionary), memory.now);
    bry__dictionary_free(&dictionary);
    assert_int_equal(memory.now, 0);
}

/* The index grows and shrinks a little with each call, and every value is found while codes move
 * from one to the other. */
TEST(test_index_moves)
{
    enum { MOST = 8000 };
    static uint32_t code[MOST];
    failing_allocator memory;
    bry__dictionary dictionary;
    init(&dictionary, &memory);
    unsigned moving = 0, grown;
    for (unsigned i = 0; i < MOST; i++) {
        uint64_t before = dictionary.moves ? dictionary.moving : 0;
        code[i] = keep(&dictionary, i + 1, 1);
        if (!dictionary.moves)
            continue;
        moving++;
        assert_true(dictionary.moving <= before + 64);
        for (unsigned j = i % 7; j <= i; j += 1 + i / 50)
            assert_value(&dictionary, code[j], j + 1);
        assert_int_equal(bry__dictionary_bytes(&dictionary), memory.now);
    }
    assert_true(moving > 100);
    grown = dictionary.index.bits;
    for (unsigned i = MOST; i-- > 10;) {
        bry__dictionary_lose(&dictionary, code[i]);
        assert_false(finds(&dictionary, i + 1));
        assert_value(&dictionary, code[i * 7 % i], i * 7 % i + 1);
    }
    assert_true(dictionary.index.bits + 5 < grown);
    assert_int_equal(bry__dictionary_bytes(&dictionary), memory.now);
    for (unsigned i = 0; i < 10; i++)
        assert_value(&dictionary, code[i], i + 1);
    for (unsigned i = 10; !dictionary.moves; i++)
        keep(&dictionary, i + 1, 1);
    bry__dictionary_clear(&dictionary);
    for (unsigned i = 0; i < 100; i++) {
        assert_false(finds(&dictionary, i));
        assert_int_equal(keep(&dictionary, i, 1), i);
    }
    bry__dictionary_free(&dictionary);
    assert_int_equal(memory.now, 0);
}
