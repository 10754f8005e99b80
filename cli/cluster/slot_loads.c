#include "cli/cluster/slot_loads.h"

#include "cli/cluster/command_list.h"
#include "cli/cluster/slot_halves.h"
#include "cli/core/steady_clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLED "10" /* keys of a slot whose size is asked for */

static const char *const kinds[] = {"pairs", "queries", "bytes"};

bool load_kind_read(const char *word, load_kind *kind)
{
    for (int i = 0; i < 3; i++)
        if (strcmp(word, kinds[i]) == 0) {
            *kind = (load_kind)i;
            return true;
        }
    return false;
}

const char *load_kind_name(load_kind kind)
{
    return kinds[kind];
}

void slot_loads_free(slot_loads *loads)
{
    for (size_t i = 0; i < loads->half_count; i++)
        free(loads->halves[i].key);
    free(loads->halves);
    free(loads->slots);
    *loads = (slot_loads){0};
}

/* ---- maps ---------------------------------------------------------------------------------- */

/* True for the slab {MAP:i}:E of a distributed map. */
static bool is_slab_of(const redisReply *key, const char *map)
{
    size_t len = strlen(map);
    return key->len > len + 2 && key->str[0] == '{' && memcmp(key->str + 1, map, len) == 0 &&
           key->str[len + 1] == ':';
}

static uint64_t info_count(const redisReply *info, const char *name)
{
    for (size_t i = 0; i + 1 < info->elements; i += 2)
        if (info->element[i]->str && strcmp(info->element[i]->str, name) == 0)
            return (uint64_t)info->element[i + 1]->integer;
    return 0;
}

static bool keep_half(slot_loads *loads, const redisReply *key, uint32_t node)
{
    found_half *all = realloc(loads->halves, (loads->half_count + 1) * sizeof *all);
    char *copy = all ? malloc(key->len + 1) : NULL;
    if (all)
        loads->halves = all;
    if (!copy)
        return false;
    memcpy(copy, key->str, key->len + 1);
    loads->halves[loads->half_count++] = (found_half){copy, key->len, node};
    return true;
}

/* Adds what MAP.INFO said about keys of one page of SCAN. */
static void add_maps(slot_loads *loads, const command_list *infos)
{
    for (size_t i = 0; i < infos->count; i++) {
        const redisReply *info = infos->commands[i].reply;
        slot_load *slot = &loads->slots[bryc_slot(infos->words[i][1], infos->lens[i][1])];
        if (!info || info->type != REDIS_REPLY_ARRAY)
            continue; /* deleted or moved meanwhile */
        slot->maps++;
        slot->pairs += info_count(info, "items");
        slot->bytes += info_count(info, "bytes");
        slot->queries += info_count(info, "queries");
    }
}

/* The state of SCAN on each node. */
typedef struct scan_state {
    char cursor[32];
    bool done;
} scan_state;

/* Asks for the maps in one page of each node's SCAN. */
static bry_status read_scanned(cluster_view *view, const char *map, slot_loads *loads,
                               scan_state *state, const command_list *scans, command_list *infos)
{
    for (size_t i = 0; i < scans->count; i++) {
        const redisReply *reply = scans->commands[i].reply;
        uint32_t node = scans->nodes[i];
        if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2)
            return BRY_E_BADDATA;
        snprintf(state[node].cursor, sizeof state[node].cursor, "%s", reply->element[0]->str);
        state[node].done = strcmp(state[node].cursor, "0") == 0;
        const redisReply *keys = reply->element[1];
        for (size_t j = 0; j < keys->elements; j++) {
            const redisReply *key = keys->element[j];
            if (half_is_name(key->str, key->len) && !keep_half(loads, key, node))
                return BRY_E_NOMEM;
            if (loads->slots[bryc_slot(key->str, key->len)].owner == node &&
                (!map || is_slab_of(key, map)))
                list_add(infos, view, node, LIST_WORDS("MAP.INFO"), key->str, key->len);
        }
    }
    return list_send(view, infos);
}

static bry_status scan_maps(cluster_view *view, const char *map, slot_loads *loads)
{
    scan_state *state = calloc(view->count ? view->count : 1, sizeof *state);
    command_list scans = {0}, infos = {0};
    bry_status status = state ? BRY_OK : BRY_E_NOMEM;
    for (uint32_t i = 0; state && i < view->count; i++) {
        snprintf(state[i].cursor, sizeof state[i].cursor, "0");
        state[i].done = !view_is_primary(&view->nodes[i]);
    }
    while (status == BRY_OK) {
        for (uint32_t i = 0; i < view->count; i++)
            if (!state[i].done)
                list_add(&scans, view, i,
                         LIST_WORDS("SCAN", state[i].cursor, "TYPE", "bloom-map", "COUNT"), "1000",
                         4);
        if (scans.count == 0)
            break;
        status = list_send(view, &scans);
        if (status == BRY_OK)
            status = read_scanned(view, map, loads, state, &scans, &infos);
        if (status == BRY_OK)
            add_maps(loads, &infos);
        list_clear(&infos);
        list_clear(&scans);
    }
    list_free(&infos);
    list_free(&scans);
    free(state);
    return status;
}

/* ---- other keys ---------------------------------------------------------------------------- */

static bry_status count_others(cluster_view *view, slot_loads *loads)
{
    command_list counts = {0};
    for (uint32_t slot = 0; slot < BRYC_SLOTS; slot++)
        if (loads->slots[slot].owner != VIEW_NONE)
            list_add(&counts, view, loads->slots[slot].owner,
                     LIST_WORDS("CLUSTER", "COUNTKEYSINSLOT"), list_slot(slot),
                     strlen(list_slot(slot)));
    bry_status status = list_send(view, &counts);
    for (size_t i = 0; i < counts.count && status == BRY_OK; i++) {
        const redisReply *reply = counts.commands[i].reply;
        slot_load *slot = &loads->slots[strtoul(counts.words[i][2], NULL, 10)];
        if (reply->type == REDIS_REPLY_INTEGER && reply->integer > slot->maps)
            slot->others = (uint32_t)(reply->integer - slot->maps);
    }
    list_free(&counts);
    return status;
}

/* Asks for the size of the keys that GETKEYSINSLOT returned, and adds what is not a map. */
static bry_status size_some_keys(cluster_view *view, slot_loads *loads, const command_list *keys)
{
    command_list sizes = {0}, types = {0};
    for (size_t i = 0; i < keys->count; i++) {
        const redisReply *reply = keys->commands[i].reply;
        for (size_t j = 0; reply->type == REDIS_REPLY_ARRAY && j < reply->elements; j++) {
            const redisReply *key = reply->element[j];
            list_add(&types, view, keys->nodes[i], LIST_WORDS("TYPE"), key->str, key->len);
            list_add(&sizes, view, keys->nodes[i], LIST_WORDS("MEMORY", "USAGE"), key->str,
                     key->len);
        }
    }
    bry_status status = list_send(view, &types);
    if (status == BRY_OK)
        status = list_send(view, &sizes);
    uint32_t *sampled = calloc(BRYC_SLOTS, sizeof *sampled);
    if (!sampled)
        status = BRY_E_NOMEM;
    for (size_t i = 0; i < sizes.count && status == BRY_OK; i++) {
        const redisReply *type = types.commands[i].reply, *size = sizes.commands[i].reply;
        uint32_t slot = bryc_slot(sizes.words[i][2], sizes.lens[i][2]);
        if (size->type != REDIS_REPLY_INTEGER || !type->str || strcmp(type->str, "bloom-map") == 0)
            continue;
        loads->slots[slot].other_bytes += (uint64_t)size->integer;
        sampled[slot]++;
    }
    for (uint32_t slot = 0; slot < BRYC_SLOTS && status == BRY_OK; slot++)
        if (sampled[slot] > 0)
            loads->slots[slot].other_bytes =
                loads->slots[slot].other_bytes * loads->slots[slot].others / sampled[slot];
    free(sampled);
    list_free(&sizes);
    list_free(&types);
    return status;
}

static bry_status size_others(cluster_view *view, slot_loads *loads)
{
    command_list keys = {0};
    for (uint32_t slot = 0; slot < BRYC_SLOTS; slot++)
        if (loads->slots[slot].others > 0)
            list_add(&keys, view, loads->slots[slot].owner,
                     LIST_WORDS("CLUSTER", "GETKEYSINSLOT", list_slot(slot)), SAMPLED,
                     strlen(SAMPLED));
    bry_status status = list_send(view, &keys);
    if (status == BRY_OK)
        status = size_some_keys(view, loads, &keys);
    list_free(&keys);
    return status;
}

/* ---- all ----------------------------------------------------------------------------------- */

bry_status slot_loads_read(cluster_view *view, const char *map, bool sizes, slot_loads *loads)
{
    *loads = (slot_loads){.slots = calloc(BRYC_SLOTS, sizeof *loads->slots)};
    if (!loads->slots)
        return BRY_E_NOMEM;
    for (uint32_t slot = 0; slot < BRYC_SLOTS; slot++) {
        uint32_t owner = view->owners[slot];
        loads->slots[slot].owner = owner;
        loads->slots[slot].owner_link = owner == VIEW_NONE ? VIEW_NONE : view->nodes[owner].link;
    }
    bry_status status = scan_maps(view, map, loads);
    loads->read_at = cli_clock_ms();
    if (status == BRY_OK && !map)
        status = count_others(view, loads);
    if (status == BRY_OK && !map && sizes)
        status = size_others(view, loads);
    return status;
}

double slot_load_of(const slot_loads *before, const slot_loads *now, uint32_t slot, load_kind kind)
{
    const slot_load *load = &now->slots[slot];
    if (kind == LOAD_PAIRS)
        return (double)(load->pairs + load->others);
    if (kind == LOAD_BYTES)
        return (double)(load->bytes + load->other_bytes);
    if (!before)
        return (double)load->queries;
    const slot_load *past = &before->slots[slot];
    uint64_t span = now->read_at - before->read_at;
    if (past->owner_link != load->owner_link || load->queries < past->queries || span == 0)
        return 0;
    return (double)(load->queries - past->queries) * 1000 / (double)span;
}
