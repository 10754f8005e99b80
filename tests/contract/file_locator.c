/*
 * Which file contains this line? Each file is a unit of an index, each of its lines an element. The
 * index returns the files that may contain a line, and only those are read.
 *
 *     file_locator line file…
 */
#include <bloomery/hash.h>
#include <bloomery/index.h>

#include <stdio.h>
#include <string.h>

typedef struct library {
    bry_index *index;
    char **files; /* the tag of a unit is the index of its file here */
} library;

/* The next line without its end, or false; long lines are returned in parts, always the same
 * ones. */
static bool next_line(FILE *file, char *line, int room, size_t *len)
{
    if (!fgets(line, room, file))
        return false;
    *len = strcspn(line, "\n");
    return true;
}

static bry_status add_file(library *lib, size_t which)
{
    char line[4096];
    size_t len;
    uint32_t unit;
    FILE *file = fopen(lib->files[which], "r");
    if (!file)
        return BRY_E_IO;
    bry_status status = bry_index_open(lib->index, which, &unit);
    while (status == BRY_OK && next_line(file, line, sizeof line, &len)) {
        bry_hash hash = bry_hash_key(bry_index_seed(lib->index), line, len);
        status = bry_index_add(lib->index, hash, unit, NULL, NULL);
        if (status == BRY_E_FULL) { /* a file may have several units, all with its tag */
            bry_index_seal(lib->index, unit);
            status = bry_index_open(lib->index, which, &unit);
            if (status == BRY_OK)
                status = bry_index_add(lib->index, hash, unit, NULL, NULL);
        }
    }
    fclose(file);
    if (status == BRY_OK)
        status = bry_index_seal(lib->index, unit);
    return status;
}

static bool file_holds(const char *path, const char *wanted)
{
    char line[4096];
    size_t len;
    bool found = false;
    FILE *file = fopen(path, "r");
    while (file && !found && next_line(file, line, sizeof line, &len))
        found = len == strlen(wanted) && memcmp(line, wanted, len) == 0;
    if (file)
        fclose(file);
    return found;
}

static int locate(const library *lib, const char *line)
{
    enum { ROOM = 16 };
    uint32_t units[ROOM];
    bry_hash hash = bry_hash_key(bry_index_seed(lib->index), line, strlen(line));
    size_t total = bry_index_locate(lib->index, hash, units, ROOM);
    for (size_t i = 0; i < total && i < ROOM; i++) {
        bry_index_unit_info info = {0};
        if (bry_index_get_unit_info(lib->index, units[i], &info) == BRY_OK &&
            file_holds(lib->files[info.tag], line)) {
            printf("%s\n", lib->files[info.tag]);
            return 0;
        }
    }
    if (total > ROOM)
        fprintf(stderr, "%zu candidates, only the newest %d were read\n", total, ROOM);
    return 1;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: file_locator line file...\n");
        return 2;
    }
    library lib = {NULL, argv + 2};
    bry_index_options options = BRY_INDEX_OPTIONS;
    options.units = (uint32_t)argc - 2;
    options.error = 0.01;
    bry_status status = bry_index_create(&options, &lib.index);
    for (size_t i = 0; status == BRY_OK && i < (size_t)argc - 2; i++)
        status = add_file(&lib, i);
    if (status == BRY_OK)
        status = bry_index_step(lib.index, NULL, 1000000, NULL);

    int code = 3;
    if (status == BRY_OK) {
        bry_index_stats stats = {0};
        bry_index_get_stats(lib.index, &stats);
        fprintf(stderr, "%u units, %llu lines, %llu bytes, error %.1g of %.1g\n", stats.units,
                (unsigned long long)stats.elements, (unsigned long long)stats.bytes,
                stats.estimated_error, stats.promised_error);
        code = locate(&lib, argv[1]);
    } else {
        fprintf(stderr, "%s\n", bry_status_text(status));
    }
    bry_index_destroy(lib.index);
    return code;
}
