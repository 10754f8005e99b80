/* Creating, opening, listing and dropping distributed maps. */
#include "clients/c/cluster_map.h"
#include "clients/c/struct_version.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WAIT_MS 5000u
#define SCAN_STEP 1000
#define DROP_STEP ((size_t)4096)

/* ---- names --------------------------------------------------------------------------------- */

static size_t record_key(const char *name, char *text, size_t room)
{
    return (size_t)snprintf(text, room, "{%s}:map", name);
}

size_t bryc__slab_key(const bryc_map *map, uint64_t slab, char *text, size_t room)
{
    return (size_t)snprintf(text, room, "{%s:%" PRIu64 "}:%s", map->name, slab, map->record.epoch);
}

size_t bryc__values_key(const bryc_map *map, char *text, size_t room)
{
    return (size_t)snprintf(text, room, "{%s}:values:%s", map->name, map->record.epoch);
}

static bry_status check_name(bryc_client *client, const char *name)
{
    if (bryc__name_is_valid(name))
        return BRY_OK;
    return bryc__fail(client, BRY_E_RANGE,
                      "the name of a map has 1 to %u bytes, and neither braces nor control "
                      "characters",
                      BRYC__NAME_MAX);
}

/* ---- the record ---------------------------------------------------------------------------- */

/* Everything that follows from the record. */
static bry_status adopt_record(bryc_map *map, const bryc__record *record)
{
    char error[40], key[BRYC__SLAB_KEY_MAX];
    bryc__bytes options = {0};
    uint16_t *slots = calloc(record->slabs + 1, sizeof *slots);
    bry_map_options slab = bryc__record_slab(record);
    const char *at = strstr(record->text, " error="), *engine = bry_engine_name(slab.engine);
    snprintf(error, sizeof error, "%.*s", (int)strcspn(at + 7, " "), at + 7);
    if (!slots || !bryc__put_argument(&options, "CAPACITY", 8) ||
        !bryc__put_number(&options, slab.capacity) || !bryc__put_argument(&options, "ERROR", 5) ||
        !bryc__put_argument(&options, error, strlen(error)) ||
        !bryc__put_argument(&options, "ENGINE", 6) ||
        !bryc__put_argument(&options, engine, strlen(engine)) ||
        !bryc__put_argument(&options, "RAW", 3) || !bryc__put_number(&options, slab.value_bits) ||
        !bryc__put_argument(&options, "SEED", 4) || !bryc__put_number(&options, slab.seed) ||
        !bryc__put_argument(&options, "FIELDS", 6)) {
        free(slots);
        free(options.at);
        return map->client ? bryc__fail(map->client, BRY_E_NOMEM, "out of memory") : BRY_E_NOMEM;
    }
    free(map->options.at);
    free(map->slots);
    bryc__codes_free(&map->codes);
    map->options = options;
    map->slots = slots;
    map->record = *record;
    map->read_at = bryc__now();
    for (uint64_t i = 0; i < record->slabs; i++)
        slots[i] = (uint16_t)bryc_slot(key, bryc__slab_key(map, i, key, sizeof key));
    bryc__choice_init(&map->choice, record->slabs, record->keyed ? record->secret : NULL);
    return BRY_OK;
}

static bry_status parse_record(bryc_client *client, const char *name, const redisReply *reply,
                               bryc__record *record)
{
    if (reply->type == REDIS_REPLY_NIL)
        return bryc__fail(client, BRY_E_NOTFOUND, "map %s: not found", name);
    const char *problem = reply->type == REDIS_REPLY_STRING
                              ? bryc__record_read(reply->str, reply->len, record)
                              : "unexpected reply type";
    if (!problem)
        return BRY_OK;
    return bryc__fail(client, BRY_E_VERSION, "map %s: %s (if damaged, DEL {%s}:map removes it)",
                      name, problem, name);
}

static bry_status read_record(bryc_client *client, const char *name, bryc__record *record)
{
    char key[BRYC__SLAB_KEY_MAX];
    size_t len = record_key(name, key, sizeof key);
    redisReply *reply;
    bry_status status = bryc_ask_key(client, key, len, 0, &reply, "GET %b", key, len);
    if (status == BRY_OK) {
        status = parse_record(client, name, reply, record);
        freeReplyObject(reply);
    }
    return status;
}

bry_status bryc__map_reread(bryc_map *map, bool *changed)
{
    bryc__record record = {0};
    bry_status status = read_record(map->client, map->name, &record);
    if (status != BRY_OK)
        return status;
    *changed = strcmp(record.text, map->record.text) != 0;
    map->read_at = bryc__now();
    /* A false answer of kbf may have made us read values that were not confirmed. */
    if (*changed || map->record.engine == BRY_ENGINE_KBF)
        status = adopt_record(map, &record);
    return status;
}

bry_status bryc__map_new(bryc_client *client, const char *name, const bryc__record *record,
                         bryc_map **map)
{
    *map = calloc(1, sizeof **map);
    if (!*map)
        return BRY_E_NOMEM;
    (*map)->client = client;
    (*map)->wait_ms = WAIT_MS;
    (*map)->confirmed = UINT32_MAX;
    snprintf((*map)->name, sizeof(*map)->name, "%s", name);
    bry_status status = adopt_record(*map, record);
    if (status != BRY_OK) {
        bryc_map_close(*map);
        *map = NULL;
    }
    return status;
}

/* ---- creating and opening ------------------------------------------------------------------ */

/* Writes the record, or reads the one that is there. */
static bry_status place_record(bryc_client *client, const char *name,
                               const bryc_map_options *options, bryc__record *record)
{
    char key[BRYC__SLAB_KEY_MAX], text[160];
    size_t len = record_key(name, key, sizeof key);
    redisReply *reply;
    bry_status status =
        bryc_ask_key(client, key, len, 0, &reply, "SET %b %s NX GET", key, len, record->text);
    if (status != BRY_OK)
        return status;
    /* A reply of our own record: the command was repeated after a lost reply. */
    if (reply->type != REDIS_REPLY_NIL &&
        !(reply->type == REDIS_REPLY_STRING && strcmp(reply->str, record->text) == 0)) {
        status = parse_record(client, name, reply, record);
        const char *differs =
            status == BRY_OK ? bryc__record_differs(record, options, text, sizeof text) : NULL;
        if (differs)
            status = bryc__fail(client, BRY_E_MISMATCH, "map %s: exists with %s", name, differs);
    }
    freeReplyObject(reply);
    return status;
}

bry_status bryc_map_create(bryc_client *client, const char *name, const bryc_map_options *given,
                           bryc_map **map)
{
    bryc_map_options options = BRYC_MAP_OPTIONS;
    bryc__record record = {0};
    *map = NULL;
    if (!bryc__options_read(&options, sizeof options, given))
        return bryc__fail(client, BRY_E_RANGE, "bryc_map_options: struct_size %zu is not supported",
                          given->struct_size);
    bry_status status = check_name(client, name);
    if (status != BRY_OK)
        return status;
    const char *problem = bryc__record_plan(&options, bryc__primaries(client), &record);
    if (problem)
        return bryc__fail(client, BRY_E_RANGE, "%s", problem);
    status = place_record(client, name, &options, &record);
    return status == BRY_OK ? bryc__map_new(client, name, &record, map) : status;
}

bry_status bryc_map_open(bryc_client *client, const char *name, bryc_map **map)
{
    bryc__record record = {0};
    *map = NULL;
    bry_status status = check_name(client, name);
    if (status == BRY_OK)
        status = read_record(client, name, &record);
    return status == BRY_OK ? bryc__map_new(client, name, &record, map) : status;
}

void bryc_map_close(bryc_map *map)
{
    if (!map)
        return;
    bryc__batch_free(map->batch);
    bryc__codes_free(&map->codes);
    free(map->options.at);
    free(map->slots);
    free(map);
}

bry_status bryc_map_get_options_sized(const bryc_map *map, bryc_map_options *options, size_t size)
{
    const bryc__record *record = &map->record;
    bryc_map_options all = {.struct_size = sizeof all,
                            .capacity = record->capacity,
                            .error = record->error,
                            .engine = record->engine,
                            .value_bits = record->codes ? 0 : record->bits,
                            .values = record->codes ? UINT64_C(1) << record->bits : 0,
                            .slabs = record->slabs,
                            .seed = record->seed,
                            .keyed = record->keyed ? 1 : 2};
    return bryc__options_write(options, size, &all, sizeof all);
}

const char *bryc_map_record(const bryc_map *map)
{
    return map->record.text;
}

void bryc_map_wait(bryc_map *map, uint32_t replicas, uint32_t ms)
{
    map->wait = replicas;
    map->wait_ms = ms ? ms : WAIT_MS;
}

uint32_t bryc_map_confirmed(const bryc_map *map)
{
    return map->confirmed;
}

/* ---- dropping ------------------------------------------------------------------------------ */

/* The list of values counts as the slab after the last. */
static void key_of_slab(const void *of, uint64_t number, char *text, size_t room)
{
    const bryc_map *map = of;
    if (number < map->record.slabs)
        bryc__slab_key(map, number, text, room);
    else
        bryc__values_key(map, text, room);
}

bry_status bryc__ask_slabs(bryc_map *map, const char *word, uint64_t first, size_t n,
                           bryc__read_replies read, void *context)
{
    const char *const words[] = {word, NULL};
    const bryc__keys keys = {key_of_slab, map, first, n};
    return bryc__ask_each(map->client, words, 2, &keys, read, context);
}

bry_status bryc__map_delete_keys(bryc_map *map)
{
    uint64_t count = map->record.slabs + map->record.codes;
    bry_status status = BRY_OK;
    for (uint64_t i = 0; i < count && status == BRY_OK; i += DROP_STEP)
        status = bryc__ask_slabs(
            map, "UNLINK", i, count - i < DROP_STEP ? (size_t)(count - i) : DROP_STEP, NULL, NULL);
    return status;
}

bry_status bryc_map_drop(bryc_client *client, const char *name)
{
    bryc_map *map;
    char key[BRYC__SLAB_KEY_MAX];
    redisReply *reply;
    bry_status status = bryc_map_open(client, name, &map);
    if (status != BRY_OK)
        return status;
    size_t len = record_key(name, key, sizeof key);
    status = bryc_ask_key(client, key, len, 0, &reply, "DEL %b", key, len);
    freeReplyObject(reply);
    if (status == BRY_OK)
        status = bryc__map_delete_keys(map);
    bryc_map_close(map);
    return status;
}

/* ---- listing ------------------------------------------------------------------------------- */

typedef struct name_list {
    char (*names)[BRYC__NAME_MAX + 1];
    size_t count, capacity;
} name_list;

/* Adds the name in a key {NAME}:map; others are left out. */
static bool add_name(name_list *list, const char *key, size_t len)
{
    char name[BRYC__NAME_MAX + 1];
    if (len < 7 || len - 6 > BRYC__NAME_MAX || key[0] != '{' ||
        memcmp(key + len - 5, "}:map", 5) != 0)
        return true;
    snprintf(name, sizeof name, "%.*s", (int)(len - 6), key + 1);
    if (strlen(name) != len - 6 || !bryc__name_is_valid(name))
        return true;
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 64;
        void *names = realloc(list->names, capacity * sizeof list->names[0]);
        if (!names)
            return false;
        list->names = names;
        list->capacity = capacity;
    }
    memcpy(list->names[list->count++], name, sizeof name);
    return true;
}

static bry_status scan_node(bryc_client *client, uint32_t node, name_list *list)
{
    char cursor[32] = "0";
    do {
        redisReply *reply;
        bry_status status =
            bryc_ask_node(client, node, 0, &reply, "SCAN %s MATCH {*}:map COUNT %d TYPE string",
                          cursor, SCAN_STEP);
        if (status != BRY_OK)
            return status;
        const redisReply *keys =
            reply->type == REDIS_REPLY_ARRAY && reply->elements == 2 ? reply->element[1] : NULL;
        if (!keys)
            status = bryc__fail(client, BRY_E_BADDATA, "SCAN: unexpected reply type");
        else
            snprintf(cursor, sizeof cursor, "%s", reply->element[0]->str);
        for (size_t i = 0; keys && i < keys->elements && status == BRY_OK; i++)
            if (!add_name(list, keys->element[i]->str, keys->element[i]->len))
                status = bryc__fail(client, BRY_E_NOMEM, "out of memory");
        freeReplyObject(reply);
        if (status != BRY_OK)
            return status;
    } while (strcmp(cursor, "0") != 0);
    return BRY_OK;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Calls `each` unless the map was deleted meanwhile, is not ours, or is not for this user. */
static bry_status list_map(bryc_client *client, const char *name,
                           void (*each)(void *opaque, const char *name, const char *record),
                           void *opaque)
{
    char key[BRYC__SLAB_KEY_MAX];
    const char *const words[] = {"GET", key};
    const size_t lens[] = {3, record_key(name, key, sizeof key)};
    bryc_command command = {.argc = 2, .key = 1, .argv = words, .lens = lens};
    bryc__record record = {0};
    bry_status status = bryc_send(client, &command, 1);
    if (status == BRY_OK) {
        status = parse_record(client, name, command.reply, &record);
        if (status == BRY_OK || record.text[0])
            each(opaque, name, record.text);
    }
    bool hidden = command.reply && command.reply->type == REDIS_REPLY_ERROR &&
                  strncmp(command.reply->str, "NOPERM", 6) == 0;
    freeReplyObject(command.reply);
    return hidden || status == BRY_E_NOTFOUND || status == BRY_E_VERSION ? BRY_OK : status;
}

bry_status bryc_map_list(bryc_client *client,
                         void (*each)(void *opaque, const char *name, const char *record),
                         void *opaque)
{
    name_list list = {0};
    bry_status status = bryc_refresh(client);
    for (uint32_t i = 0; i < client->count && status == BRY_OK; i++)
        if (client->nodes[i]->slots > 0)
            status = scan_node(client, i, &list);
    if (list.count)
        qsort(list.names, list.count, sizeof list.names[0], compare_names);
    for (size_t i = 0; i < list.count && status == BRY_OK; i++) {
        if (i > 0 && strcmp(list.names[i], list.names[i - 1]) == 0)
            continue; /* it moved while we looked */
        status = list_map(client, list.names[i], each, opaque);
    }
    free(list.names);
    return status;
}
