/*
 * bloomery map save and map restore: a distributed map to a directory, and back. The directory:
 *
 *   record           the line that describes the map, as on the servers
 *   values           byte strings in the order of their codes, if the map has them
 *   slab-000000.map  each slab, an ordinary map of integers; also those without keys
 *
 * `values` is a line "bloomery-values 1 count=N check=X", then for each value four bytes with its
 * length, the lowest first, and its bytes. X is a chain of hashes: bry_hash_key(the hash before,
 * value).lo, beginning with 0. The record is written last: a directory without one is incomplete.
 */
#include "cli/core/files/note_bytes.h"
#include "cli/core/stop_signals.h"
#include "cli/map/map_client.h"
#include "cli/map/map_command.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the directory --------------------------------------------------------------------------- */

#define CLI_DIR_VALUES "values"

/* All byte strings of a map in a directory. */
typedef struct dir_values {
    bry_map_value *values;
    size_t count;
    char *bytes;
} dir_values;

/* Writes values to a file. */
typedef struct dir_writer {
    FILE *file;
    uint64_t count; /* Values written so far. */
    uint64_t check; /* Checksum of what was written so far. */
} dir_writer;

#define SLAB_FORM "slab-%06" PRIu64 ".map"
#define SLAB_NAME 48
#define HEAD_FORM "bloomery-values 1 count=%020" PRIu64 " check=%016" PRIx64 "\n"
#define COUNT_AT strlen("bloomery-values 1 count=")
#define CHECK_AT (COUNT_AT + 20 + strlen(" check="))
#define HEAD_LEN (strlen("bloomery-values 1 count= check=\n") + 20 + 16)

/* The path of a file in the directory. The caller frees it; NULL if memory runs out. */
static char *dir_path(const char *dir, const char *name)
{
    size_t room = strlen(dir) + strlen(name) + 2;
    char *path = malloc(room);
    if (path)
        snprintf(path, room, "%s/%s", dir, name);
    return path;
}

static char *dir_slab_path(const char *dir, uint64_t slab)
{
    char name[SLAB_NAME];
    snprintf(name, sizeof name, SLAB_FORM, slab);
    return dir_path(dir, name);
}

/* Opens a file of the directory, or fails with a message. */
static FILE *open_in_dir(const char *dir, const char *name)
{
    char *path = dir_path(dir, name);
    FILE *file = path ? fopen(path, "rbe") : NULL;
    if (!file)
        cli_fail("%s: %s", cli_name(path ? path : dir).text, strerror(errno));
    free(path);
    return file;
}

/* Reads the record, without the end of its line. CLI_GO_ON, or an exit code after a message, as
 * all functions here that read. */
static int dir_read_record(const char *dir, char *record, size_t room)
{
    FILE *file = open_in_dir(dir, CLI_DIR_RECORD);
    if (!file)
        return CLI_FAILED;
    size_t len = fread(record, 1, room - 1, file);
    fclose(file);
    record[len] = '\0';
    if (len == 0 || record[len - 1] != '\n' || strlen(record) != len)
        return cli_fail("%s/%s: damaged", cli_name(dir).text, CLI_DIR_RECORD);
    record[len - 1] = '\0';
    return CLI_GO_ON;
}

/* ---- values -------------------------------------------------------------------------------- */

static bool dir_begin_values(dir_writer *writer, const char *path)
{
    *writer = (dir_writer){.file = fopen(path, "wbxe")};
    return writer->file && fprintf(writer->file, HEAD_FORM, (uint64_t)0, (uint64_t)0) > 0;
}

static bry_status dir_write_value(void *opaque, bry_map_value value)
{
    dir_writer *writer = opaque;
    unsigned char len[4];
    cli_put(len, value.len, 4);
    writer->count++;
    writer->check = bry_hash_key(writer->check, value.len ? value.bytes : "", value.len).lo;
    if (fwrite(len, 1, sizeof len, writer->file) != sizeof len ||
        fwrite(value.bytes, 1, value.len, writer->file) != value.len)
        return BRY_E_IO;
    return BRY_OK;
}

static bool dir_end_values(dir_writer *writer)
{
    bool written = fseek(writer->file, 0, SEEK_SET) == 0 &&
                   fprintf(writer->file, HEAD_FORM, writer->count, writer->check) > 0 &&
                   fflush(writer->file) == 0 && fsync(fileno(writer->file)) == 0;
    return fclose(writer->file) == 0 && written;
}

/* Reads the file whole. */
static char *read_whole(FILE *file, size_t *len)
{
    char *bytes = NULL;
    size_t capacity = 0;
    *len = 0;
    for (size_t got = 1; got > 0; *len += got) {
        if (*len == capacity) {
            capacity = capacity ? 2 * capacity : 1 << 16;
            char *grown = realloc(bytes, capacity);
            if (!grown) {
                free(bytes);
                return NULL;
            }
            bytes = grown;
        }
        got = fread(bytes + *len, 1, capacity - *len, file);
    }
    return bytes;
}

/* Finds the values in the bytes. False if they are damaged. */
static bool parse_values(dir_values *values, size_t len)
{
    uint64_t count, check, sum = 0;
    size_t at = HEAD_LEN;
    char head[96] = "";
    if (len < HEAD_LEN)
        return false;
    memcpy(head, values->bytes, HEAD_LEN);
    count = strtoull(head + COUNT_AT, NULL, 10);
    check = strtoull(head + CHECK_AT, NULL, 16);
    snprintf(head, sizeof head, HEAD_FORM, count, check);
    if (memcmp(head, values->bytes, HEAD_LEN) != 0 || count > (len - HEAD_LEN) / 4)
        return false;
    values->values = calloc(count ? (size_t)count : 1, sizeof *values->values);
    if (!values->values)
        return false;
    for (; values->count < count; values->count++) {
        if (len - at < 4)
            return false;
        size_t size = (size_t)cli_get((unsigned char *)values->bytes + at, 4);
        at += 4;
        if (size > len - at || size > BRY_MAP_VALUE_MAX)
            return false;
        values->values[values->count] = bry_map_value_bytes(values->bytes + at, size);
        sum = bry_hash_key(sum, values->bytes + at, size).lo;
        at += size;
    }
    return at == len && sum == check;
}

static void dir_values_free(dir_values *values)
{
    free(values->values);
    free(values->bytes);
    *values = (dir_values){0};
}

static int dir_read_values(const char *dir, dir_values *values)
{
    size_t len = 0;
    *values = (dir_values){0};
    FILE *file = open_in_dir(dir, CLI_DIR_VALUES);
    if (!file)
        return CLI_FAILED;
    values->bytes = read_whole(file, &len);
    fclose(file);
    if (values->bytes && parse_values(values, len))
        return CLI_GO_ON;
    dir_values_free(values);
    return cli_fail("%s/%s: damaged", cli_name(dir).text, CLI_DIR_VALUES);
}

/* ---- slabs --------------------------------------------------------------------------------- */

/* Reads the file of a slab as it is. The caller frees the bytes. */
static int dir_read_slab(const char *dir, uint64_t slab, char **bytes, size_t *len)
{
    char name[SLAB_NAME];
    snprintf(name, sizeof name, SLAB_FORM, slab);
    FILE *file = open_in_dir(dir, name);
    if (!file)
        return CLI_FAILED;
    *bytes = read_whole(file, len);
    bool failed = ferror(file) != 0;
    fclose(file);
    if (*bytes && !failed)
        return CLI_GO_ON;
    free(*bytes);
    *bytes = NULL;
    return cli_fail("%s/%s: cannot read", cli_name(dir).text, name);
}

/* Loads slab number `slab`, and checks that it belongs to the map `of`. */
static int dir_load_slab(const char *dir, const bryc_map *of, uint64_t slab, cli_memory *memory,
                         bry_map **map)
{
    bryc_map_options options = BRYC_MAP_OPTIONS;
    char *path = dir_slab_path(dir, slab);
    if (!path)
        return cli_no_memory();
    int code = cli_map_load(path, memory, map, NULL);
    if (code == CLI_GO_ON) {
        bryc_map_get_options(of, &options);
        bry_map_options its = cli_map_options(*map);
        bool codes = options.value_bits == 0;
        if (its.seed != options.seed || its.engine != options.engine ||
            (!codes && its.value_bits != options.value_bits)) {
            code = cli_fail("%s: belongs to another map", cli_name(path).text);
            bry_map_destroy(*map);
        }
    }
    free(path);
    return code;
}

/* ---- looking up ---------------------------------------------------------------------------- */

typedef struct dir_target {
    char *dir;
    cli_memory *memory;
    bryc_map *of;
    bry_map **slabs; /* those that were needed */
    uint64_t count;
    dir_values values;
    bool codes;
} dir_target;

static int get_from_dir(cli_map_target *self, const cli_text *keys, size_t n, bry_map_value *values,
                        bry_answer *answers)
{
    dir_target *from = self->inside;
    for (size_t i = 0; i < n; i++) {
        uint64_t slab = bryc_map_slab_of(from->of, keys[i].bytes, keys[i].len);
        if (!from->slabs[slab]) {
            int code = dir_load_slab(from->dir, from->of, slab, from->memory, &from->slabs[slab]);
            if (code != CLI_GO_ON) {
                from->slabs[slab] = NULL;
                return code;
            }
        }
        answers[i] = bry_map_get_key(from->slabs[slab], keys[i].bytes, keys[i].len, &values[i]);
        if (answers[i] != BRY_PRESENT || !from->codes)
            continue;
        if (values[i].number < from->values.count)
            values[i] = from->values.values[values[i].number];
        else if (bry_map_items(from->slabs[slab]) &&
                 cli_map_options(from->slabs[slab]).engine == BRY_ENGINE_KBF)
            answers[i] = BRY_ABSENT; /* a false answer */
        else
            return cli_fail("%s: slab %" PRIu64 " has a code without a value",
                            cli_name(from->dir).text, slab);
    }
    return CLI_GO_ON;
}

static void close_dir_target(cli_map_target *self)
{
    dir_target *from = self->inside;
    for (uint64_t i = 0; from->slabs && i < from->count; i++)
        bry_map_destroy(from->slabs[i]);
    free(from->slabs);
    free(from->dir);
    dir_values_free(&from->values);
    bryc_map_close(from->of);
    free(from);
}

static int open_dir_target(dir_target *from)
{
    char record[600];
    const char *problem;
    bryc_map_options options = BRYC_MAP_OPTIONS;
    int code = dir_read_record(from->dir, record, sizeof record);
    if (code != CLI_GO_ON)
        return code;
    bry_status status = bryc_map_prepare(NULL, "directory", record, &from->of, &problem);
    if (status != BRY_OK)
        return cli_fail("%s: %s", cli_name(from->dir).text, problem);
    bryc_map_get_options(from->of, &options);
    from->count = options.slabs;
    from->codes = options.value_bits == 0;
    from->slabs = calloc(from->count, sizeof *from->slabs);
    if (!from->slabs)
        return cli_no_memory();
    return from->codes ? dir_read_values(from->dir, &from->values) : CLI_GO_ON;
}

int cli_dir_target(const char *path, cli_map_target *target)
{
    static const cli_map_kind kind = {.get = get_from_dir, .close = close_dir_target};
    dir_target *from = calloc(1, sizeof *from);
    if (!from || !(from->dir = strdup(path))) {
        free(from);
        return cli_no_memory();
    }
    from->memory = &target->memory;
    target->kind = &kind;
    target->inside = from;
    int code = open_dir_target(from);
    bryc_map_options options = BRYC_MAP_OPTIONS;
    if (code == CLI_GO_ON) {
        bryc_map_get_options(from->of, &options);
        target->value_bits = options.value_bits;
    } else {
        close_dir_target(target);
    }
    return code;
}

/* ---- save and restore ------------------------------------------------------------------------ */

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
    char *path = dir_slab_path(dir, slab);
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
    dir_writer writer = {0};
    char *path = dir_path(dir, CLI_DIR_VALUES);
    int code = CLI_GO_ON;
    if (!path || !dir_begin_values(&writer, path)) {
        code = dir_failed(path ? path : dir);
    } else {
        bry_status status = bryc_map_fetch_values(remote->map, dir_write_value, &writer);
        if (status != BRY_OK)
            code = ferror(writer.file) ? dir_failed(path) : cli_remote_failed(remote, status);
    }
    if (writer.file && !dir_end_values(&writer) && code == CLI_GO_ON)
        code = dir_failed(path);
    free(path);
    return code;
}

/* Under another name first: a directory with a record is complete. */
static int save_record(const cli_remote *remote, const char *dir)
{
    char *path = dir_path(dir, CLI_DIR_RECORD);
    char *other = dir_path(dir, CLI_DIR_RECORD ".new");
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
        char *path = i < slabs ? dir_slab_path(dir, i) : dir_path(dir, names[i - slabs]);
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
    const cli_syntax syntax = {
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
    cli_remote remote = {0};
    int code = cli_read_args(&syntax, argc, argv, &words);
    if (code == CLI_GO_ON)
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
    bry_map *map = NULL;
    char *bytes = NULL;
    size_t len = 0;
    cli_memory_init(&memory, 0);
    int code = dir_load_slab(dir, remote->map, slab, &memory, &map);
    if (code != CLI_GO_ON)
        return code;
    bool empty = bry_map_items(map) == 0;
    bry_map_destroy(map);
    if (empty)
        return CLI_GO_ON;
    code = dir_read_slab(dir, slab, &bytes, &len);
    if (code != CLI_GO_ON)
        return code;
    bry_status status = bryc_map_place_slab(remote->map, slab, bytes, len);
    free(bytes);
    cli_remote_confirmed(remote);
    return status == BRY_OK ? CLI_GO_ON : cli_remote_failed(remote, status);
}

static int restore_values(cli_remote *remote, const char *dir)
{
    dir_values values;
    int code = dir_read_values(dir, &values);
    if (code != CLI_GO_ON)
        return code;
    bry_status status = bryc_map_place_values(remote->map, values.values, values.count);
    if (status != BRY_OK)
        code = cli_remote_failed(remote, status);
    cli_remote_confirmed(remote);
    dir_values_free(&values);
    return code;
}

static int restore_map(cli_remote *remote, const char *dir, bool force)
{
    char record[600];
    const char *name = bryc_url_name(remote->client), *problem;
    bool exists = false;
    bryc_map_options options = BRYC_MAP_OPTIONS;
    int code = dir_read_record(dir, record, sizeof record);
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
    bool force = false;
    uint64_t wait = 0;
    cli_option options[] = {
        {"force", CLI_FLAG, NULL, "replace the map if it exists", &force},
        CLI_MAP_WAIT(&wait),
    };
    const cli_syntax syntax = {
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
    cli_remote remote = {0};
    int code = cli_read_args(&syntax, argc, argv, &words);
    if (code == CLI_GO_ON)
        code = cli_remote_connect(argv[1], true, &remote);
    remote.wait = wait > UINT32_MAX ? UINT32_MAX : (uint32_t)wait;
    if (code == CLI_GO_ON)
        code = restore_map(&remote, argv[0], force);
    if (code == CLI_GO_ON && remote.confirmed < remote.wait)
        code = cli_remote_unconfirmed(&remote);
    cli_remote_close(&remote);
    return code == CLI_GO_ON ? CLI_YES : code;
}
