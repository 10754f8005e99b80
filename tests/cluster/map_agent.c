/*
 * The C client's distributed maps, driven by the tests (map_agents.py). Reads lines of words, writes
 * a line for each: words, or "! STATUS message". Byte strings are "x" and hexadecimal digits.
 * TALK_PATIENCE limits the patience, in milliseconds.
 *
 *   open|use URL                     use: opens a map only once
 *   create URL [option=value …]      the names of bryc_map_options
 *   names URL
 *   wait REPLICAS MS
 *   set|update key value …           1 for those that the call made or changed, 0, or U (unsure)
 *   get|del key …                    the value, - or U; 1, 0 or U
 *   info, drop
 */
#include <bloomery_cluster.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAPS_MOST 16

static struct {
    char *url;
    bryc_client *client;
    bryc_map *map;
} opened[MAPS_MOST];
static size_t opened_count;
static bryc_client *client;
static bryc_map *map;
static uint32_t wanted; /* replicas */

/* What the words of a line name. */
typedef struct agent_batch {
    size_t n;
    bryc_key *keys;
    bry_map_value *values;
    bry_answer *answers;
} agent_batch;

static void agent_fail(bry_status status)
{
    printf("! %s %s\n", bry_status_word(status), client ? bryc_error(client) : "");
}

/* Decodes "x…" in place. */
static bryc_key agent_bytes(char *word)
{
    size_t len = strlen(word + 1) / 2;
    for (size_t i = 0; i < len; i++) {
        char digits[] = {word[1 + 2 * i], word[2 + 2 * i], 0};
        word[i] = (char)strtoul(digits, NULL, 16);
    }
    return (bryc_key){word, len};
}

static agent_batch agent_read(char *rest, bool has_values)
{
    size_t room = strlen(rest) / 2 + 1;
    agent_batch batch = {.keys = calloc(room, sizeof *batch.keys),
                         .values = calloc(room, sizeof *batch.values),
                         .answers = calloc(room, sizeof *batch.answers)};
    if (!batch.keys || !batch.values || !batch.answers)
        exit(3);
    char *word;
    while ((word = strsep(&rest, " ")) && *word) {
        batch.keys[batch.n] = agent_bytes(word);
        if (has_values && (word = strsep(&rest, " "))) {
            bool is_text = word[0] == 'x';
            bryc_key bytes = is_text ? agent_bytes(word) : (bryc_key){0};
            batch.values[batch.n] = is_text ? bry_map_value_bytes(bytes.bytes, bytes.len)
                                            : bry_map_value_number(strtoull(word, NULL, 10));
        }
        batch.n++;
    }
    return batch;
}

static void agent_free(agent_batch *batch)
{
    free(batch->keys);
    free(batch->values);
    free(batch->answers);
}

static void agent_change(const char *what, char *rest)
{
    agent_batch batch = agent_read(rest, what[0] != 'd');
    bry_answer yes = what[0] == 's' ? BRY_ABSENT : BRY_PRESENT;
    bry_status status =
        what[0] == 's'   ? bryc_map_set_n(map, batch.keys, batch.values, batch.n, batch.answers)
        : what[0] == 'u' ? bryc_map_update_n(map, batch.keys, batch.values, batch.n, batch.answers)
                         : bryc_map_del_n(map, batch.keys, batch.n, batch.answers);
    if (status != BRY_OK) {
        agent_fail(status);
    } else if (wanted && bryc_map_confirmed(map) < wanted) {
        printf("! UNCONFIRMED %u of %u replicas\n", bryc_map_confirmed(map), wanted);
    } else {
        for (size_t i = 0; i < batch.n; i++)
            printf("%s ", batch.answers[i] == BRY_UNSURE ? "U"
                          : batch.answers[i] == yes      ? "1"
                                                         : "0");
        putchar('\n');
    }
    agent_free(&batch);
}

static void agent_print(const bry_map_value *value)
{
    if (!value->bytes) {
        printf("%" PRIu64 " ", value->number);
        return;
    }
    putchar('x');
    for (size_t i = 0; i < value->len; i++)
        printf("%02x", ((const unsigned char *)value->bytes)[i]);
    putchar(' ');
}

static void agent_get(char *rest)
{
    agent_batch batch = agent_read(rest, false);
    bry_status status = bryc_map_get_n(map, batch.keys, batch.n, batch.values, batch.answers);
    if (status != BRY_OK) {
        agent_fail(status);
        agent_free(&batch);
        return;
    }
    for (size_t i = 0; i < batch.n; i++) {
        if (batch.answers[i] == BRY_PRESENT)
            agent_print(&batch.values[i]);
        else
            printf("%s ", batch.answers[i] == BRY_UNSURE ? "U" : "-");
    }
    putchar('\n');
    agent_free(&batch);
}

static void read_agent_options(char *rest, bryc_map_options *options)
{
    char *word;
    while ((word = strsep(&rest, " ")) && *word) {
        char *value = strchr(word, '=');
        if (!value)
            exit(3);
        *value++ = '\0';
        uint64_t number = strtoull(value, NULL, 10);
        if (strcmp(word, "error") == 0)
            options->error = strtod(value, NULL);
        else if (strcmp(word, "engine") == 0)
            bry_engine_parse(value, &options->engine);
        else if (strcmp(word, "value_bits") == 0)
            options->value_bits = (uint32_t)number;
        else
            *(strcmp(word, "capacity") == 0 ? &options->capacity
              : strcmp(word, "values") == 0 ? &options->values
              : strcmp(word, "slabs") == 0  ? &options->slabs
              : strcmp(word, "seed") == 0   ? &options->seed
                                            : &options->keyed) = number;
    }
}

static void agent_forget(size_t at)
{
    bryc_map_close(opened[at].map);
    bryc_close(opened[at].client);
    free(opened[at].url);
    memmove(&opened[at], &opened[at + 1], (--opened_count - at) * sizeof opened[0]);
}

/* Keeps the current map instead of one of the same URL or, if there are too many, the oldest. */
static void agent_keep(const char *url)
{
    for (size_t i = opened_count; i-- > 0;)
        if (strcmp(opened[i].url, url) == 0)
            agent_forget(i);
    if (opened_count == MAPS_MOST)
        agent_forget(0);
    opened[opened_count].url = strdup(url);
    opened[opened_count].client = client;
    opened[opened_count++].map = map;
}

static void agent_open(const char *how, char *url, char *rest)
{
    for (size_t i = 0; how[0] == 'u' && i < opened_count; i++) {
        if (strcmp(opened[i].url, url) == 0) {
            client = opened[i].client;
            map = opened[i].map;
            printf("OK\n");
            return;
        }
    }
    bryc_client *other;
    bryc_map *made = NULL;
    bryc_options limits = BRYC_OPTIONS;
    const char *patience = getenv("TALK_PATIENCE");
    limits.patience_ms = patience ? (uint32_t)strtoul(patience, NULL, 10) : 0;
    bry_status status = bryc_open(url, &limits, &other);
    client = other;
    if (status == BRY_OK && how[0] == 'c') {
        bryc_map_options options = BRYC_MAP_OPTIONS;
        read_agent_options(rest, &options);
        status = bryc_map_create(client, bryc_url_name(client), &options, &made);
    } else if (status == BRY_OK) {
        status = bryc_map_open(client, bryc_url_name(client), &made);
    }
    if (status != BRY_OK) {
        agent_fail(status);
        bryc_map_close(made);
        bryc_close(other);
        client = NULL;
        map = NULL;
        return;
    }
    map = made;
    agent_keep(url);
    printf("OK\n");
}

static void agent_name(void *opaque, const char *name, const char *record)
{
    (void)opaque;
    (void)record;
    putchar('x');
    for (; *name; name++)
        printf("%02x", (unsigned char)*name);
    putchar(' ');
}

static void agent_names(const char *url)
{
    bryc_client *other;
    bry_status status = bryc_open(url, NULL, &other);
    if (status == BRY_OK)
        status = bryc_map_list(other, agent_name, NULL);
    printf(status == BRY_OK ? "\n" : "! %s %s\n", bry_status_word(status), bryc_error(other));
    bryc_close(other);
}

static void agent_info(void)
{
    bryc_map_info info;
    bry_map_stats stats;
    bryc_map_options options = BRYC_MAP_OPTIONS;
    bry_status status = bryc_map_get_info(map, &info, &stats);
    if (status != BRY_OK) {
        agent_fail(status);
        return;
    }
    bryc_map_get_options(map, &options);
    printf("%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", options.slabs, info.slabs_used, stats.items);
}

static void agent_act(char *line)
{
    char *rest = line, *what = strsep(&rest, " ");
    if (!rest)
        rest = what + strlen(what);
    if (strcmp(what, "open") == 0 || strcmp(what, "use") == 0 || strcmp(what, "create") == 0) {
        char *url = strsep(&rest, " ");
        agent_open(what, url, rest);
    } else if (strcmp(what, "names") == 0) {
        agent_names(rest);
    } else if (!map) {
        printf("! NOTFOUND no map is open\n");
    } else if (strcmp(what, "wait") == 0) {
        wanted = (uint32_t)strtoul(rest, &rest, 10);
        bryc_map_wait(map, wanted, (uint32_t)strtoul(rest, NULL, 10));
        printf("OK\n");
    } else if (strcmp(what, "get") == 0) {
        agent_get(rest);
    } else if (strcmp(what, "info") == 0) {
        agent_info();
    } else if (strcmp(what, "drop") == 0) {
        bry_status status = bryc_map_drop(client, bryc_url_name(client));
        if (status == BRY_OK)
            printf("OK\n");
        else
            agent_fail(status);
    } else {
        agent_change(what, rest);
    }
}

int main(void)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t len;
    while ((len = getline(&line, &room, stdin)) > 0) {
        line[len - 1] = '\0';
        agent_act(line);
        fflush(stdout);
    }
    while (opened_count)
        agent_forget(opened_count - 1);
    free(line);
    return 0;
}
