/* The index in memory when a repository outgrows its plan: small units, so that many are needed. */
#include "apps/dedup/check/findings.h"
#include "apps/dedup/store/store.h"

#include "dedup/remove_dir.h"
#include "support/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { UNIT = 256, UNITS = 150, CHUNKS = UNIT * UNITS, STRANGERS = 300000 };

typedef struct fixture {
    char path[64];
    dedup_repo repo;
    dedup_store store;
} fixture;

static void open_store(fixture *f)
{
    assert_int_equal(dedup_repo_open(&f->repo, f->path, DEDUP_WRITE), DEDUP_OK);
    f->repo.unit_chunks = UNIT;
    assert_int_equal(dedup_store_open(&f->store, &f->repo, true), DEDUP_OK);
}

static void close_store(fixture *f)
{
    dedup_store_close(&f->store);
    dedup_repo_close(&f->repo);
}

static void begin_plain(fixture *f, bry_engine engine)
{
    dedup_config config = {.chunk = 4096, .hash = DEDUP_SHA256, .engine = engine};
    strcpy(f->path, "/tmp/dedup-units-XXXXXX");
    assert_non_null(mkdtemp(f->path));
    assert_int_equal(dedup_repo_create(f->path, &config), DEDUP_OK);
}

static void begin(fixture *f, bry_engine engine)
{
    begin_plain(f, engine);
    open_store(f);
}

static void end(fixture *f)
{
    close_store(f);
    remove_dir(f->path);
}

static void add_chunk(fixture *f, uint32_t number)
{
    dedup_digest digest;
    assert_int_equal(dedup_store_add(&f->store, DEDUP_DATA, &number, sizeof number, &digest),
                     DEDUP_OK);
}

static bool may_have(fixture *f, uint32_t number)
{
    dedup_digest digest;
    assert_int_equal(dedup_hasher_run(&f->store.hasher, &number, sizeof number, &digest), DEDUP_OK);
    return dedup_units_may_have(&f->store.units, &digest);
}

/* Everything stored is found, and few other chunks are: 2^-14, within five standard deviations. */
static void check_answers(fixture *f, uint32_t first)
{
    unsigned wrong = 0;
    for (uint32_t i = first; i < CHUNKS; i++)
        assert_true(may_have(f, i));
    for (uint32_t i = 0; i < STRANGERS; i++)
        wrong += may_have(f, CHUNKS + i);
    assert_true(wrong <= 18 + 22); /* 18.3 expected */
}

static void outgrow(bry_engine engine)
{
    fixture f;
    begin(&f, engine);
    for (uint32_t i = 0; i < CHUNKS; i++)
        add_chunk(&f, i);
    assert_int_equal(dedup_store_commit(&f.store), DEDUP_OK);
    assert_true(f.store.rows.count >= UNITS);
    bry_index_stats stats = {0};
    assert_int_equal(bry_index_get_stats(f.store.units.index, &stats), BRY_OK);
    assert_true(stats.units >= UNITS);
    assert_true(stats.estimated_error <= 1.05 * DEDUP_INDEX_ERROR);
    assert_int_equal(stats.waiting_for_supplier, 0);
    assert_true(engine != BRY_ENGINE_DBA || stats.dba.rebuilds > 0);
    check_answers(&f, 0);
    assert_int_equal(f.store.counters.new_chunks, CHUNKS);

    /* Saved and loaded, everything is known. */
    assert_int_equal(dedup_store_save(&f.store), DEDUP_OK);
    close_store(&f);
    open_store(&f);
    check_answers(&f, 0);
    for (uint32_t i = 0; i < CHUNKS; i += 7)
        add_chunk(&f, i);
    assert_int_equal(f.store.counters.new_chunks, 0);
    end(&f);
}

TEST(compact_grows)
{
    outgrow(BRY_ENGINE_COMPACT);
}

TEST(dba_grows_by_rebuilding)
{
    outgrow(BRY_ENGINE_DBA);
}

/* The first half of the containers goes, as in gc. */
static void shrink(bry_engine engine)
{
    fixture f;
    begin(&f, engine);
    for (uint32_t i = 0; i < CHUNKS; i++)
        add_chunk(&f, i);
    assert_int_equal(dedup_store_commit(&f.store), DEDUP_OK);
    size_t half = f.store.rows.count / 2;
    uint64_t *numbers = malloc(half * sizeof *numbers);
    uint32_t removed = 0;
    for (size_t i = 0; i < half; i++) {
        numbers[i] = f.store.rows.row[i].number;
        removed += (uint32_t)f.store.rows.row[i].chunks;
    }
    memmove(f.store.rows.row, f.store.rows.row + half,
            (f.store.rows.count - half) * sizeof *f.store.rows.row);
    f.store.rows.count -= half;
    for (size_t i = 0; i < half; i++) {
        dedup_slot *slot;
        assert_int_equal(dedup_store_container(&f.store, numbers[i], &slot), DEDUP_OK);
        assert_int_equal(dedup_units_remove(&f.store.units, &slot->directory), DEDUP_OK);
    }
    assert_int_equal(dedup_units_mend(&f.store.units), DEDUP_OK);
    assert_int_equal(dedup_units_settle(&f.store.units), DEDUP_OK);
    unsigned left = 0;
    for (uint32_t i = 0; i < removed; i++)
        left += may_have(&f, i);
    assert_true(left < 20);
    check_answers(&f, removed);
    bry_index_stats stats = {0};
    assert_int_equal(bry_index_get_stats(f.store.units.index, &stats), BRY_OK);
    assert_true(stats.units <= UNITS - half + 2);
    free(numbers);
    end(&f);
}

TEST(units_without_containers_go)
{
    shrink(BRY_ENGINE_COMPACT);
    shrink(BRY_ENGINE_DBA);
}

/* Chunks that are there, in a process that has no directory in memory. */
static void begin_known(fixture *f, bry_engine engine)
{
    begin(f, engine);
    for (uint32_t i = 0; i < CHUNKS; i++)
        add_chunk(f, i);
    assert_int_equal(dedup_store_commit(&f->store), DEDUP_OK);
    assert_int_equal(dedup_store_save(&f->store), DEDUP_OK);
    close_store(f);
    open_store(f);
}

/* The index names the unit of a chunk, and the directory of its container confirms it: the exact index is
 * asked only where two units are named. */
static void put_known(bry_engine engine)
{
    fixture f;
    begin_known(&f, engine);
    for (uint32_t i = 0; i < CHUNKS; i++)
        add_chunk(&f, i);
    const dedup_counters *counters = &f.store.counters;
    assert_int_equal(counters->new_chunks, 0);
    assert_int_equal(counters->cache_hits + counters->read_ahead + counters->lookups, CHUNKS);
    assert_in_range(counters->read_ahead, f.store.rows.count - 2, f.store.rows.count);
    assert_true(counters->lookups <= 2);
    end(&f);
}

TEST(known_without_the_exact_index)
{
    put_known(BRY_ENGINE_COMPACT);
    put_known(BRY_ENGINE_DBA);
}

/* Wrong guesses, and those that cannot be read: the exact index decides. */
TEST(a_guess_is_only_a_guess)
{
    fixture f;
    begin_known(&f, BRY_ENGINE_COMPACT);
    const dedup_counters *counters = &f.store.counters;
    uint32_t unit;
    uint64_t first;
    dedup_digest digest;
    const uint32_t known = CHUNKS / 2, stranger = CHUNKS + 1;
    assert_int_equal(dedup_hasher_run(&f.store.hasher, &known, sizeof known, &digest), DEDUP_OK);
    assert_int_equal(dedup_units_locate(&f.store.units, &digest, &unit), 1);
    assert_int_equal(bry_index_get_tag(f.store.units.index, unit, &first), BRY_OK);

    /* The guess is another container. */
    assert_int_equal(bry_index_set_tag(f.store.units.index, unit, first - 1), BRY_OK);
    add_chunk(&f, known);
    assert_int_equal(counters->lookups, 1);
    assert_int_equal(counters->read_ahead, 0);

    /* The guess is a container that is gone. */
    for (uint32_t i = 0; i < f.store.cache.slots; i++)
        if (f.store.cache.slot[i].used && !f.store.cache.slot[i].pinned)
            dedup_locality_remove(&f.store.cache, &f.store.cache.slot[i]);
    free(f.store.next_in_unit);
    f.store.next_in_unit = NULL;
    f.store.next_room = 0;
    assert_int_equal(unlinkat(f.repo.fd, dedup_container_name_of(first - 1).text, 0), 0);
    add_chunk(&f, known);
    assert_int_equal(counters->lookups, 2);
    assert_int_equal(counters->new_chunks, 0);
    assert_int_equal(bry_index_set_tag(f.store.units.index, unit, first), BRY_OK);

    /* The named unit does not have the chunk. */
    assert_int_equal(dedup_hasher_run(&f.store.hasher, &stranger, sizeof stranger, &digest),
                     DEDUP_OK);
    assert_int_equal(bry_index_open(f.store.units.index, first, &unit), BRY_OK);
    assert_int_equal(
        bry_index_add(f.store.units.index, bry_hash_digest(digest.bytes), unit, NULL, NULL),
        BRY_OK);
    add_chunk(&f, stranger);
    assert_int_equal(counters->lookups, 3);
    assert_int_equal(counters->false_alarms, 1);
    assert_int_equal(counters->new_chunks, 1);
    assert_int_equal(counters->read_ahead, 0);
    end(&f);
}

/* Before 0.1 the elements were hashes of the digests, and the note was shorter. */
TEST(units_of_an_earlier_version)
{
    enum { REMOVED = 1000 };
    fixture f;
    char place[sizeof f.path + 8];
    unsigned char note[8] = {REMOVED & 0xff, REMOVED >> 8};
    bry_index_options options = BRY_INDEX_OPTIONS;
    bry_index *earlier;
    bry_save save = BRY_SAVE;
    save.note = note;
    save.note_len = sizeof note;
    begin_known(&f, BRY_ENGINE_COMPACT);
    close_store(&f);
    snprintf(place, sizeof place, "%s/units", f.path);
    remove_dir(place);
    assert_int_equal(bry_index_create(&options, &earlier), BRY_OK);
    assert_int_equal(bry_index_save_dir(earlier, place, &save), BRY_OK);
    bry_index_destroy(earlier);

    dedup_findings findings = {.quiet = true};
    assert_int_equal(dedup_repo_open(&f.repo, f.path, DEDUP_WRITE), DEDUP_OK);
    f.repo.unit_chunks = UNIT;
    assert_int_equal(dedup_store_open_plain(&f.store, &f.repo, true), DEDUP_OK);
    assert_int_equal(dedup_check_units(&f.store, true, &findings), DEDUP_OK);
    assert_int_equal(findings.count, 0);
    close_store(&f);

    open_store(&f);
    assert_true(f.store.units.rebuilt);
    assert_int_equal(f.store.next, REMOVED); /* no number is used again */
    check_answers(&f, 0);
    close_store(&f);
    open_store(&f);
    assert_false(f.store.units.rebuilt);
    end(&f);
}

/* A small repository of engine dba has small units, and gets large ones when it has grown. */
TEST(small_units_become_large)
{
    enum { SMALL = 8192, LARGE = 65536, GROWN = 17 * SMALL };
    fixture f;
    bry_index_stats stats = {0};
    begin_plain(&f, BRY_ENGINE_DBA);
    assert_int_equal(dedup_repo_open(&f.repo, f.path, DEDUP_WRITE), DEDUP_OK);
    assert_int_equal(dedup_store_open(&f.store, &f.repo, true), DEDUP_OK);
    for (uint32_t i = 0; i < GROWN; i++) {
        add_chunk(&f, i);
        if (i == SMALL) {
            assert_int_equal(dedup_store_commit(&f.store), DEDUP_OK);
            assert_int_equal(bry_index_get_stats(f.store.units.index, &stats), BRY_OK);
            assert_int_equal(stats.unit_capacity, SMALL);
        }
    }
    assert_int_equal(dedup_store_commit(&f.store), DEDUP_OK);
    assert_int_equal(bry_index_get_stats(f.store.units.index, &stats), BRY_OK);
    assert_int_equal(stats.unit_capacity, LARGE);
    assert_true(stats.bytes <= 6 * (uint64_t)GROWN);
    assert_int_equal(dedup_store_save(&f.store), DEDUP_OK);
    for (uint32_t i = 0; i < GROWN; i++)
        assert_true(may_have(&f, i));
    for (uint32_t i = GROWN; i < GROWN + SMALL; i++) /* and it goes on */
        add_chunk(&f, i);
    assert_int_equal(dedup_store_commit(&f.store), DEDUP_OK);
    for (uint32_t i = 0; i < GROWN + SMALL; i++)
        assert_true(may_have(&f, i));
    end(&f);
}
