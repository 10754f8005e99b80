/* The statistics of a whole distributed map, from MAP.INFO of all slabs. */
#include "clients/c/cluster_map.h"
#include "clients/c/struct_version.h"

#include <stdlib.h>
#include <string.h>

#define INFO_STEP ((size_t)4096)

static double number_of(const redisReply *reply)
{
    if (reply->type == REDIS_REPLY_INTEGER)
        return (double)reply->integer;
    return reply->type == REDIS_REPLY_STRING ? strtod(reply->str, NULL) : 0;
}

/* Sums and maxima; the shares are weighted below. */
typedef struct summary {
    bryc_client *client;
    bryc_map_info info;
    bry_map_stats stats;
    double load;
    bry_map_errors present; /* sums over keys */
    double absent; /* sum of false positives over slabs */
} summary;

static void raise_to(double *share, double other)
{
    if (other > *share)
        *share = other;
}

/* One field of MAP.INFO. `items` of a slab comes before its errors. */
static void add_field(summary *sum, const char *name, const redisReply *reply, double *items)
{
    bry_map_stats *stats = &sum->stats;
    struct {
        const char *name;
        uint64_t *total;
    } totals[] = {
        {"refused_unsure", &stats->kbf.refused_unsure},
        {"refused_full", &stats->refused_full},
        {"ghosts", &stats->kbf.ghosts},
        {"queries", &sum->info.queries},
        {"bytes", &stats->bytes},
        {"bytes_keys", &stats->bytes_keys},
    };
    double number = number_of(reply);
    for (size_t i = 0; i < sizeof totals / sizeof totals[0]; i++)
        if (strcmp(name, totals[i].name) == 0)
            *totals[i].total += (uint64_t)number;
    if (strcmp(name, "items") == 0) {
        *items = number;
        stats->items += (uint64_t)number;
    } else if (strcmp(name, "tables") == 0 && number > stats->tables) {
        stats->tables = (uint32_t)number;
    } else if (strcmp(name, "load") == 0) {
        sum->load += number;
    } else if (strcmp(name, "planned_false_positive") == 0) {
        raise_to(&stats->planned.false_positive, number);
    } else if (strcmp(name, "planned_false_negative") == 0) {
        raise_to(&stats->planned.false_negative, number);
    } else if (strcmp(name, "planned_incorrect") == 0) {
        raise_to(&stats->planned.incorrect, number);
    } else if (strcmp(name, "estimated_false_positive") == 0) {
        sum->absent += number;
    } else if (strcmp(name, "estimated_false_negative") == 0) {
        sum->present.false_negative += number * *items;
    } else if (strcmp(name, "estimated_incorrect") == 0) {
        sum->present.incorrect += number * *items;
    }
}

/* The replies of some slabs. A slab without keys does not exist. */
static bry_status add_slabs(void *context, bryc_command *commands, size_t n)
{
    summary *sum = context;
    for (size_t i = 0; i < n; i++) {
        const redisReply *reply = commands[i].reply;
        double items = 0;
        if (!reply)
            return commands[i].status;
        if (reply->type == REDIS_REPLY_ERROR && strstr(reply->str, "no such key"))
            continue;
        if (reply->type != REDIS_REPLY_ARRAY)
            return bryc__fail(sum->client, BRY_E_IO, "MAP.INFO: %s",
                              reply->str ? reply->str : "unexpected reply type");
        sum->info.slabs_used++;
        for (size_t j = 0; j + 1 < reply->elements; j += 2)
            if (reply->element[j]->str)
                add_field(sum, reply->element[j]->str, reply->element[j + 1], &items);
    }
    return BRY_OK;
}

/* Length and memory of the list of values. */
static bry_status add_values(bryc_map *map, bry_map_stats *stats)
{
    char key[BRYC__SLAB_KEY_MAX];
    size_t len = bryc__values_key(map, key, sizeof key);
    redisReply *reply;
    bry_status status = bryc_ask_key(map->client, key, len, 0, &reply, "LLEN %b", key, len);
    if (status != BRY_OK)
        return status;
    stats->values = (uint64_t)reply->integer;
    freeReplyObject(reply);
    uint64_t most = UINT64_C(1) << map->record.bits;
    stats->values_left = stats->values < most ? most - stats->values : 0;
    status = bryc_ask_key(map->client, key, len, 0, &reply, "MEMORY USAGE %b", key, len);
    if (status != BRY_OK)
        return status;
    stats->bytes_values = (uint64_t)number_of(reply);
    stats->bytes += stats->bytes_values;
    freeReplyObject(reply);
    return BRY_OK;
}

static void summary_begin(summary *sum, const bryc_map *map)
{
    bry_map_options slab = bryc__record_slab(&map->record);
    bry_map_shape shape;
    sum->stats.engine = map->record.engine;
    sum->stats.seed = map->record.seed;
    sum->stats.capacity = map->record.capacity;
    sum->stats.tables = 1;
    if (bry_map_plan(&slab, &shape) == BRY_OK)
        sum->stats.planned = shape.errors;
}

static void summary_end(summary *sum, double slabs)
{
    double items = (double)sum->stats.items;
    sum->stats.load = sum->load / slabs;
    sum->stats.estimated.false_positive = sum->absent / slabs;
    if (items > 0) {
        sum->stats.estimated.false_negative = sum->present.false_negative / items;
        sum->stats.estimated.incorrect = sum->present.incorrect / items;
    }
}

bry_status bryc_map_get_info_sized(bryc_map *map, bryc_map_info *info, size_t info_size,
                                   bry_map_stats *stats, size_t stats_size)
{
    summary sum = {.client = map->client};
    if (!bryc__size_possible(info_size) || (stats && !bryc__size_possible(stats_size)))
        return bryc__fail(map->client, BRY_E_RANGE, "bryc_map_get_info: invalid size of a struct");
    summary_begin(&sum, map);
    bry_status status = map->record.codes ? add_values(map, &sum.stats) : BRY_OK;
    for (uint64_t i = 0; i < map->record.slabs && status == BRY_OK; i += INFO_STEP) {
        uint64_t left = map->record.slabs - i;
        status = bryc__ask_slabs(map, "MAP.INFO", i, left < INFO_STEP ? (size_t)left : INFO_STEP,
                                 add_slabs, &sum);
    }
    if (status != BRY_OK)
        return status;
    summary_end(&sum, (double)map->record.slabs);
    bryc__struct_write(info, info_size, &sum.info, sizeof sum.info);
    if (stats)
        bryc__struct_write(stats, stats_size, &sum.stats, sizeof sum.stats);
    return BRY_OK;
}
