#include "cli/map/map_target.h"

#include "cli/map/map_remote.h"

#include <fcntl.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROUND 256u

/* ---- files --------------------------------------------------------------------------------- */

static int get_from_file(cli_map_target *self, const cli_text *keys, size_t n,
                         bry_map_value *values, bry_answer *answers)
{
    bry_hash hashes[ROUND] = {{0}}; /* gcc does not see that the first `count` are initialised */
    for (size_t done = 0; done < n; done += ROUND) {
        size_t count = n - done < ROUND ? n - done : ROUND;
        for (size_t i = 0; i < count; i++)
            hashes[i] =
                bry_hash_key(bry_map_seed(self->map), keys[done + i].bytes, keys[done + i].len);
        bry_map_get_n(self->map, hashes, count, values + done, answers + done);
    }
    return CLI_GO_ON;
}

static int read_file_facts(cli_map_target *self, cli_map_facts *facts)
{
    struct stat file;
    facts->options = cli_map_options(self->map);
    facts->is_file = stat(self->path, &file) == 0 && S_ISREG(file.st_mode);
    facts->file_bytes = facts->is_file ? (uint64_t)file.st_size : 0;
    bry_map_get_stats(self->map, &facts->stats);
    return CLI_GO_ON;
}

static int set_in_file(cli_map_target *self, const cli_pair *pair)
{
    bry_hash hash = bry_hash_key(bry_map_seed(self->map), pair->key.bytes, pair->key.len);
    bry_status status = cli_map_put(self->map, self->mode, hash, pair->value);
    self->changed = true;
    return status == BRY_OK
               ? CLI_GO_ON
               : cli_map_refused(status, self->map, &self->memory, cli_quote_text(pair->key).text);
}

static int set_all_in_file(cli_map_target *self, cli_pairs *pairs)
{
    self->changed = true;
    return cli_map_put_all(self->map, &self->memory, self->mode, pairs);
}

static int del_in_file(cli_map_target *self, cli_text key, const cli_lines *lines)
{
    bry_answer was;
    bry_hash hash = bry_hash_key(bry_map_seed(self->map), key.bytes, key.len);
    bry_status status = bry_map_del(self->map, hash, &was);
    if (status != BRY_OK)
        return cli_map_refused(status, self->map, &self->memory,
                               lines ? cli_lines_place(lines, lines->number).text
                                     : cli_quote_text(key).text);
    self->changed |= was == BRY_PRESENT;
    self->absent += was == BRY_ABSENT;
    return CLI_GO_ON;
}

static int save_file(cli_map_target *self)
{
    return self->changed ? cli_map_save(self->map, self->path, NULL, &self->note) : CLI_YES;
}

static void close_file(cli_map_target *self)
{
    bry_map_destroy(self->map);
    bry_buffer_free(&self->note);
}

static const cli_map_kind file_kind = {
    .get = get_from_file,
    .info = read_file_facts,
    .set = set_in_file,
    .set_all = set_all_in_file,
    .del = del_in_file,
    .end = save_file,
    .close = close_file,
};

/* ---- opening ------------------------------------------------------------------------------- */

/* Whether it is a directory with a record. */
static bool is_saved_dir(const char *path)
{
    int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return false;
    bool found = faccessat(dir, CLI_DIR_RECORD, F_OK, 0) == 0;
    close(dir);
    return found;
}

int cli_map_target_open(const cli_map_wants *wants, cli_map_target *target)
{
    const char *path = wants->path;
    *target = (cli_map_target){.kind = &file_kind,
                               .path = path,
                               .note = BRY_BUFFER,
                               .mode = wants->known_new ? CLI_MAP_NEW : CLI_MAP_SET};
    if (cli_map_is_remote(path)) {
        if (wants->max_bytes || wants->known_new)
            return cli_misuse("--%s is for maps in files", wants->max_bytes ? "max-memory" : "new");
        return cli_remote_target(wants, target);
    }
    if (wants->wait)
        return cli_misuse("--wait is for maps on servers");
    if (wants->directories && is_saved_dir(path)) {
        cli_memory_init(&target->memory, wants->max_bytes);
        return cli_dir_target(path, target);
    }
    int code = (wants->changes ? cli_map_open_to_change
                               : cli_map_open)(path, wants->max_bytes, &target->memory,
                                               &target->map, wants->changes ? &target->note : NULL);
    if (code == CLI_GO_ON)
        target->value_bits = cli_map_options(target->map).value_bits;
    return code;
}

/* ---- addresses ----------------------------------------------------------------------------- */

bool cli_map_is_remote(const char *path)
{
    return strncasecmp(path, "redis://", 8) == 0 || strncasecmp(path, "rediss://", 9) == 0;
}

int cli_map_check_file(const char *path)
{
    if (!cli_map_is_remote(path))
        return CLI_GO_ON;
    return cli_misuse("this command is for files; \"map save\" and \"map restore\" copy a "
                      "map from and to servers");
}
