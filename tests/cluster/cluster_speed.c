/*
 * Compares the distributed map with plain keys: cluster_speed URL PAIRS [BLOCKS]
 *
 * Loads PAIRS pairs of 12-bit integers into the map of the URL, and the same pairs as plain keys;
 * then looks up batches of 1,000 keys in turn in both, with the same client, and prints keys per
 * second and the ratio. Half of the keys are present.
 */
#include <bloomery_cluster.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "cli/core/steady_clock.h"

#define ROUND 100000u
#define BATCH 1000u
#define KEY_ROOM 24u

static char text[ROUND][KEY_ROOM];
static bryc_key keys[ROUND];
static bry_map_value values[ROUND];
static bry_answer answers[ROUND];
static char number_text[ROUND][8];
static const char *words[ROUND][3];
static bryc_command commands[ROUND];

static uint32_t value_of(uint64_t i)
{
    return (uint32_t)(i * 2654435761u >> 7 & 4095);
}

static void make_key(size_t at, uint64_t i)
{
    int len = snprintf(text[at], KEY_ROOM, "key:%llu", (unsigned long long)i);
    keys[at] = (bryc_key){text[at], (size_t)len};
}

static void check(bry_status status, const bryc_client *client)
{
    if (status == BRY_OK)
        return;
    fprintf(stderr, "%s: %s\n", bry_status_word(status), bryc_error(client));
    exit(1);
}

static void load_pairs(bryc_client *client, bryc_map *map, uint64_t n)
{
    double start = cli_clock_seconds(CLOCK_MONOTONIC),
           cpu = cli_clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
    for (uint64_t done = 0; done < n; done += ROUND) {
        size_t count = n - done < ROUND ? (size_t)(n - done) : ROUND;
        for (size_t i = 0; i < count; i++) {
            make_key(i, done + i);
            values[i] = bry_map_value_number(value_of(done + i));
        }
        check(bryc_map_set_n(map, keys, values, count, NULL), client);
    }
    printf("loaded %llu pairs in %.1f s, %.0f ns of the client's processor time each\n",
           (unsigned long long)n, cli_clock_seconds(CLOCK_MONOTONIC) - start,
           1e9 * (cli_clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu) / (double)n);
}

static void send_plain(bryc_client *client, size_t n)
{
    check(bryc_send(client, commands, n), client);
    for (size_t i = 0; i < n; i++)
        freeReplyObject(commands[i].reply);
}

static void load_plain(bryc_client *client, uint64_t n)
{
    for (uint64_t done = 0; done < n; done += ROUND) {
        size_t count = n - done < ROUND ? (size_t)(n - done) : ROUND;
        for (size_t i = 0; i < count; i++) {
            make_key(i, done + i);
            snprintf(number_text[i], sizeof number_text[i], "%u", value_of(done + i));
            words[i][0] = "SET";
            words[i][1] = text[i];
            words[i][2] = number_text[i];
            commands[i] = (bryc_command){.argc = 3, .key = 1, .argv = words[i]};
        }
        send_plain(client, count);
    }
}

/* Seconds of processor time of all primaries. */
static double servers_time(bryc_client *client)
{
    double sum = 0;
    for (uint32_t i = 0; i < bryc_nodes(client); i++) {
        redisReply *reply;
        check(bryc_ask_node(client, i, 0, &reply, "INFO cpu"), client);
        const char *user = strstr(reply->str, "used_cpu_user:"),
                   *system = strstr(reply->str, "used_cpu_sys:");
        sum += strtod(user + 14, NULL) + strtod(system + 13, NULL);
        freeReplyObject(reply);
    }
    return sum;
}

typedef struct side {
    double wall, client, servers;
    uint64_t found, wrong;
} side;

static void ask_map(bryc_client *client, bryc_map *map, uint64_t n, side *sum)
{
    check(bryc_map_get_n(map, keys, BATCH, values, answers), client);
    for (size_t i = 0; i < BATCH; i++) {
        uint64_t key = strtoull(text[i] + 4, NULL, 10);
        bool present = answers[i] == BRY_PRESENT;
        sum->found += present;
        sum->wrong += present != (key < n) || (present && values[i].number != value_of(key));
    }
}

/* A block of batches; blocks of both kinds alternate, so that both meet the same machine. */
static void ask_block(bryc_client *client, bryc_map *map, uint64_t n, uint64_t *state, side *sum)
{
    double servers = servers_time(client);
    for (int b = 0; b < 50; b++) {
        for (size_t i = 0; i < BATCH; i++) {
            *state = *state * 6364136223846793005u + 1442695040888963407u;
            make_key(i, (*state >> 20) % (2 * n));
            words[i][0] = "GET";
            words[i][1] = text[i];
            commands[i] = (bryc_command){.argc = 2, .key = 1, .argv = words[i]};
        }
        double start = cli_clock_seconds(CLOCK_MONOTONIC),
               cpu = cli_clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
        if (map)
            ask_map(client, map, n, sum);
        else
            send_plain(client, BATCH);
        sum->wall += cli_clock_seconds(CLOCK_MONOTONIC) - start;
        sum->client += cli_clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    }
    sum->servers += servers_time(client) - servers;
}

int main(int argc, char **argv)
{
    bryc_client *client;
    bryc_map *map;
    if (argc < 3)
        return 2;
    uint64_t n = strtoull(argv[2], NULL, 10), blocks = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
    check(bryc_open(argv[1], NULL, &client), client);
    bryc_map_options options = BRYC_MAP_OPTIONS;
    options.capacity = n;
    options.value_bits = 12;
    check(bryc_map_create(client, bryc_url_name(client), &options, &map), client);
    load_pairs(client, map, n);
    if (blocks)
        load_plain(client, n);
    side sides[2] = {{.wall = 0}, {.wall = 0}};
    uint64_t state = 1;
    for (uint64_t b = 0; b < 2 * blocks; b++)
        ask_block(client, b % 2 ? NULL : map, n, &state, &sides[b % 2]);
    double asked = (double)blocks * 50 * BATCH;
    for (int i = 0; i < 2 && blocks; i++)
        printf("%s %.0f keys/s; processor time per key: client %.0f ns, servers %.0f ns\n",
               i ? "GET    " : "MAP.GET", asked / sides[i].wall, 1e9 * sides[i].client / asked,
               1e9 * sides[i].servers / asked);
    if (blocks)
        printf("ratio %.2f, by processor time %.2f; %llu found, %llu wrong\n",
               sides[1].wall / sides[0].wall,
               (sides[1].client + sides[1].servers) / (sides[0].client + sides[0].servers),
               (unsigned long long)sides[0].found, (unsigned long long)sides[0].wrong);
    bryc_map_close(map);
    bryc_close(client);
    return 0;
}
