/*
 * bloomery map build on servers: a bulk load that can be continued.
 *
 * The progress is recorded after a batch was stored and, if there are replicas, confirmed by them
 * (WAIT); so a build that is continued from the record has lost nothing, whatever ended it. What was
 * stored after the last record is stored again, which changes nothing.
 *
 * The record is a line of text, replaced atomically:
 *   bloomery-build 1 lines=N bytes=B epoch=E map=NAME
 * bytes is a position in the input if that is a file, else 0.
 */
#include "cli/map/map_client.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define EPOCH_LEN 16

typedef struct build_state {
    uint64_t lines, bytes;
    char epoch[EPOCH_LEN + 1];
    char name[256];
} build_state;

/* ---- the record of the progress ------------------------------------------------------------ */

static bool write_state_file(const char *path, const build_state *state)
{
    char text[512];
    int len = snprintf(text, sizeof text,
                       "bloomery-build 1 lines=%" PRIu64 " bytes=%" PRIu64 " epoch=%s map=%s\n",
                       state->lines, state->bytes, state->epoch, state->name);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0)
        return false;
    bool written = write(file, text, (size_t)len) == len && fsync(file) == 0;
    return close(file) == 0 && written;
}

static int record_progress(const char *path, const build_state *state)
{
    size_t room = strlen(path) + 8;
    char *other = malloc(room);
    bool done = false;
    if (other) {
        snprintf(other, room, "%s.new", path);
        done = write_state_file(other, state) && rename(other, path) == 0;
    }
    int code = done ? CLI_GO_ON : cli_fail("%s: %s", cli_name(path).text, strerror(errno));
    free(other);
    return code;
}

/* Finds "name=number " or fails. */
static bool take_field(char **text, const char *name, uint64_t *number)
{
    size_t len = strlen(name);
    char *end;
    if (strncmp(*text, name, len) != 0 || (*text)[len] < '0' || (*text)[len] > '9')
        return false;
    *number = strtoull(*text + len, &end, 10);
    *text = end + 1;
    return *end == ' ';
}

static bool parse_state(char *text, build_state *state)
{
    static const char first[] = "bloomery-build 1 ", epoch[] = "epoch=", name[] = " map=";
    if (strncmp(text, first, sizeof first - 1) != 0)
        return false;
    text += sizeof first - 1;
    if (!take_field(&text, "lines=", &state->lines) ||
        !take_field(&text, "bytes=", &state->bytes) ||
        strncmp(text, epoch, sizeof epoch - 1) != 0 ||
        strspn(text + sizeof epoch - 1, "0123456789abcdef") != EPOCH_LEN)
        return false;
    text += sizeof epoch - 1;
    snprintf(state->epoch, sizeof state->epoch, "%s", text);
    text += EPOCH_LEN;
    if (strncmp(text, name, sizeof name - 1) != 0)
        return false;
    snprintf(state->name, sizeof state->name, "%s", text + sizeof name - 1);
    return true;
}

static int read_progress(const char *path, build_state *state)
{
    char text[512];
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t len = file < 0 ? -1 : read(file, text, sizeof text - 1);
    int problem = errno;
    if (file >= 0)
        close(file);
    if (len < 0)
        return cli_fail("%s: %s", cli_name(path).text, strerror(problem));
    text[len] = '\0';
    text[strcspn(text, "\n")] = '\0';
    if (!parse_state(text, state))
        return cli_fail("%s: not the progress of a build", cli_name(path).text);
    return CLI_GO_ON;
}

bool cli_remote_continues(const cli_remote_build *build)
{
    struct stat facts;
    return build->resume && stat(build->resume, &facts) == 0;
}

/* ---- where to begin ------------------------------------------------------------------------ */

static void read_epoch(const cli_remote *remote, char *epoch)
{
    const char *at = strstr(bryc_map_record(remote->map), " epoch=");
    snprintf(epoch, EPOCH_LEN + 1, "%s", at ? at + 7 : "");
}

static bool input_is_file(int fd)
{
    struct stat facts;
    return fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode);
}

/* Lines of all inputs. */
static uint64_t lines_read(const cli_pairs *pairs)
{
    return pairs->inputs.done + pairs->lines.number;
}

/* Where the next line begins in the input; 0 if it is not a file, or not the only one. */
static uint64_t position_of(const cli_pairs *pairs)
{
    const cli_lines *lines = &pairs->lines;
    bool known = pairs->inputs.count == 1 && input_is_file(lines->fd);
    off_t at = known ? lseek(lines->fd, 0, SEEK_CUR) : -1;
    return at < 0 ? 0 : (uint64_t)at - (lines->held - lines->at);
}

/* Skips what was stored already. */
static int skip_lines(cli_pairs *pairs, const build_state *state)
{
    bool more;
    cli_lines *lines = &pairs->lines;
    int code = cli_inputs_next(&pairs->inputs, lines, &more);
    char last = lines->end;
    if (code == CLI_GO_ON && state->bytes && pairs->inputs.count == 1 && input_is_file(lines->fd)) {
        if (pread(lines->fd, &last, 1, (off_t)state->bytes - 1) != 1 || last != lines->end ||
            lseek(lines->fd, (off_t)state->bytes, SEEK_SET) < 0)
            return cli_fail("%s: not the file that the interrupted build was reading",
                            cli_name(lines->name ? lines->name : "-").text);
        lines->number = state->lines;
        return CLI_GO_ON;
    }
    while (code == CLI_GO_ON && lines_read(pairs) < state->lines) {
        cli_text line;
        code = cli_inputs_line(&pairs->inputs, lines, &line);
        if (code == CLI_GO_ON && !line.bytes)
            return cli_fail("the interrupted build had read %" PRIu64
                            " lines, but the input has only %" PRIu64,
                            state->lines, lines_read(pairs));
    }
    return code;
}

/* Opens the map of a build that is continued. */
static int continue_build(const cli_remote_build *build, cli_remote *remote, build_state *state)
{
    char epoch[EPOCH_LEN + 1];
    const char *name = bryc_url_name(remote->client);
    int code = read_progress(build->resume, state);
    if (code != CLI_GO_ON)
        return code;
    if (strcmp(state->name, name) != 0)
        return cli_fail("%s: belongs to a build of map %s", cli_name(build->resume).text,
                        cli_name(state->name).text);
    bry_status status = bryc_map_open(remote->client, name, &remote->map);
    if (status != BRY_OK)
        return cli_remote_failed(remote, status);
    read_epoch(remote, epoch);
    if (strcmp(epoch, state->epoch) != 0)
        return cli_fail("%s: belongs to an earlier map of this name, which was dropped",
                        cli_name(build->resume).text);
    return CLI_GO_ON;
}

/* Fails if the map exists and may not be replaced. */
static int check_build_name(const cli_remote_build *build, cli_remote *remote, bool *exists)
{
    const char *name = bryc_url_name(remote->client);
    int code = cli_remote_exists(remote, name, exists);
    if (code == CLI_GO_ON && *exists && !build->force)
        code = cli_fail("map %s: " CLI_EXISTS, cli_name(name).text);
    return code;
}

static int create_remote_map(const cli_remote_build *build, cli_remote *remote, build_state *state)
{
    const char *name = bryc_url_name(remote->client);
    bryc_map_options options = BRYC_MAP_OPTIONS;
    bool exists;
    int code = check_build_name(build, remote, &exists);
    if (code != CLI_GO_ON)
        return code;
    bry_status status = exists ? bryc_map_drop(remote->client, name) : BRY_OK;
    if (status != BRY_OK && status != BRY_E_NOTFOUND)
        return cli_remote_failed(remote, status);
    options.capacity = build->map->capacity;
    options.error = build->map->error;
    options.engine = build->map->engine;
    options.value_bits = build->map->value_bits;
    options.values = build->map->values;
    options.seed = build->map->seed;
    options.slabs = build->slabs;
    options.keyed = build->keyed ? 1 : 2;
    status = bryc_map_create(remote->client, name, &options, &remote->map);
    if (status == BRY_E_RANGE)
        return cli_misuse("%s", bryc_error(remote->client));
    if (status != BRY_OK)
        return cli_remote_failed(remote, status);
    read_epoch(remote, state->epoch);
    snprintf(state->name, sizeof state->name, "%s", name);
    return CLI_GO_ON;
}

/* How many replicas must confirm before the progress is recorded: one, if every primary has one. The
 * primaries are asked, because a cluster does not announce replicas that have received nothing. */
static uint32_t replicas_to_wait_for(const cli_remote *remote)
{
    bool all = true;
    for (uint32_t i = 0; i < bryc_nodes(remote->client) && all; i++) {
        bryc_node node;
        redisReply *reply;
        if (bryc_node_at(remote->client, i, &node) != BRY_OK || node.slots == 0 ||
            bryc_ask_node(remote->client, i, 0, &reply, "INFO replication") != BRY_OK)
            continue; /* a primary that cannot be asked cannot store anything either */
        all = reply->type == REDIS_REPLY_STRING && strstr(reply->str, "slave0:");
        freeReplyObject(reply);
    }
    return all ? 1 : 0;
}

/* ---- loading ------------------------------------------------------------------------------- */

typedef struct loader {
    const cli_remote_build *build;
    cli_remote *remote;
    cli_remote_batch batch;
    const cli_pairs *pairs; /* the input */
    build_state state;
    uint64_t unsure;
} loader;

static void wait_for_replicas(const loader *self)
{
    const cli_remote_build *build = self->build;
    cli_remote *remote = self->remote;
    if (build->wait)
        remote->wait = build->wait > UINT32_MAX ? UINT32_MAX : (uint32_t)build->wait;
    else if (build->resume)
        remote->wait = replicas_to_wait_for(remote);
    bryc_map_wait(remote->map, remote->wait, 0);
}

/* Stores the batch, and records that with the position in the input after it. The map is created when
 * the first batch could be read, so that a mistake in the first lines leaves no empty map. */
static int store_batch(void *opaque)
{
    loader *self = opaque;
    cli_remote_batch *batch = &self->batch;
    if (!self->remote->map) {
        int code = create_remote_map(self->build, self->remote, &self->state);
        if (code != CLI_GO_ON)
            return code;
        wait_for_replicas(self);
    }
    bry_status status =
        bryc_map_set_n(self->remote->map, batch->keys, batch->values, batch->n, batch->was);
    if (status != BRY_OK)
        return cli_remote_failed(self->remote, status);
    if (!cli_remote_confirmed(self->remote)) {
        int code = cli_remote_unconfirmed(self->remote);
        if (self->build->resume)
            cli_note("the same command continues the build when the replicas are back");
        return code;
    }
    for (size_t i = 0; i < batch->n; i++)
        self->unsure += batch->was[i] == BRY_UNSURE;
    batch->n = batch->used = 0;
    self->state.lines = lines_read(self->pairs);
    self->state.bytes = position_of(self->pairs);
    return self->build->resume ? record_progress(self->build->resume, &self->state) : CLI_GO_ON;
}

static int load_remote_map(loader *self, cli_pairs *pairs)
{
    const cli_remote_build *build = self->build;
    cli_remote *remote = self->remote;
    bool continues = cli_remote_continues(build), exists;
    int code = continues ? continue_build(build, remote, &self->state)
                         : check_build_name(build, remote, &exists);
    if (code == CLI_GO_ON && continues)
        code = skip_lines(pairs, &self->state);
    if (code != CLI_GO_ON)
        return code;
    if (continues)
        wait_for_replicas(self);
    pairs->value_bits = continues ? cli_remote_value_bits(remote) : build->map->value_bits;
    self->pairs = pairs;
    code = cli_remote_each_batch(pairs, &self->batch, store_batch, self);
    if (code == CLI_GO_ON && build->resume && unlink(build->resume) != 0)
        code = cli_fail("%s: %s", cli_name(build->resume).text, strerror(errno));
    if (code == CLI_GO_ON && self->unsure)
        cli_note("%" PRIu64 " of %" PRIu64 " keys could not be stored, because the map is unsure "
                 "about them",
                 self->unsure, lines_read(pairs));
    return code;
}

int cli_remote_load(const cli_remote_build *build, cli_pairs *pairs)
{
    cli_remote remote;
    loader self = {.build = build, .remote = &remote};
    int code = cli_remote_connect(build->url, true, &remote);
    if (code == CLI_GO_ON) {
        code = cli_remote_batch_make(&self.batch) ? load_remote_map(&self, pairs) : cli_no_memory();
        cli_remote_batch_free(&self.batch);
    }
    cli_remote_close(&remote);
    return code == CLI_GO_ON ? CLI_YES : code;
}
