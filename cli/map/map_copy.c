/* bloomery map save and map restore: a distributed map to a directory, and back. */
#include "cli/core/stop_signals.h"
#include "cli/map/map_command.h"
#include "cli/map/map_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int dir_failed(const char *path)
{
    return cli_fail("%s: %s", cli_name(path).text, strerror(errno));
}

/* ---- save ---------------------------------------------------------------------------------- */

static bry_status write_to_file(void *opaque, const void *bytes, size_t len)
{
    return fwrite(bytes, 1, len, opaque) == len ? BRY_OK : BRY_E_IO;
}

/* An empty slab, so that a missing file is always an error. */
static bry_status write_empty_slab(const cli_remote *remote, const bry_sink *sink)
{
    bryc_map_options of = BRYC_MAP_OPTIONS;
    bry_map_options options = BRY_MAP_OPTIONS;
    bry_map *map;
    bryc_map_get_options(remote->map, &of);
    options.engine = of.engine;
    options.error = of.error;
    options.seed = of.seed;
    options.value_bits = of.value_bits;
    for (uint64_t codes = 1; of.value_bits == 0 && codes < of.values; codes *= 2)
        options.value_bits++;
    bry_status status = bry_map_create(&options, &map);
    if (status != BRY_OK)
        return status;
    status = bry_map_save(map, sink, NULL);
    bry_map_destroy(map);
    return status;
}

static int save_slab(cli_remote *remote, const char *dir, uint64_t slab)
{
    bool there = false;
    char *path = cli_dir_slab_path(dir, slab);
    FILE *file = path ? fopen(path, "wbxe") : NULL;
    int code = CLI_GO_ON;
    if (file) {
        bry_sink sink = {write_to_file, file};
        bry_status status = bryc_map_fetch_slab(remote->map, slab, &sink, &there);
        if (status != BRY_OK)
            code = ferror(file) ? dir_failed(path) : cli_remote_failed(remote, status);
        else if (!there && write_empty_slab(remote, &sink) != BRY_OK)
            code = dir_failed(path);
        bool written = fflush(file) == 0 && fsync(fileno(file)) == 0;
        if ((fclose(file) != 0 || !written) && code == CLI_GO_ON)
            code = dir_failed(path);
    } else {
        code = dir_failed(path ? path : dir);
    }
    free(path);
    return code;
}

static int save_values(cli_remote *remote, const char *dir)
{
    cli_dir_writer writer = {0};
    char *path = cli_dir_path(dir, CLI_DIR_VALUES);
    int code = CLI_GO_ON;
    if (!path || !cli_dir_begin_values(&writer, path)) {
        code = dir_failed(path ? path : dir);
    } else {
        bry_status status = bryc_map_fetch_values(remote->map, cli_dir_write_value, &writer);
        if (status != BRY_OK)
            code = ferror(writer.file) ? dir_failed(path) : cli_remote_failed(remote, status);
    }
    if (writer.file && !cli_dir_end_values(&writer) && code == CLI_GO_ON)
        code = dir_failed(path);
    free(path);
    return code;
}

/* Under another name first: a directory with a record is complete. */
static int save_record(const cli_remote *remote, const char *dir)
{
    char *path = cli_dir_path(dir, CLI_DIR_RECORD);
    char *other = cli_dir_path(dir, CLI_DIR_RECORD ".new");
    FILE *file = path && other ? fopen(other, "wbe") : NULL;
    bool written = file && fprintf(file, "%s\n", bryc_map_record(remote->map)) > 0 &&
                   fflush(file) == 0 && fsync(fileno(file)) == 0;
    written = (!file || fclose(file) == 0) && written && rename(other, path) == 0;
    int self = written ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    written = self >= 0 && fsync(self) == 0;
    if (self >= 0)
        close(self);
    free(path);
    free(other);
    return written ? CLI_GO_ON : dir_failed(dir);
}

/* CLI_GO_ON, or an exit code after SIGINT or SIGTERM. */
static int check_stopped(void)
{
    return cli_is_stopped() ? cli_fail("interrupted; nothing was copied") : CLI_GO_ON;
}

/* Removes an incomplete copy. */
static void remove_copy(const char *dir, uint64_t slabs)
{
    const char *const names[] = {CLI_DIR_VALUES, CLI_DIR_RECORD ".new"};
    for (uint64_t i = 0; i < slabs + 2; i++) {
        char *path = i < slabs ? cli_dir_slab_path(dir, i) : cli_dir_path(dir, names[i - slabs]);
        if (path)
            unlink(path);
        free(path);
    }
    rmdir(dir);
}

static int save_map(cli_remote *remote, const char *dir)
{
    bryc_map_options options = BRYC_MAP_OPTIONS;
    bryc_map_get_options(remote->map, &options);
    int code = CLI_GO_ON;
    for (uint64_t i = 0; i < options.slabs && code == CLI_GO_ON; i++) {
        code = save_slab(remote, dir, i);
        if (code == CLI_GO_ON)
            code = check_stopped();
    }
    /* After the slabs, so that it has all codes that are in them. */
    if (code == CLI_GO_ON && options.value_bits == 0)
        code = save_values(remote, dir);
    if (code == CLI_GO_ON)
        code = save_record(remote, dir);
    if (code != CLI_GO_ON)
        remove_copy(dir, options.slabs);
    return code;
}

int cli_map_save_command(int argc, char **argv)
{
    static const char command[] = "map save";
    const cli_syntax syntax = {
        .command = command,
        .usage = "URL DIR",
        .about =
            "Copies a map from a server or cluster to a new directory, which \"map get\" reads\n"
            "and \"map restore\" copies back. What is changed meanwhile may be in the copy\n"
            "or not.",
        .examples = "  bloomery map save redis://127.0.0.1:7000/routes routes.saved\n"
                    "  bloomery map get routes.saved 10.0.0.1",
        .most_words = 2,
        .least_words = 2,
        .missing = "missing address, redis://HOST:PORT/NAME, or directory",
    };
    size_t words;
    cli_remote remote;
    int code = cli_read_args(&syntax, argc, argv, &words);
    if (code == CLI_GO_ON)
        code = cli_map_check_address(command, argv[0], true);
    if (code != CLI_GO_ON)
        return code;
    code = cli_remote_open(argv[0], 0, &remote);
    if (code == CLI_GO_ON && mkdir(argv[1], 0777) != 0)
        code = errno == EEXIST ? cli_fail("%s: exists already", cli_name(argv[1]).text)
                               : dir_failed(argv[1]);
    cli_note_stop_signals();
    if (code == CLI_GO_ON)
        code = save_map(&remote, argv[1]);
    cli_remote_close(&remote);
    return code == CLI_GO_ON ? CLI_YES : code;
}

/* ---- restore ------------------------------------------------------------------------------- */

/* Loading a slab first finds what is damaged, and leaves out those without keys. */
static int restore_slab(cli_remote *remote, const char *dir, uint64_t slab)
{
    cli_memory memory;
    bry_map *map;
    char *bytes;
    size_t len;
    cli_memory_init(&memory, 0);
    int code = cli_dir_load_slab(dir, remote->map, slab, &memory, &map);
    if (code != CLI_GO_ON)
        return code;
    bool empty = bry_map_items(map) == 0;
    bry_map_destroy(map);
    if (empty)
        return CLI_GO_ON;
    code = cli_dir_read_slab(dir, slab, &bytes, &len);
    if (code != CLI_GO_ON)
        return code;
    bry_status status = bryc_map_place_slab(remote->map, slab, bytes, len);
    free(bytes);
    cli_remote_confirmed(remote);
    return status == BRY_OK ? CLI_GO_ON : cli_remote_failed(remote, status);
}

static int restore_values(cli_remote *remote, const char *dir)
{
    cli_dir_values values;
    int code = cli_dir_read_values(dir, &values);
    if (code != CLI_GO_ON)
        return code;
    bry_status status = bryc_map_place_values(remote->map, values.values, values.count);
    if (status != BRY_OK)
        code = cli_remote_failed(remote, status);
    cli_remote_confirmed(remote);
    cli_dir_values_free(&values);
    return code;
}

static int restore_map(cli_remote *remote, const char *dir, bool force)
{
    char record[600];
    const char *name = bryc_url_name(remote->client), *problem;
    bool exists = false;
    bryc_map_options options = BRYC_MAP_OPTIONS;
    int code = cli_dir_read_record(dir, record, sizeof record);
    if (code == CLI_GO_ON && !force)
        code = cli_remote_exists(remote, name, &exists);
    if (code != CLI_GO_ON)
        return code;
    if (exists)
        return cli_fail("map %s: " CLI_EXISTS, cli_name(name).text);
    bry_status status = bryc_map_prepare(remote->client, name, record, &remote->map, &problem);
    if (status != BRY_OK)
        return cli_fail("%s: %s", cli_name(dir).text, problem);
    bryc_map_wait(remote->map, remote->wait, 0);
    bryc_map_get_options(remote->map, &options);
    cli_note_stop_signals(); /* slabs without a record would never be found again */
    for (uint64_t i = 0; i < options.slabs && code == CLI_GO_ON; i++) {
        code = restore_slab(remote, dir, i);
        if (code == CLI_GO_ON)
            code = check_stopped();
    }
    if (code == CLI_GO_ON && options.value_bits == 0)
        code = restore_values(remote, dir);
    if (code != CLI_GO_ON) {
        bryc_map_discard(remote->map);
        return code;
    }
    status = bryc_map_publish(remote->map, force);
    cli_remote_confirmed(remote);
    return status == BRY_OK ? CLI_GO_ON : cli_remote_failed(remote, status);
}

int cli_map_restore(int argc, char **argv)
{
    static const char command[] = "map restore";
    bool force = false;
    uint64_t wait = 0;
    cli_option options[] = {
        {"force", CLI_FLAG, NULL, "replace the map if it exists", &force},
        CLI_MAP_WAIT(&wait),
    };
    const cli_syntax syntax = {
        .command = command,
        .usage = "DIR URL [options]",
        .about = "Copies a map from a directory, which \"map save\" has written, to a server or\n"
                 "cluster. The map becomes visible when it is complete.",
        CLI_OPTIONS(options),
        .examples = "  bloomery map restore routes.saved redis://127.0.0.1:7000/routes",
        .more = "Exit codes: 0 done, 1 with --wait: too few replicas have confirmed, 3 failure.",
        .most_words = 2,
        .least_words = 2,
        .missing = "missing directory or address, redis://HOST:PORT/NAME",
    };
    size_t words;
    cli_remote remote;
    int code = cli_read_args(&syntax, argc, argv, &words);
    if (code == CLI_GO_ON)
        code = cli_map_check_address(command, argv[1], true);
    if (code != CLI_GO_ON)
        return code;
    code = cli_remote_connect(argv[1], true, &remote);
    remote.wait = wait > UINT32_MAX ? UINT32_MAX : (uint32_t)wait;
    if (code == CLI_GO_ON)
        code = restore_map(&remote, argv[0], force);
    if (code == CLI_GO_ON && remote.confirmed < remote.wait)
        code = cli_remote_unconfirmed(&remote);
    cli_remote_close(&remote);
    return code == CLI_GO_ON ? CLI_YES : code;
}
