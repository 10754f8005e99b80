#include "cli/map/map_client.h"

#include "cli/core/limits.h"

#include <stdlib.h>
#include <string.h>

#define BATCH_KEYS ((size_t)1 << 18)
#define BATCH_TEXT ((size_t)48 << 20)
_Static_assert(BATCH_TEXT > 2 * CLI_LINE_MAX, "a line fits in what has_room() leaves");

int cli_remote_failed(const cli_remote *remote, bry_status status)
{
    cli_fail("%s", bryc_error(remote->client));
    return status == BRY_E_UNSURE ? CLI_UNSURE : CLI_FAILED;
}

int cli_remote_connect(const char *url, bool named, cli_remote *remote)
{
    bryc_options options = BRYC_OPTIONS;
    *remote = (cli_remote){.confirmed = UINT32_MAX};
    if (!cli_map_is_remote(url))
        return cli_misuse("%s is not an address: redis://HOST:PORT%s", cli_quote(url).text,
                          named ? "/NAME" : "");
    options.user = getenv("BLOOMERY_USER");
    options.password = getenv("BLOOMERY_PASSWORD");
    bry_status status = bryc_open(url, &options, &remote->client);
    if (status == BRY_E_RANGE)
        return cli_misuse("the address: %s", bryc_error(remote->client));
    if (status != BRY_OK)
        return cli_remote_failed(remote, status);
    bool has_name = *bryc_url_name(remote->client) != '\0';
    if (named && !has_name)
        return cli_misuse("the address has no map name: redis://HOST:PORT/NAME");
    if (!named && has_name)
        return cli_misuse("the address must not have a map name: redis://HOST:PORT");
    return CLI_GO_ON;
}

int cli_remote_open(const char *url, uint64_t wait, cli_remote *remote)
{
    int code = cli_remote_connect(url, true, remote);
    if (code != CLI_GO_ON)
        return code;
    bry_status status = bryc_map_open(remote->client, bryc_url_name(remote->client), &remote->map);
    if (status != BRY_OK)
        return cli_remote_failed(remote, status);
    remote->wait = wait > UINT32_MAX ? UINT32_MAX : (uint32_t)wait;
    bryc_map_wait(remote->map, remote->wait, 0);
    return CLI_GO_ON;
}

int cli_remote_exists(const cli_remote *remote, const char *name, bool *exists)
{
    bryc_map *map;
    bry_status status = bryc_map_open(remote->client, name, &map);
    *exists = status == BRY_OK;
    bryc_map_close(map);
    return status == BRY_OK || status == BRY_E_NOTFOUND ? CLI_GO_ON
                                                        : cli_remote_failed(remote, status);
}

void cli_remote_close(cli_remote *remote)
{
    bryc_map_close(remote->map);
    bryc_close(remote->client);
    *remote = (cli_remote){0};
}

uint32_t cli_remote_value_bits(const cli_remote *remote)
{
    bryc_map_options options = BRYC_MAP_OPTIONS;
    bryc_map_get_options(remote->map, &options);
    return options.value_bits;
}

bool cli_remote_confirmed(cli_remote *remote)
{
    uint32_t count = bryc_map_confirmed(remote->map);
    if (count < remote->confirmed)
        remote->confirmed = count;
    return remote->confirmed >= remote->wait;
}

int cli_remote_unconfirmed(const cli_remote *remote)
{
    cli_fail("the change was made, but only %u of %u replicas confirmed it in time",
             remote->confirmed, remote->wait);
    return CLI_NO;
}

/* ---- batches ------------------------------------------------------------------------------- */

bool cli_remote_batch_make(cli_remote_batch *batch)
{
    *batch = (cli_remote_batch){0};
    batch->keys = malloc(BATCH_KEYS * sizeof *batch->keys);
    batch->values = malloc(BATCH_KEYS * sizeof *batch->values);
    batch->was = malloc(BATCH_KEYS * sizeof *batch->was);
    batch->text = malloc(BATCH_TEXT);
    return batch->keys && batch->values && batch->was && batch->text;
}

void cli_remote_batch_free(cli_remote_batch *batch)
{
    free(batch->keys);
    free(batch->values);
    free(batch->was);
    free(batch->text);
}

bool cli_remote_batch_has_room(const cli_remote_batch *batch)
{
    return batch->n < BATCH_KEYS && BATCH_TEXT - batch->used > CLI_LINE_MAX;
}

void cli_remote_batch_add(cli_remote_batch *batch, cli_text key, const bry_map_value *value)
{
    size_t value_len = value ? value->len : 0;
    char *text = batch->text + batch->used;
    if (key.len)
        memcpy(text, key.bytes, key.len);
    if (value_len)
        memcpy(text + key.len, value->bytes, value_len);
    batch->used += key.len + value_len;
    batch->keys[batch->n] = (bryc_key){text, key.len};
    if (value)
        batch->values[batch->n] =
            (bry_map_value){value->bytes ? text + key.len : NULL, value_len, value->number};
    batch->n++;
}

int cli_remote_each_batch(cli_pairs *pairs, cli_remote_batch *batch, int (*full)(void *opaque),
                          void *opaque)
{
    cli_progress progress = cli_progress_start(pairs->inputs.bytes, false);
    pairs->lines.progress = &progress;
    bool more = true;
    int code = CLI_GO_ON;
    while (more && code == CLI_GO_ON) {
        cli_pair pair = {.key = {NULL, 0}};
        code = cli_pairs_next(pairs, &pair, &more);
        if (code == CLI_GO_ON && more)
            cli_remote_batch_add(batch, pair.key, &pair.value);
        if (code != CLI_GO_ON || (more && cli_remote_batch_has_room(batch)))
            continue;
        size_t count = batch->n;
        code = full(opaque);
        cli_progress_add(&progress, count);
    }
    cli_progress_end(&progress);
    pairs->lines.progress = NULL;
    return code;
}
