/* The table of names compared with an exact model, and listings while names change. */
#include "counter/counter_names.h"

#include <stdlib.h>
#include <string.h>

#include "support/cmocka_all.h"
#include "support/failing_allocator.h"
#include "support/generator.h"

/* Name i, with a length that depends on i mod 20; all are distinct. */
static size_t make_name(unsigned i, unsigned char bytes[32])
{
    size_t len = i == 0 ? 0 : 4 + i % 20;
    memset(bytes, (int)i, len);
    if (len)
        memcpy(bytes, &i, 4);
    return len;
}

typedef struct twin {
    failing_allocator memory;
    bry__counter_names names;
    unsigned many; /* names that there may be */
    bool *there;
    int64_t *value;
    uint64_t count;
} twin;

static void twin_make(twin *t, unsigned many)
{
    failing_allocator_init(&t->memory);
    assert_int_equal(bry__counter_names_init(&t->names, 7, &t->memory.allocator), BRY_OK);
    assert_int_equal(t->memory.now, bry__counter_names_bytes_empty());
    t->many = many;
    t->there = calloc(many, sizeof *t->there);
    t->value = calloc(many, sizeof *t->value);
    assert_true(t->there && t->value);
    t->count = 0;
}

static void twin_free(twin *t)
{
    bry__counter_names_free(&t->names);
    assert_int_equal(t->memory.blocks, 0);
    free(t->there);
    free(t->value);
}

static bry_status add(bry__counter_names *names, const void *bytes, size_t len,
                      bry__counter_name **name)
{
    return bry__counter_names_add(names, bry__counter_names_key(names, bytes, len), name);
}

static void put(twin *t, unsigned i, int64_t value)
{
    unsigned char bytes[32];
    size_t len = make_name(i, bytes);
    bry__counter_name *name = bry__counter_names_get(&t->names, bytes, len);
    assert_true((name != NULL) == t->there[i]);
    if (!name) {
        assert_int_equal(add(&t->names, bytes, len, &name), BRY_OK);
        assert_true(name->fresh && name->value == 0);
        name->fresh = false;
        t->count++;
    }
    assert_int_equal(name->value, t->value[i]);
    name->value = t->value[i] = value;
    t->there[i] = true;
}

static void take(twin *t, unsigned i)
{
    unsigned char bytes[32];
    size_t len = make_name(i, bytes);
    bry__counter_name *name = bry__counter_names_get(&t->names, bytes, len);
    assert_true((name != NULL) == t->there[i]);
    if (name) {
        bry__counter_names_del(&t->names, name);
        t->there[i] = false;
        t->value[i] = 0;
        t->count--;
    }
}

static unsigned number_of(const bry_counters_entry *entry)
{
    unsigned i = 0;
    if (entry->name_len)
        memcpy(&i, entry->name, 4);
    unsigned char bytes[32];
    assert_int_equal(entry->name_len, make_name(i, bytes));
    assert_memory_equal(entry->name, bytes, entry->name_len);
    return i;
}

/* A listing without changes has every name once. */
static void compare(const twin *t, size_t room)
{
    bry_counters_entry entries[64];
    uint64_t cursor = 0, listed = 0;
    bool *seen = calloc(t->many + 1u, sizeof *seen);
    assert_non_null(seen);
    do {
        size_t n = bry__counter_names_scan(&t->names, &cursor, entries, sizeof *entries, room);
        assert_true(n <= room && (n == room || cursor == 0));
        for (size_t k = 0; k < n; k++) {
            unsigned i = number_of(&entries[k]);
            assert_true(i < t->many && t->there[i] && !seen[i]);
            assert_int_equal(entries[k].value, t->value[i]);
            seen[i] = true;
            listed++;
        }
    } while (cursor != 0);
    assert_int_equal(listed, t->count);
    assert_int_equal(t->names.count, t->count);
    free(seen);
}

TEST(against_a_model)
{
    twin t;
    twin_make(&t, 20000);
    generator from = {11};
    /* Grows, shrinks and grows again, through many sizes of the directory. */
    static const unsigned added_of_eight[] = {8, 5, 1, 7, 0, 4, 6};
    for (size_t phase = 0; phase < sizeof added_of_eight / sizeof *added_of_eight; phase++) {
        for (int step = 0; step < 40000; step++) {
            unsigned i = (unsigned)generator_below(&from, t.many);
            if (generator_below(&from, 8) < added_of_eight[phase])
                put(&t, i, (int64_t)generator_next(&from));
            else
                take(&t, i);
            /* A bucket has between one name and four on average, but for the row's first ones. */
            assert_true(t.names.buckets <= t.count + 16 && 4 * t.names.buckets >= t.count);
        }
        compare(&t, 1 + phase * 9);
    }
    for (unsigned i = 0; i < t.many; i++)
        take(&t, i);
    compare(&t, 3);
    assert_int_equal(t.memory.now, bry__counter_names_bytes_empty());
    twin_free(&t);
}

/* Names below `stay` exist throughout; the others are added and removed between the calls. */
TEST(listing_under_change)
{
    static const struct {
        unsigned stay, churn, room, changes, adds; /* adds: of 4 */
    } cases[] = {
        {100, 20000, 1, 300, 4},   {500, 20000, 7, 500, 3}, {2000, 20000, 16, 900, 1},
        {300, 40000, 64, 9000, 2}, {900, 3000, 5, 100, 2},  {1, 5000, 1, 2000, 3},
    };
    unsigned changed = 0;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        for (int full = 0; full < 2; full++) { /* beginning with all, or with those that stay */
            twin t;
            twin_make(&t, cases[c].stay + cases[c].churn);
            for (unsigned i = 0; i < (full ? t.many : cases[c].stay); i++)
                put(&t, i, i);
            generator from = {100 + c};
            unsigned adds = full ? 4 - cases[c].adds : cases[c].adds;
            bool *seen = calloc(t.many, sizeof *seen);
            assert_non_null(seen);
            uint64_t cursor = 0, calls = 0, least = UINT64_MAX, most = 0;
            do {
                bry_counters_entry entries[64];
                size_t n = bry__counter_names_scan(&t.names, &cursor, entries, sizeof *entries,
                                                   cases[c].room);
                for (size_t k = 0; k < n; k++)
                    seen[number_of(&entries[k])] = true;
                for (unsigned k = 0; k < cases[c].changes && calls < 400; k++) {
                    unsigned i = cases[c].stay + (unsigned)generator_below(&from, cases[c].churn);
                    if (generator_below(&from, 4) < adds)
                        put(&t, i, 1);
                    else
                        take(&t, i);
                }
                least = t.names.buckets < least ? t.names.buckets : least;
                most = t.names.buckets > most ? t.names.buckets : most;
                calls++;
            } while (cursor != 0);
            for (unsigned i = 0; i < cases[c].stay; i++)
                assert_true(seen[i]);
            changed += most > 2 * least;
            free(seen);
            twin_free(&t);
        }
    }
    assert_true(changed >= 6); /* times that the row more than doubled or halved meanwhile */
}

/* Two pairs of names whose hashes under seed 1 agree in the 48 bits that count. */
static const char *const alike[] = {"00dd132", "133a48a", "057b60d", "0a3253f"};

TEST(names_with_one_hash)
{
    failing_allocator memory;
    failing_allocator_init(&memory);
    bry__counter_names names;
    assert_int_equal(bry__counter_names_init(&names, 1, &memory.allocator), BRY_OK);
    for (int i = 0; i < 4; i += 2)
        assert_true(((bry_hash_key(1, alike[i], 7).lo ^ bry_hash_key(1, alike[i + 1], 7).lo) &
                     ((UINT64_C(1) << 48) - 1)) == 0);
    bry__counter_name *name;
    for (int i = 0; i < 4; i++) {
        assert_int_equal(add(&names, alike[i], 7, &name), BRY_OK);
        assert_int_equal(name->tie, i % 2);
        name->value = i;
    }
    for (int i = 0; i < 4; i++)
        assert_int_equal(bry__counter_names_get(&names, alike[i], 7)->value, i);

    /* Adds and removes them one by one. A listing between two of them misses neither when the first
     * is removed. */
    for (int gone = -1; gone < 4; gone++) {
        bool seen[4] = {false};
        bry_counters_entry entry;
        uint64_t cursor = 0;
        do {
            size_t n = bry__counter_names_scan(&names, &cursor, &entry, sizeof entry, 1);
            if (n)
                seen[entry.value] = true;
            if (n && gone >= 0 && entry.value == gone) {
                name = bry__counter_names_get(&names, alike[gone], 7);
                assert_non_null(name);
                bry__counter_names_del(&names, name);
            }
        } while (cursor != 0);
        for (int i = 0; i < 4; i++)
            assert_true(seen[i]);
        if (gone >= 0) {
            assert_int_equal(add(&names, alike[gone], 7, &name), BRY_OK);
            assert_int_equal(name->tie, gone % 2);
            name->value = gone;
        }
    }
    assert_int_equal(names.count, 4);
    bry__counter_names_free(&names);
    assert_int_equal(memory.blocks, 0);
}

TEST(any_cursor)
{
    twin t;
    twin_make(&t, 3000);
    for (unsigned i = 0; i < t.many; i++)
        put(&t, i, i);
    generator from = {5};
    for (int i = 0; i < 2000; i++) {
        static const uint64_t edges[] = {1, UINT64_MAX, UINT64_C(1) << 63, UINT64_MAX - 1};
        uint64_t cursor = i < 4 ? edges[i] : generator_next(&from);
        uint64_t calls = 0;
        bry_counters_entry entries[40];
        do
            for (size_t k =
                     bry__counter_names_scan(&t.names, &cursor, entries, sizeof *entries, 40);
                 k > 0; k--)
                number_of(&entries[k - 1]);
        while (cursor != 0 && ++calls < 1000);
        assert_true(cursor == 0);
    }
    twin_free(&t);
}

/* Look-up and prefetch agree, and prefetch changes nothing. */
TEST(fetching)
{
    twin t;
    twin_make(&t, 4000);
    for (unsigned i = 0; i < t.many; i += 2)
        put(&t, i, i);
    for (unsigned i = 0; i < t.many; i++) {
        unsigned char bytes[32];
        bry__counter_key key = bry__counter_names_key(&t.names, bytes, make_name(i, bytes));
        bry__counter_names_fetch_bucket(&t.names, key.hash);
        bry__counter_names_fetch_name(&t.names, key);
        assert_true((bry__counter_names_find(&t.names, key) != NULL) == t.there[i]);
    }
    assert_null(bry__counter_names_get(&t.names, "", BRY_COUNTERS_NAME_MAX + 1u));
    compare(&t, 5);
    twin_free(&t);
}

/* Adds a name, or changes it, without memory for more buckets: only the bucket may allocate. */
static void put_crowded(twin *t, unsigned i, int64_t value)
{
    unsigned char bytes[32];
    size_t len = make_name(i, bytes);
    bry__counter_name *name = bry__counter_names_get(&t->names, bytes, len);
    bool there = name != NULL;
    for (t->memory.fail_at = 1; !name; t->memory.fail_at++) {
        failing_allocator_restart(&t->memory);
        if (add(&t->names, bytes, len, &name) != BRY_OK)
            name = NULL;
        assert_true(name || t->memory.fail_at == 1);
    }
    t->memory.fail_at = 0;
    assert_true(there == t->there[i]);
    t->count += !there;
    t->there[i] = true;
    name->value = t->value[i] = value;
}

/* Buckets of hundreds of names, since the row could not grow; then it can. */
TEST(crowded_buckets)
{
    twin t;
    twin_make(&t, 3000);
    t.memory.keep_failing = true;
    generator from = {23};
    for (int i = 0; i < 12000; i++) {
        unsigned name = (unsigned)generator_below(&from, t.many);
        if (generator_below(&from, 8) < 7)
            put_crowded(&t, name, (int64_t)generator_next(&from));
        else
            take(&t, name);
    }
    uint64_t few = t.names.buckets;
    assert_true(t.count > 2300 && few <= 8);
    compare(&t, 1);
    compare(&t, 64);
    for (int i = 0; i < 3000; i++) /* long buckets become short ones again */
        take(&t, (unsigned)generator_below(&from, t.many));
    compare(&t, 13);
    for (unsigned i = 0; i < t.many; i++)
        put_crowded(&t, i, i);
    assert_int_equal(t.names.buckets, few);

    while (4 * t.names.buckets < t.count) {
        unsigned name = (unsigned)generator_below(&from, t.many);
        take(&t, name);
        uint64_t before = t.names.buckets;
        put(&t, name, 1);
        assert_int_equal(t.names.buckets, before + 1);
    }
    compare(&t, 29);
    for (unsigned i = 0; i < t.many; i++)
        take(&t, i);
    assert_int_equal(t.memory.now, bry__counter_names_bytes_empty());
    twin_free(&t);
}

/* Each allocation of each addition fails once, and nothing changes; if it only served to keep
 * buckets short, they become longer. */
TEST(without_memory)
{
    failing_allocator memory;
    bry__counter_names names;
    failing_allocator_init(&memory);
    for (memory.fail_at = 1;; memory.fail_at++) {
        failing_allocator_restart(&memory);
        bry_status status = bry__counter_names_init(&names, 7, &memory.allocator);
        if (status == BRY_OK)
            break;
        assert_int_equal(status, BRY_E_NOMEM);
        assert_int_equal(memory.now, 0);
    }
    assert_int_equal(memory.fail_at, 3);
    unsigned char bytes[32];
    bry__counter_name *name;
    unsigned refused = 0, kept_short = 0;
    for (unsigned i = 0; i < 6000; i++) {
        size_t len = make_name(i, bytes);
        for (memory.fail_at = 1;; memory.fail_at++) {
            uint64_t before = memory.now;
            failing_allocator_restart(&memory);
            bry_status status = add(&names, bytes, len, &name);
            bool failed = memory.calls >= memory.fail_at;
            if (status != BRY_OK) {
                assert_int_equal(memory.fail_at, 1); /* the bucket's block */
                assert_int_equal(memory.now, before);
            }
            assert_int_equal(names.count, i + (status == BRY_OK));
            assert_ptr_equal(bry__counter_names_get(&names, bytes, len),
                             status == BRY_OK ? name : NULL);
            if (!failed)
                break;
            refused += status != BRY_OK;
            kept_short += status == BRY_OK;
            if (status == BRY_OK)
                bry__counter_names_del(&names, name);
        }
        name->value = i;
    }
    assert_true(refused > 1000 && kept_short > 1000);
    memory.keep_failing = true;
    for (unsigned i = 0; i < 6000; i++) {
        size_t len = make_name(i, bytes);
        name = bry__counter_names_get(&names, bytes, len);
        assert_true(name && name->value == i);
        failing_allocator_restart(&memory);
        memory.fail_at = 1; /* a block for two buckets that are joined, the smaller row */
        bry__counter_names_del(&names, name);
        assert_null(bry__counter_names_get(&names, bytes, len));
    }
    assert_int_equal(names.buckets, 2);
    bry__counter_names_free(&names);
    assert_int_equal(memory.now, 0);
}

/* The row begins a piece, or its first one grows, for a bucket that there is no memory for. Then
 * the row shrinks. */
TEST(row_without_memory)
{
    for (unsigned many = 8; many <= 8192; many *= 2) {
        for (uint64_t fail_at = 1, more = true; more; fail_at++) {
            twin t;
            twin_make(&t, many + 1);
            for (unsigned i = 0; i < many; i++)
                put(&t, i, i);
            failing_allocator_restart(&t.memory);
            t.memory.fail_at = fail_at;
            t.memory.keep_failing = true;
            unsigned char bytes[32];
            bry__counter_name *name;
            size_t len = make_name(many, bytes);
            bool added = add(&t.names, bytes, len, &name) == BRY_OK;
            more = t.memory.calls >= fail_at;
            t.memory.fail_at = 0;
            t.there[many] = added;
            t.count += added;
            for (unsigned i = 0; i < t.many; i++)
                take(&t, i);
            assert_int_equal(t.memory.now, bry__counter_names_bytes_empty());
            twin_free(&t);
        }
    }
}
