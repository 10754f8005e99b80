/* bloomery map get, put, del and info on servers. */
#include "cli/core/array.h"
#include "cli/map/map_client.h"

#include <inttypes.h>
#include <stdlib.h>

typedef struct remote_target {
    cli_remote remote;
    bryc_key *keys; /* to look up */
    size_t capacity;
    cli_remote_batch batch; /* to set or delete */
    bool sets;
    uint64_t asked, unsure;
} remote_target;

static int get_from_server(cli_map_target *self, const cli_text *keys, size_t n,
                           bry_map_value *values, bry_answer *answers)
{
    remote_target *from = self->inside;
    if (!cli_array_reserve(&from->keys, &from->capacity, n, sizeof *from->keys))
        return cli_no_memory();
    for (size_t i = 0; i < n; i++)
        from->keys[i] = (bryc_key){keys[i].bytes, keys[i].len};
    bry_status status = bryc_map_get_n(from->remote.map, from->keys, n, values, answers);
    return status == BRY_OK ? CLI_GO_ON : cli_remote_failed(&from->remote, status);
}

static int read_server_facts(cli_map_target *self, cli_map_facts *facts)
{
    const remote_target *from = self->inside;
    bryc_map_info info = {0};
    bryc_map_options options = BRYC_MAP_OPTIONS;
    bry_status status = bryc_map_get_info(from->remote.map, &info, &facts->stats);
    if (status != BRY_OK)
        return cli_remote_failed(&from->remote, status);
    bryc_map_get_options(from->remote.map, &options);
    facts->options.engine = options.engine;
    facts->options.capacity = options.capacity;
    facts->options.error = options.error;
    facts->options.value_bits = options.value_bits;
    facts->options.seed = options.seed;
    facts->is_remote = true;
    facts->keyed = options.keyed == 1;
    facts->slabs = options.slabs;
    facts->slabs_used = info.slabs_used;
    facts->queries = info.queries;
    return CLI_GO_ON;
}

/* ---- changes ------------------------------------------------------------------------------- */

/* Sets or deletes the batch, and empties it. */
static int change_batch(void *opaque)
{
    cli_map_target *target = opaque;
    remote_target *self = target->inside;
    cli_remote_batch *batch = &self->batch;
    bryc_map *map = self->remote.map;
    bry_status status = self->sets
                            ? bryc_map_set_n(map, batch->keys, batch->values, batch->n, batch->was)
                            : bryc_map_del_n(map, batch->keys, batch->n, batch->was);
    if (status != BRY_OK)
        return cli_remote_failed(&self->remote, status);
    for (size_t i = 0; i < batch->n; i++) {
        target->absent += batch->was[i] == BRY_ABSENT;
        self->unsure += batch->was[i] == BRY_UNSURE;
    }
    self->asked += batch->n;
    cli_remote_confirmed(&self->remote);
    batch->n = batch->used = 0;
    return CLI_GO_ON;
}

static int add_change(cli_map_target *target, cli_text key, const bry_map_value *value)
{
    remote_target *self = target->inside;
    self->sets = value != NULL;
    cli_remote_batch_add(&self->batch, key, value);
    return cli_remote_batch_has_room(&self->batch) ? CLI_GO_ON : change_batch(target);
}

static int set_on_server(cli_map_target *target, const cli_pair *pair)
{
    return add_change(target, pair->key, &pair->value);
}

static int set_all_on_server(cli_map_target *target, cli_pairs *pairs)
{
    remote_target *self = target->inside;
    self->sets = true;
    return cli_remote_each_batch(pairs, &self->batch, change_batch, target);
}

static int del_on_server(cli_map_target *target, cli_text key, const cli_lines *lines)
{
    (void)lines;
    return add_change(target, key, NULL);
}

static int end_changes(cli_map_target *target)
{
    remote_target *self = target->inside;
    int code = self->batch.n ? change_batch(target) : CLI_GO_ON;
    if (code != CLI_GO_ON)
        return code;
    if (self->unsure) {
        cli_fail("the map is unsure about %" PRIu64 " of %" PRIu64 " keys; these are unchanged",
                 self->unsure, self->asked);
        return CLI_UNSURE;
    }
    return self->remote.confirmed < self->remote.wait ? cli_remote_unconfirmed(&self->remote)
                                                      : CLI_YES;
}

/* ---- opening ------------------------------------------------------------------------------- */

static void close_server(cli_map_target *target)
{
    remote_target *self = target->inside;
    cli_remote_close(&self->remote);
    cli_remote_batch_free(&self->batch);
    free(self->keys);
    free(self);
}

int cli_remote_target(const cli_map_wants *wants, cli_map_target *target)
{
    static const cli_map_kind kind = {
        .get = get_from_server,
        .info = read_server_facts,
        .set = set_on_server,
        .set_all = set_all_on_server,
        .del = del_on_server,
        .end = end_changes,
        .close = close_server,
    };
    remote_target *self = calloc(1, sizeof *self);
    if (!self)
        return cli_no_memory();
    target->kind = &kind;
    target->inside = self;
    int code = cli_remote_open(wants->path, wants->wait, &self->remote);
    if (code == CLI_GO_ON && wants->changes && !cli_remote_batch_make(&self->batch))
        code = cli_no_memory();
    if (code == CLI_GO_ON)
        target->value_bits = cli_remote_value_bits(&self->remote);
    else
        close_server(target);
    return code;
}
