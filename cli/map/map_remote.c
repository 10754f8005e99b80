/* bloomery map get, put, del and info on servers. */
#include "cli/map/map_client.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- get ----------------------------------------------------------------------------------- */

typedef struct remote_source {
    cli_remote remote;
    bryc_key *keys;
    size_t capacity;
} remote_source;

static int get_from_server(cli_map_source *self, const cli_text *keys, size_t n,
                           bry_map_value *values, bry_answer *answers)
{
    remote_source *from = self->inside;
    if (n > from->capacity) {
        bryc_key *grown = realloc(from->keys, n * sizeof *grown);
        if (!grown)
            return cli_no_memory();
        from->keys = grown;
        from->capacity = n;
    }
    for (size_t i = 0; i < n; i++)
        from->keys[i] = (bryc_key){keys[i].bytes, keys[i].len};
    bry_status status = bryc_map_get_n(from->remote.map, from->keys, n, values, answers);
    return status == BRY_OK ? CLI_GO_ON : cli_remote_failed(&from->remote, status);
}

static void close_server_source(cli_map_source *self)
{
    remote_source *from = self->inside;
    cli_remote_close(&from->remote);
    free(from->keys);
    free(from);
}

int cli_remote_source(const char *url, cli_map_source *source)
{
    remote_source *from = calloc(1, sizeof *from);
    if (!from)
        return cli_no_memory();
    int code = cli_remote_open(url, 0, &from->remote);
    *source =
        (cli_map_source){.get = get_from_server, .close = close_server_source, .inside = from};
    if (code == CLI_GO_ON)
        source->value_bits = cli_remote_value_bits(&from->remote);
    else
        close_server_source(source);
    return code;
}

/* ---- put ----------------------------------------------------------------------------------- */

typedef struct remote_tally {
    uint64_t asked, absent, unsure;
} remote_tally;

static int report_unsure(const remote_tally *count)
{
    cli_fail("the map is unsure about %" PRIu64 " of %" PRIu64 " keys; these are unchanged",
             count->unsure, count->asked);
    return CLI_UNSURE;
}

/* Sets or deletes a batch, and empties it. */
static int change_batch(cli_remote *remote, cli_remote_batch *batch, bool set, remote_tally *count)
{
    bry_status status =
        set ? bryc_map_set_n(remote->map, batch->keys, batch->values, batch->n, batch->was)
            : bryc_map_del_n(remote->map, batch->keys, batch->n, batch->was);
    if (status != BRY_OK)
        return cli_remote_failed(remote, status);
    for (size_t i = 0; i < batch->n; i++) {
        count->absent += batch->was[i] == BRY_ABSENT;
        count->unsure += batch->was[i] == BRY_UNSURE;
    }
    count->asked += batch->n;
    cli_remote_confirmed(remote);
    batch->n = batch->used = 0;
    return CLI_GO_ON;
}

/* The exit code after all changes. */
static int changes_done(const cli_remote *remote, const remote_tally *count)
{
    if (count->unsure)
        return report_unsure(count);
    return remote->confirmed < remote->wait ? cli_remote_unconfirmed(remote) : CLI_GO_ON;
}

typedef struct remote_writer {
    cli_remote *remote;
    cli_remote_batch *batch;
    remote_tally *count;
} remote_writer;

static int put_full_batch(void *opaque)
{
    remote_writer *put = opaque;
    return change_batch(put->remote, put->batch, true, put->count);
}

static int put_one_remotely(cli_remote *remote, cli_remote_batch *batch, const char *key,
                            const char *text, remote_tally *count)
{
    bry_map_value value;
    const char *problem = cli_pair_value(cli_remote_value_bits(remote), text, strlen(text), &value);
    if (problem)
        return cli_misuse("map put", "%s: %s", cli_quote(text).text, problem);
    cli_remote_batch_add(batch, (cli_text){(char *)(uintptr_t)key, strlen(key)}, &value);
    return change_batch(remote, batch, true, count);
}

int cli_remote_put(const char *url, const char *key, const char *value, cli_pairs *pairs,
                   uint64_t wait)
{
    cli_remote remote;
    cli_remote_batch batch;
    remote_tally count = {0};
    int code = cli_remote_open(url, wait, &remote);
    if (code == CLI_GO_ON) {
        pairs->value_bits = cli_remote_value_bits(&remote);
        if (!cli_remote_batch_make(&batch))
            code = cli_no_memory();
        else if (key)
            code = put_one_remotely(&remote, &batch, key, value, &count);
        else
            code = cli_remote_each_batch(pairs, &batch, put_full_batch,
                                         &(remote_writer){&remote, &batch, &count});
        cli_remote_batch_free(&batch);
    }
    if (code == CLI_GO_ON)
        code = changes_done(&remote, &count);
    cli_remote_close(&remote);
    return code == CLI_GO_ON ? CLI_YES : code;
}

/* ---- del ----------------------------------------------------------------------------------- */

static int del_lines_remotely(cli_remote *remote, cli_remote_batch *batch, char end,
                              remote_tally *count)
{
    cli_progress progress = cli_progress_start(cli_bytes_left(STDIN_FILENO), false);
    cli_lines lines = CLI_LINES(STDIN_FILENO, end);
    lines.progress = &progress;
    cli_text line = {NULL, 0};
    int code = CLI_GO_ON;
    do {
        bry_status status = cli_lines_next(&lines, &line);
        if (status != BRY_OK)
            code = cli_lines_failed(&lines, status);
        else if (line.bytes)
            cli_remote_batch_add(batch, line, NULL);
        if (code != CLI_GO_ON || (line.bytes && cli_remote_batch_has_room(batch)))
            continue;
        cli_progress_add(&progress, batch->n);
        code = change_batch(remote, batch, false, count);
    } while (code == CLI_GO_ON && line.bytes);
    cli_progress_end(&progress);
    cli_lines_free(&lines);
    return code;
}

int cli_remote_del(const char *url, char **keys, size_t n, char end, uint64_t wait)
{
    cli_remote remote;
    cli_remote_batch batch;
    remote_tally count = {0};
    int code = cli_remote_open(url, wait, &remote);
    if (code == CLI_GO_ON) {
        if (!cli_remote_batch_make(&batch))
            code = cli_no_memory();
        for (size_t i = 0; i < n && code == CLI_GO_ON; i++) {
            cli_remote_batch_add(&batch, (cli_text){keys[i], strlen(keys[i])}, NULL);
            if (!cli_remote_batch_has_room(&batch))
                code = change_batch(&remote, &batch, false, &count);
        }
        if (code == CLI_GO_ON && n)
            code = change_batch(&remote, &batch, false, &count);
        else if (code == CLI_GO_ON)
            code = del_lines_remotely(&remote, &batch, end, &count);
        cli_remote_batch_free(&batch);
    }
    if (code == CLI_GO_ON)
        code = changes_done(&remote, &count);
    cli_remote_close(&remote);
    if (code != CLI_GO_ON)
        return code;
    return count.absent ? CLI_NO : CLI_YES;
}

/* ---- info ---------------------------------------------------------------------------------- */

int cli_remote_info(const char *url, cli_remote_facts *facts)
{
    cli_remote remote;
    bryc_map_info info = {0};
    bryc_map_options options = BRYC_MAP_OPTIONS;
    *facts = (cli_remote_facts){.options = BRY_MAP_OPTIONS, .stats = {0}};
    int code = cli_remote_open(url, 0, &remote);
    if (code == CLI_GO_ON) {
        bry_status status = bryc_map_get_info(remote.map, &info, &facts->stats);
        if (status != BRY_OK)
            code = cli_remote_failed(&remote, status);
        bryc_map_get_options(remote.map, &options);
    }
    cli_remote_close(&remote);
    facts->options.engine = options.engine;
    facts->options.capacity = options.capacity;
    facts->options.error = options.error;
    facts->options.value_bits = options.value_bits;
    facts->options.seed = options.seed;
    facts->slabs = options.slabs;
    facts->slabs_used = info.slabs_used;
    facts->queries = info.queries;
    facts->keyed = options.keyed == 1;
    return code;
}
