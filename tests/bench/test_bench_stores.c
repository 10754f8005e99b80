/* The stores that are compared: each answers what was put into it. Those whose server is not
 * installed are skipped. */
#include "bench/cases/map/store_work.h"
#include "bench/peers/peer_memcached.h"
#include "bench/peers/peer_redis.h"
#include "cli/core/files/program_files.h"
#include "support/cmocka_all.h"

#include <stdio.h>
#include <string.h>

enum { PAIRS = 2050, ASKED = 1025, VALUES = 100 };

static map_store_options options_for(bry_engine engine)
{
    map_store_options options = {.map = BRY_MAP_OPTIONS, .megabytes = 64};
    options.map.engine = engine;
    options.map.capacity = PAIRS;
    options.map.values = VALUES;
    options.map.error = 1e-6;
    options.map.seed = 5;
    options.map.fixed = true;
    return options;
}

static uint64_t wrong_answers(const store_work *work, bool there)
{
    uint64_t wrong = 0;
    assert_true(store_look_up(work, there, &wrong));
    return wrong;
}

/* Everything with several keys per request, the last request having fewer, and with one. */
static void check_store(const map_store *store, const map_store_options *options, size_t at_once)
{
    kbf_workload load;
    map_store_size size;
    uint64_t absent = 0;
    assert_true(kbf_workload_make(&load, PAIRS, ASKED, VALUES));
    store_work work = {store, store->open(options), &load, at_once};
    assert_non_null(work.state);
    uint64_t processor = store->processor_time(work.state);
    assert_true(store_fill(&work));
    assert_int_equal(wrong_answers(&work, true), 0);
    assert_int_equal(wrong_answers(&work, false), 0);
    assert_true(store->size(work.state, &size) && size.bytes > 3 * PAIRS);
    assert_true(store_update(&work));
    assert_true(wrong_answers(&work, true) > ASKED / 2);
    assert_true(store_delete(&work, &absent));
    assert_int_equal(absent, 0);
    assert_int_equal(wrong_answers(&work, true), ASKED);
    assert_true(store_delete(&work, &absent));
    assert_int_equal(absent, ASKED);
    assert_true(store == &local_map_store || store->processor_time(work.state) > processor);
    store->close(work.state);
    kbf_workload_free(&load);
}

static void check_sizes(const map_store *store, const map_store_options *options)
{
    check_store(store, options, MAP_STORE_MOST_KEYS);
    check_store(store, options, 1);
}

TEST(a_map_in_the_process)
{
    const map_store_options kbf = options_for(BRY_ENGINE_KBF);
    const map_store_options compact = options_for(BRY_ENGINE_COMPACT);
    check_sizes(&local_map_store, &kbf);
    check_sizes(&local_map_store, &compact);
}

TEST(strings_of_redis)
{
    const map_store_options options = options_for(BRY_ENGINE_COMPACT);
    if (!redis_installed())
        skip();
    check_sizes(&redis_string_store, &options);
}

/* A sanitized module does not load into a server that is not. */
TEST(a_map_in_our_server)
{
    cli_path path;
#ifdef BENCH_SANITIZED
    skip();
#endif
    if (!redis_installed() || !cli_find_beside("bloomery.so", &path))
        skip();
    map_store_options options = options_for(BRY_ENGINE_COMPACT);
    options.module = path.text;
    check_sizes(&redis_map_store, &options);
    options.map.engine = BRY_ENGINE_KBF;
    check_sizes(&redis_map_store, &options);
}

TEST(pairs_in_memcached)
{
    const map_store_options options = options_for(BRY_ENGINE_COMPACT);
    if (!memcached_installed())
        skip();
    check_sizes(&memcached_store, &options);
}

/* One that refuses says so for each pair; the others stay. */
TEST(a_full_memcached)
{
    enum { LARGE = 60000, MANY = 200 };
    static char bytes[LARGE], names[MANY][16];
    if (!memcached_installed())
        skip();
    local_server *server = memcached_start(4, true);
    assert_non_null(server);
    memset(bytes, 'x', sizeof bytes);
    size_t all = 0, stored = 1;
    kbf_text key = {0}, value = {bytes, sizeof bytes};
    const kbf_text *keys = &key, *values = &value;
    for (unsigned i = 0; i < MANY; i++) {
        key = (kbf_text){names[i], (size_t)snprintf(names[i], sizeof names[i], "key%u", i)};
        assert_true(memcached_set(server, &keys, &values, 1, &stored));
        all += stored;
    }
    assert_true(all > 10 && all < MANY);
    kbf_text found;
    uint8_t answer;
    key = (kbf_text){"key0", 4};
    assert_true(memcached_get(server, &keys, 1, &found, &answer));
    assert_int_equal(answer, BRY_PRESENT);
    assert_int_equal(found.len, LARGE);
    local_server_stop(server);
}
