/* Structs of callers that were compiled with other headers, and options that are not valid: what can
 * be tested without a server. */
#include "clients/c/cluster_client.h"
#include "support/cmocka_all.h"

#include <bloomery_cluster_counters.h>
#include <string.h>

#define RECORD                                                                                     \
    "bloomery-map 1 slabs=96 epoch=0123456789abcdef pick=crc32 values=raw:8 engine=compact "       \
    "capacity=1000000 error=0.001 seed=7"
#define URL "redis://localhost:1/"
#define GUARD 0xa5

static const size_t wrong[] = {0, 4, 20, SIZE_MAX, (size_t)1 << 32};
enum { WRONG = sizeof wrong / sizeof *wrong };

static bry_status opened(const void *options)
{
    bryc_client *client = NULL;
    bry_status status = bryc_open(URL, options, &client);
    assert_non_null(client);
    bryc_close(client);
    return status;
}

TEST(options_of_the_client)
{
    struct {
        bryc_options options;
        uint64_t later;
    } given = {BRYC_OPTIONS, 0};
    given.options.patience_ms = 1;
    for (size_t i = 0; i < WRONG; i++) {
        given.options.struct_size = wrong[i];
        assert_int_equal(opened(&given), BRY_E_RANGE);
    }
    given.options.struct_size = sizeof given;
    assert_int_equal(opened(&given), BRY_E_IO);
    given.later = 1;
    assert_int_equal(opened(&given), BRY_E_RANGE);
    given.later = 0;
    given.options.reserved = 1;
    assert_int_equal(opened(&given), BRY_E_RANGE);
}

TEST(options_of_a_map)
{
    bryc_map *map;
    struct {
        bryc_map_options options;
        uint64_t later, guard;
    } got;
    const char *problem = NULL;
    assert_int_equal(bryc_map_prepare(NULL, "m", RECORD, &map, &problem), BRY_OK);
    for (size_t i = 0; i < WRONG; i++) {
        memset(&got, GUARD, sizeof got);
        assert_int_equal(bryc_map_get_options_sized(map, &got.options, wrong[i]), BRY_E_RANGE);
        assert_int_equal(got.options.capacity, UINT64_C(0xa5a5a5a5a5a5a5a5));
    }
    /* `keyed`, the last option, is set: it is not left out. */
    assert_int_equal(
        bryc_map_get_options_sized(map, &got.options, offsetof(bryc_map_options, keyed)),
        BRY_E_RANGE);
    assert_int_equal(got.options.capacity, UINT64_C(0xa5a5a5a5a5a5a5a5));
    size_t size = sizeof got - sizeof got.guard;
    assert_int_equal(bryc_map_get_options_sized(map, &got.options, size), BRY_OK);
    assert_int_equal(got.options.struct_size, size);
    assert_int_equal(got.options.capacity, 1000000);
    assert_int_equal(got.options.value_bits, 8);
    assert_int_equal(got.options.keyed, 2);
    assert_int_equal(got.later, 0);
    assert_int_equal(got.guard, UINT64_C(0xa5a5a5a5a5a5a5a5));
    bryc_map_close(map);

    bryc_client *client = NULL;
    bryc_map_options options = BRYC_MAP_OPTIONS;
    assert_int_equal(bryc_open("no URL", NULL, &client), BRY_E_RANGE);
    options.keyed = 3;
    assert_int_equal(bryc_map_create(client, "m", &options, &map), BRY_E_RANGE);
    bryc_close(client);
}

/* A node that is known without a connection. */
TEST(nodes_and_commands)
{
    bryc_client *client = NULL;
    uint32_t number;
    assert_int_equal(bryc_open("no URL", NULL, &client), BRY_E_RANGE);
    assert_int_equal(bryc_node_find(client, "localhost", 1, &number), BRY_OK);
    bryc_node node;
    for (size_t i = 0; i < WRONG; i++) {
        memset(&node, GUARD, sizeof node);
        assert_int_equal(bryc_node_at_sized(client, number, &node, wrong[i]), BRY_E_RANGE);
        assert_int_equal(node.port, 0xa5a5a5a5);
    }
    assert_int_equal(bryc_node_at(client, number, &node), BRY_OK);
    assert_int_equal(node.port, 1);

    static const char *const words[] = {"PING"};
    bryc_command command = {.argc = 1, .argv = words, .flags = BRYC_FIXED, .node = number};
    command.reserved = 1;
    assert_int_equal(bryc_send(client, &command, 1), BRY_E_RANGE);
    assert_int_equal(command.status, BRY_E_RANGE);
    command.reserved = 0;
    command.flags |= 8;
    assert_int_equal(bryc_send(client, &command, 1), BRY_E_RANGE);
    bryc_close(client);
}

/* Refused before anything is asked. */
TEST(options_of_counters)
{
    bryc_client *client = NULL;
    bryc_counters *table = NULL;
    bryc_counters_options options = BRYC_COUNTERS_OPTIONS;
    assert_int_equal(bryc_open("no URL", NULL, &client), BRY_E_RANGE);
    options.reserved = 1;
    assert_int_equal(bryc_counters_create(client, "t", &options, NULL, &table), BRY_E_RANGE);
    options.reserved = 0;
    bryc_counters_use use = BRYC_COUNTERS_USE;
    use.no_wait = 2;
    assert_int_equal(bryc_counters_create(client, "t", &options, &use, &table), BRY_E_RANGE);
    assert_int_equal(bryc_counters_open(client, "t", &use, &table), BRY_E_RANGE);
    assert_null(table);
    bryc_close(client);
}
