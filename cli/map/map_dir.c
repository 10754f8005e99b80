#include "cli/map/map_dir.h"

#include "cli/core/files/note_bytes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SLAB_FORM "slab-%06" PRIu64 ".map"
#define SLAB_NAME 48
#define HEAD_FORM "bloomery-values 1 count=%020" PRIu64 " check=%016" PRIx64 "\n"
#define COUNT_AT strlen("bloomery-values 1 count=")
#define CHECK_AT (COUNT_AT + 20 + strlen(" check="))
#define HEAD_LEN (strlen("bloomery-values 1 count= check=\n") + 20 + 16)

char *cli_dir_path(const char *dir, const char *name)
{
    size_t room = strlen(dir) + strlen(name) + 2;
    char *path = malloc(room);
    if (path)
        snprintf(path, room, "%s/%s", dir, name);
    return path;
}

char *cli_dir_slab_path(const char *dir, uint64_t slab)
{
    char name[SLAB_NAME];
    snprintf(name, sizeof name, SLAB_FORM, slab);
    return cli_dir_path(dir, name);
}

/* Opens a file of the directory, or fails with a message. */
static FILE *open_in_dir(const char *dir, const char *name)
{
    char *path = cli_dir_path(dir, name);
    FILE *file = path ? fopen(path, "rbe") : NULL;
    if (!file)
        cli_fail("%s: %s", cli_name(path ? path : dir).text, strerror(errno));
    free(path);
    return file;
}

int cli_dir_read_record(const char *dir, char *record, size_t room)
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

bool cli_dir_begin_values(cli_dir_writer *writer, const char *path)
{
    *writer = (cli_dir_writer){.file = fopen(path, "wbxe")};
    return writer->file && fprintf(writer->file, HEAD_FORM, (uint64_t)0, (uint64_t)0) > 0;
}

bry_status cli_dir_write_value(void *opaque, bry_map_value value)
{
    cli_dir_writer *writer = opaque;
    unsigned char len[4];
    cli_put(len, value.len, 4);
    writer->count++;
    writer->check = bry_hash_key(writer->check, value.len ? value.bytes : "", value.len).lo;
    if (fwrite(len, 1, sizeof len, writer->file) != sizeof len ||
        fwrite(value.bytes, 1, value.len, writer->file) != value.len)
        return BRY_E_IO;
    return BRY_OK;
}

bool cli_dir_end_values(cli_dir_writer *writer)
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
static bool parse_values(cli_dir_values *values, size_t len)
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

int cli_dir_read_values(const char *dir, cli_dir_values *values)
{
    size_t len = 0;
    *values = (cli_dir_values){0};
    FILE *file = open_in_dir(dir, CLI_DIR_VALUES);
    if (!file)
        return CLI_FAILED;
    values->bytes = read_whole(file, &len);
    fclose(file);
    if (values->bytes && parse_values(values, len))
        return CLI_GO_ON;
    cli_dir_values_free(values);
    return cli_fail("%s/%s: damaged", cli_name(dir).text, CLI_DIR_VALUES);
}

void cli_dir_values_free(cli_dir_values *values)
{
    free(values->values);
    free(values->bytes);
    *values = (cli_dir_values){0};
}

/* ---- slabs --------------------------------------------------------------------------------- */

int cli_dir_read_slab(const char *dir, uint64_t slab, char **bytes, size_t *len)
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
    return cli_fail("%s/%s: cannot read", cli_name(dir).text, name);
}

int cli_dir_load_slab(const char *dir, const bryc_map *of, uint64_t slab, cli_memory *memory,
                      bry_map **map)
{
    bryc_map_options options = BRYC_MAP_OPTIONS;
    char *path = cli_dir_slab_path(dir, slab);
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
    cli_dir_values values;
    bool codes;
} dir_target;

static int get_from_dir(cli_map_target *self, const cli_text *keys, size_t n, bry_map_value *values,
                        bry_answer *answers)
{
    dir_target *from = self->inside;
    for (size_t i = 0; i < n; i++) {
        uint64_t slab = bryc_map_slab_of(from->of, keys[i].bytes, keys[i].len);
        if (!from->slabs[slab]) {
            int code =
                cli_dir_load_slab(from->dir, from->of, slab, from->memory, &from->slabs[slab]);
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
    cli_dir_values_free(&from->values);
    bryc_map_close(from->of);
    free(from);
}

static int open_dir_target(dir_target *from)
{
    char record[600];
    const char *problem;
    bryc_map_options options = BRYC_MAP_OPTIONS;
    int code = cli_dir_read_record(from->dir, record, sizeof record);
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
    return from->codes ? cli_dir_read_values(from->dir, &from->values) : CLI_GO_ON;
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
