/*
 * plan_oracle ITEMS ERROR: the plan of a filter, and what a filter allocates when created and
 * filled, one per line. plan_oracle ITEMS ERROR VALUES: the plan of each possible engine of a map.
 * plan_oracle ITEMS ERROR in SUBSETS: the same of an index; within MS: of windows and counters. The
 * program under test must say the same.
 */
#include <bloomery/counters.h>
#include <bloomery/filter.h>
#include <bloomery/index.h>
#include <bloomery/map.h>
#include <bloomery/window.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *count_alloc(void *opaque, size_t size)
{
    *(uint64_t *)opaque += size;
    return malloc(size);
}

static void count_free(void *opaque, void *block, size_t size)
{
    *(uint64_t *)opaque -= size;
    free(block);
}

static void print_map(const bry_map_options *options)
{
    bry_map_shape s = {0};
    if (bry_map_plan(options, &s) != BRY_OK)
        return;
    printf("%s %s %llu %llu %u %.17g %.17g %.17g %llu %u\n", bry_engine_name(s.engine),
           options->kbf.layout == BRY_MAP_PAPER ? "paper" : "tuned", (unsigned long long)s.bytes,
           (unsigned long long)s.bytes_empty, s.kbf.hashes, s.errors.false_positive,
           s.errors.false_negative, s.errors.incorrect, (unsigned long long)s.values, s.value_bits);
}

static int print_maps(char **argv)
{
    bry_map_options options = BRY_MAP_OPTIONS;
    options.capacity = strtoull(argv[1], NULL, 10);
    options.error = strtod(argv[2], NULL);
    options.values = strtoull(argv[3], NULL, 10);
    options.engine = BRY_ENGINE_COMPACT;
    print_map(&options);
    options.engine = BRY_ENGINE_KBF;
    print_map(&options);
    options.kbf.layout = BRY_MAP_PAPER;
    print_map(&options);
    return 0;
}

static int print_indexes(char **argv)
{
    static const bry_engine engines[] = {BRY_ENGINE_COMPACT, BRY_ENGINE_DBA};
    for (int i = 0; i < 2; i++) {
        bry_index_options options = BRY_INDEX_OPTIONS;
        uint64_t items = strtoull(argv[1], NULL, 10);
        options.engine = engines[i];
        options.error = strtod(argv[2], NULL);
        options.units = (uint32_t)strtoull(argv[4], NULL, 10);
        options.unit_capacity = (items + options.units - 1) / options.units;
        bry_index_shape s = {0};
        if (bry_index_plan(&options, &s) == BRY_OK)
            printf("%s %llu %llu %u %.17g %u\n", bry_engine_name(s.engine),
                   (unsigned long long)s.bytes, (unsigned long long)s.bytes_empty, s.dba.hashes,
                   s.error, s.dba.group);
    }
    return 0;
}

static void print_window(bry_engine engine, char **argv)
{
    bry_window_options options = BRY_WINDOW_OPTIONS;
    options.engine = engine;
    options.capacity = strtoull(argv[1], NULL, 10);
    options.error = strtod(argv[2], NULL);
    options.window = strtoull(argv[4], NULL, 10);
    bry_window_shape s = {0};
    if (bry_window_plan(&options, &s) == BRY_OK)
        printf("window %llu %llu %u %.17g %llu %llu %u\n", (unsigned long long)s.bytes,
               (unsigned long long)s.bytes_empty, s.fbf.hashes, s.error,
               (unsigned long long)s.window, (unsigned long long)s.longest, s.generations);
}

static void print_counter(bry_engine engine, char **argv)
{
    bry_counters_options options = BRY_COUNTERS_OPTIONS;
    options.engine = engine;
    options.capacity = strtoull(argv[1], NULL, 10);
    options.error = strtod(argv[2], NULL);
    options.window = strtoull(argv[4], NULL, 10);
    bry_counters_shape s = {0};
    if (bry_counters_plan(&options, &s) == BRY_OK)
        printf("counter %llu %llu 0 %.17g %llu %llu %llu\n", (unsigned long long)s.bytes,
               (unsigned long long)s.bytes_empty, s.error, (unsigned long long)s.window,
               (unsigned long long)s.longest, (unsigned long long)s.bytes_per_counter);
}

static int print_windows(char **argv)
{
    print_window(BRY_ENGINE_COMPACT, argv);
    print_window(BRY_ENGINE_FBF, argv);
    print_counter(BRY_ENGINE_COMPACT, argv);
    print_counter(BRY_ENGINE_FBF, argv);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 5)
        return strcmp(argv[3], "in") == 0 ? print_indexes(argv) : print_windows(argv);
    if (argc == 4)
        return print_maps(argv);
    if (argc != 3)
        return 2;
    uint64_t now = 0;
    const bry_allocator counting = {count_alloc, count_free, &now};
    bry_filter_options options = BRY_FILTER_OPTIONS;
    options.engine = BRY_ENGINE_BLOOM;
    options.capacity = strtoull(argv[1], NULL, 10);
    options.error = strtod(argv[2], NULL);
    options.seed = 1;
    options.allocator = &counting;
    bry_filter_shape shape = {0};
    bry_filter *filter;
    if (bry_filter_plan(&options, &shape) != BRY_OK ||
        bry_filter_create(&options, &filter) != BRY_OK)
        return 1;
    printf("bytes %llu\nbytes_empty %llu\nhashes %u\nexpected_error %.17g\n",
           (unsigned long long)shape.bytes, (unsigned long long)shape.bytes_empty,
           shape.bloom.hashes, shape.error);
    printf("made_empty %llu\n", (unsigned long long)now);
    for (uint64_t i = 0; i < options.capacity; i++)
        if (bry_filter_add(filter, bry_hash_key(1, &i, sizeof i), NULL) != BRY_OK)
            return 1;
    printf("made_full %llu\n", (unsigned long long)now);
    bry_filter_destroy(filter);
    return now == 0 ? 0 : 1;
}
