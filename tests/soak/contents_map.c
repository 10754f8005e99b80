/*
 * Real data: an index of the files in Debian's packages, path → package, as a map at error 10⁻³.
 * Looks up every path and a million absent paths; size and errors must be as promised, before and
 * after saving and loading. Prints its figures.
 *
 *     contents_map INDEX    lines with a path, white space, and its packages
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/core/steady_clock.h"
#include "hash/derive.h"
#include "support/band.h"
#include "support/cmocka_all.h"

#include <bloomery/map.h>

#define ERROR 1e-3
#define SEED UINT64_C(0x436f6e74656e7473)
#define ABSENT 1000000u
#define LONGEST 4096u

typedef struct pair {
    bry_hash hash;
    const char *path, *value; /* the value ends where the line does */
    uint32_t path_len, value_len;
    bool superseded; /* the same path occurs again later */
} pair;

static const char *file_name;
static pair *pairs;
static size_t count;
static uint64_t paths; /* different ones */
static bry_hash *sorted; /* hashes of all pairs */

/* ---- reading ------------------------------------------------------------------------------- */

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

/* False: the line has no two fields. */
static bool read_line(const char *line, const char *end, pair *made)
{
    const char *value = end;
    while (value > line && !is_space(value[-1]))
        value--;
    const char *path_end = value;
    while (path_end > line && is_space(path_end[-1]))
        path_end--;
    if (path_end == line || value == end || path_end - line > (long)LONGEST - 32)
        return false;
    *made = (pair){
        .hash = bry_hash_key(SEED, line, (size_t)(path_end - line)),
        .path = line,
        .path_len = (uint32_t)(path_end - line),
        .value = value,
        .value_len = (uint32_t)(end - value),
    };
    return true;
}

static void read_file(void)
{
    int file = open(file_name, O_RDONLY | O_CLOEXEC);
    struct stat status = {0};
    assert_true(file >= 0 && fstat(file, &status) == 0 && status.st_size > 0);
    const char *text = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    assert_true(text != MAP_FAILED);
    close(file);
    const char *stop = text + status.st_size;
    size_t room = 1u << 20;
    pairs = malloc(room * sizeof *pairs);
    assert_non_null(pairs);
    for (const char *line = text; line < stop;) {
        const char *end = memchr(line, '\n', (size_t)(stop - line));
        end = end ? end : stop;
        if (count == room) {
            room *= 2;
            pair *more = realloc(pairs, room * sizeof *pairs);
            assert_non_null(more);
            pairs = more;
        }
        count += read_line(line, end, &pairs[count]);
        line = end + 1;
    }
}

static int compare_hashes(const void *a, const void *b)
{
    const bry_hash *x = a, *y = b;
    if (x->hi != y->hi)
        return x->hi < y->hi ? -1 : 1;
    return (x->lo > y->lo) - (x->lo < y->lo);
}

/* By hash, then in the order of the file. */
static int compare_pairs(const void *a, const void *b)
{
    const pair *x = *(pair *const *)a, *y = *(pair *const *)b;
    int order = compare_hashes(&x->hash, &y->hash);
    return order ? order : (x > y) - (x < y);
}

/* Hashes have 128 bits: paths with equal hashes are equal. */
static void sort_out(void)
{
    pair **order = malloc(count * sizeof *order);
    sorted = malloc(count * sizeof *sorted);
    assert_true(order && sorted);
    for (size_t i = 0; i < count; i++)
        order[i] = &pairs[i];
    qsort(order, count, sizeof(pair *), compare_pairs);
    for (size_t i = 0; i < count; i++) {
        sorted[i] = order[i]->hash;
        order[i]->superseded =
            i + 1 < count && compare_hashes(&order[i]->hash, &order[i + 1]->hash) == 0;
        paths += !order[i]->superseded;
    }
    free(order);
}

/* ---- the map ------------------------------------------------------------------------------- */

static bry_map *build(void)
{
    bry_map_options options = BRY_MAP_OPTIONS;
    options.capacity = paths;
    options.error = ERROR;
    options.seed = SEED;
    bry_map *map;
    assert_int_equal(bry_map_create(&options, &map), BRY_OK);
    double start = cli_clock_seconds(CLOCK_MONOTONIC);
    for (size_t i = 0; i < count; i++)
        assert_true(bry_map_set(map, pairs[i].hash,
                                bry_map_value_bytes(pairs[i].value, pairs[i].value_len),
                                NULL) == BRY_OK);
    printf("built in %.0f ns a line\n",
           1e9 * (cli_clock_seconds(CLOCK_MONOTONIC) - start) / (double)count);
    return map;
}

/* Counts wrong values of present paths. None may be reported absent. */
static uint64_t ask_present(const bry_map *map)
{
    uint64_t wrong = 0, denied = 0;
    double start = cli_clock_seconds(CLOCK_MONOTONIC);
    for (size_t i = 0; i < count; i++) {
        bry_map_value value;
        if (pairs[i].superseded)
            continue;
        if (bry_map_get(map, pairs[i].hash, &value) != BRY_PRESENT)
            denied++;
        else
            wrong += value.len != pairs[i].value_len ||
                     memcmp(value.bytes, pairs[i].value, value.len) != 0;
    }
    printf("%" PRIu64 " paths asked for, %.0f ns each: %" PRIu64 " denied, %" PRIu64
           " with another value (%.3g)\n",
           paths, 1e9 * (cli_clock_seconds(CLOCK_MONOTONIC) - start) / (double)paths, denied, wrong,
           (double)wrong / (double)paths);
    assert_int_equal(denied, 0);
    return wrong;
}

/* Absent paths: paths from the whole index with another ending. */
static uint64_t ask_absent(const bry_map *map)
{
    static const char ending[] = ".not-there";
    char path[LONGEST];
    uint64_t found = 0;
    for (uint64_t i = 0; i < ABSENT; i++) {
        const pair *like = &pairs[bry__scale(bry__mix64(i * 2 + 1), count)];
        int len = snprintf(path, sizeof path, "%.*s%s%" PRIu64, (int)like->path_len, like->path,
                           ending, i);
        bry_hash hash = bry_hash_key(SEED, path, (size_t)len);
        assert_null(bsearch(&hash, sorted, count, sizeof hash, compare_hashes));
        found += bry_map_get(map, hash, NULL) == BRY_PRESENT;
    }
    printf("%u absent paths asked for: %" PRIu64 " answered (%.3g)\n", ABSENT, found,
           (double)found / ABSENT);
    return found;
}

TEST(the_index_as_a_map)
{
    read_file();
    sort_out();
    assert_true(paths >= ABSENT);
    bry_map *map = build();
    bry_map_stats stats = {0};
    bry_map_get_stats(map, &stats);
    double main_bytes = (double)stats.bytes_keys / (double)paths;
    printf("%zu lines, %" PRIu64 " paths, %" PRIu64 " values: %.3f bytes per path, and %.1f MB "
           "of values; all %.1f MB; %" PRIu32 " table(s), load %.3f\n",
           count, paths, stats.values, main_bytes, (double)stats.bytes_values / 1e6,
           (double)stats.bytes / 1e6, stats.tables, stats.load);
    assert_true(main_bytes <= 5);
    uint64_t wrong = ask_present(map), found = ask_absent(map);
    band_assert_at_most(wrong, paths, ERROR);
    band_assert_at_most(found, ABSENT, ERROR);
    band_assert(found, ABSENT, stats.estimated.false_positive);

    char saved[4200];
    bry_load load = BRY_LOAD;
    bry_map *again;
    snprintf(saved, sizeof saved, "%s.map", file_name);
    assert_int_equal(bry_map_save_file(map, saved, NULL), BRY_OK);
    bry_map_destroy(map);
    struct stat status;
    assert_int_equal(stat(saved, &status), 0);
    printf("saved: %.1f MB\n", (double)status.st_size / 1e6);
    assert_int_equal(bry_map_load_file(saved, &load, &again), BRY_OK);
    unlink(saved);
    assert_int_equal(ask_present(again), wrong);
    assert_int_equal(ask_absent(again), found);
    bry_map_destroy(again);
    free(pairs);
    free(sorted);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fputs("usage: contents_map INDEX\n", stderr);
        return 2;
    }
    file_name = argv[1];
    return run_all_tests(NULL, NULL);
}
