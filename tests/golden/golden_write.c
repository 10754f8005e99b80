/*
 * Writes the golden files: small streams and logs that every later version must read. Run it by
 * hand for a new kind, or for a new layout of one, under a new name; a golden file is never
 * replaced:
 *
 *     golden_write DIR [NAME]
 */
#include <bloomery.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counter/counter_object.h"
#include "frame/frame.h"
#include "frame/log.h"
#include "golden/golden_content.h"
#include "hash/derive.h"
#include "maplet/maplet.h"
#include "support/recording_io.h"

static void stop_at(const char *what)
{
    fprintf(stderr, "golden_write: %s failed\n", what);
    exit(1);
}

static void put_file(const char *dir, const char *name, const void *bytes, size_t len)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, len, file) != len || fclose(file) != 0)
        stop_at(path);
    printf("%s: %zu bytes\n", path, len);
}

static void must(bry_status status, const char *name)
{
    if (status != BRY_OK)
        stop_at(name);
}

/* ---- streams ------------------------------------------------------------------------------- */

/* Writes a saved object to its file and frees the buffer. */
static void put_stream(const char *dir, const char *name, bry_buffer *buffer)
{
    put_file(dir, name, buffer->bytes, buffer->len);
    bry_buffer_free(buffer);
}

/* The same for an object, which it destroys. */
static void put_object(const char *dir, const char *name, bry_job job, void *object,
                       const bry_save *save)
{
    bry_buffer buffer = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&buffer);
    must(bry_job_save(job, object, &sink, save), name);
    put_stream(dir, name, &buffer);
    bry_job_destroy(job, object);
}

static void make_stream(const char *dir, const char *name, unsigned frames)
{
    bry_buffer buffer = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&buffer);
    bry__frame_writer writer;
    unsigned char payload[GOLDEN_PAYLOAD_MAX];
    bry__frame_writer_begin(&writer, &sink, NULL, GOLDEN_KIND, 1, GOLDEN_SEED);
    for (unsigned i = 0; i < frames; i++)
        bry__frame_writer_write(&writer, golden_type(i), payload, golden_payload(i, payload));
    must(bry__frame_writer_end(&writer), name);
    put_stream(dir, name, &buffer);
}

/* ---- objects ------------------------------------------------------------------------------- */

static void make_filter(const char *dir, const char *name, bry_engine engine, unsigned keys,
                        bool with_note)
{
    bry_filter_options options = BRY_FILTER_OPTIONS;
    options.engine = engine;
    options.capacity = GOLDEN_FILTER_CAPACITY;
    options.seed = GOLDEN_SEED;
    bry_filter *filter;
    must(bry_filter_create(&options, &filter), name);
    for (uint32_t i = 0; i < keys; i++)
        must(bry_filter_add(filter, golden_key(i), NULL), name);
    unsigned char note[GOLDEN_PAYLOAD_MAX];
    bry_save save = {sizeof save, note, with_note ? golden_payload(GOLDEN_NOTE, note) : 0};
    put_object(dir, name, BRY_JOB_FILTER, filter, &save);
}

static void make_maplet(const char *dir, const char *name, unsigned keys, unsigned crowd)
{
    bry__maplet_options options = {GOLDEN_MAPLET_CAPACITY, 1e-6, 7, false};
    bry_allocator allocator = bry__allocator_or_default(NULL);
    bry__maplet maplet;
    must(bry__maplet_init(&maplet, &options, &allocator) ? BRY_OK : BRY_E_RANGE, name);
    for (uint32_t i = 0; i < crowd; i++)
        must(bry__maplet_add(&maplet, golden_key(0), i + 1), name);
    for (uint32_t i = 0; i < keys; i++)
        must(bry__maplet_add(&maplet, golden_key(i), i % 128), name);
    bry_buffer buffer = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&buffer);
    must(bry__maplet_save(&maplet, &sink), name);
    put_stream(dir, name, &buffer);
    bry__maplet_free(&maplet);
}

static void make_map(const char *dir, const char *name, bry_engine engine, unsigned value_bits,
                     unsigned keys)
{
    bry_map_options options = BRY_MAP_OPTIONS;
    options.engine = engine;
    options.capacity = GOLDEN_MAP_CAPACITY;
    options.value_bits = value_bits;
    options.values = 100;
    options.seed = GOLDEN_SEED;
    bry_map *map;
    must(bry_map_create(&options, &map), name);
    for (uint32_t i = 0; i < keys; i++) {
        char bytes[2];
        golden_map_value(i, bytes);
        bry_map_value value = value_bits ? bry_map_value_number(i % GOLDEN_MAP_VALUES)
                                         : bry_map_value_bytes(bytes, sizeof bytes);
        must(bry_map_set(map, golden_key(i), value, NULL), name);
    }
    put_object(dir, name, BRY_JOB_MAP, map, NULL);
}

static void make_window(const char *dir, const char *name, bry_engine engine, unsigned keys)
{
    bry_window_options options = BRY_WINDOW_OPTIONS;
    options.engine = engine;
    options.window = GOLDEN_WINDOW_WINDOW;
    options.capacity = GOLDEN_WINDOW_CAPACITY;
    options.generations =
        engine == BRY_ENGINE_FBF ? GOLDEN_WINDOW_FBF_GENERATIONS : GOLDEN_WINDOW_GENERATIONS;
    options.error = 1e-6;
    options.seed = GOLDEN_SEED;
    bry_window *window;
    must(bry_window_create(&options, &window), name);
    for (uint32_t i = 0; i < keys; i++)
        must(bry_window_add(window, golden_key(i), GOLDEN_WINDOW_TIME + i * GOLDEN_WINDOW_STEP,
                            NULL),
             name);
    put_object(dir, name, BRY_JOB_WINDOW, window, NULL);
}

static bry_counters_options counter_options(bry_engine engine)
{
    bry_counters_options options = BRY_COUNTERS_OPTIONS;
    options.engine = engine;
    options.window = GOLDEN_COUNTER_WINDOW;
    options.capacity = 20;
    options.seed = GOLDEN_SEED;
    return options;
}

static void count(bry_counters *counters, unsigned operations, const char *name)
{
    for (uint32_t i = 0; i < operations; i++) {
        char bytes[2];
        golden_counter_name(i, bytes);
        must(bry_counters_apply(counters, golden_key(i), bytes, sizeof bytes, i,
                                GOLDEN_COUNTER_TIME + i, NULL, NULL),
             name);
    }
}

static void make_counter(const char *dir, const char *name, bry_engine engine, unsigned operations)
{
    bry_counters_options options = counter_options(engine);
    bry_counters *counters;
    must(bry_counters_create(&options, &counters), name);
    count(counters, operations, name);
    put_object(dir, name, BRY_JOB_COUNTERS, counters, NULL);
}

static bry_index *golden_index(const char *name, bry_engine engine, unsigned keys)
{
    bry_index_options options = BRY_INDEX_OPTIONS;
    options.engine = engine;
    options.units = 6;
    options.unit_capacity = GOLDEN_INDEX_CAPACITY;
    options.error = 1e-6;
    options.seed = GOLDEN_SEED;
    bry_index *index;
    must(bry_index_create(&options, &index), name);
    for (uint32_t i = 0; i < keys; i++) {
        uint32_t unit;
        if (i % 7 == 0 && (bry_index_open(index, 100 + i / 7, &unit) != BRY_OK ||
                           bry_index_add(index, golden_key(0), unit, NULL, NULL) != BRY_OK))
            stop_at(name);
        must(bry_index_add(index, golden_key(i), i / 7, NULL, NULL), name);
    }
    if (keys && bry_index_drop(index, 1) != BRY_OK)
        stop_at(name);
    return index;
}

static void make_index(const char *dir, const char *name, bry_engine engine, unsigned keys)
{
    put_object(dir, name, BRY_JOB_INDEX, golden_index(name, engine, keys), NULL);
}

/* Only its last unit. */
static void make_index_unit(const char *dir, const char *name, bry_engine engine)
{
    bry_index *index = golden_index(name, engine, GOLDEN_INDEX_KEYS);
    bry_buffer buffer = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&buffer);
    must(bry_index_save_unit(index, GOLDEN_INDEX_UNITS - 1, &sink, NULL), name);
    put_stream(dir, name, &buffer);
    bry_index_destroy(index);
}

/* ---- logs ---------------------------------------------------------------------------------- */

static bry_status no_record(void *context, const void *payload, size_t len)
{
    (void)context;
    (void)payload;
    (void)len;
    return BRY_E_BADDATA;
}

/* An empty log, to append to. */
static void put_header(recording_io *fs)
{
    bry__header header = {BRY__FORMAT_REVISION, BRY__HASH_SCHEME, GOLDEN_LOG_KIND, 1, GOLDEN_SEED};
    unsigned char bytes[BRY__HEADER_BYTES];
    bry__header_encode(&header, bytes);
    recording_put(fs, "log", bytes, sizeof bytes);
}

static void make_log(const char *dir, const char *name, unsigned records, bool torn)
{
    static recording_io fs;
    recording_init(&fs);
    put_header(&fs);
    bry__log_options options = {.kind = GOLDEN_LOG_KIND, .kind_version = 1};
    bry__log log;
    must(bry__log_open(&log, &fs.io, "log", &options, no_record, NULL, NULL), name);
    unsigned char payload[GOLDEN_PAYLOAD_MAX];
    for (unsigned i = 0; i < records; i++) {
        size_t len = golden_payload(i + 1, payload);
        if (bry__log_append(&log, payload, len) != BRY_OK ||
            (i % 2 && bry__log_sync(&log) != BRY_OK))
            stop_at(name);
    }
    if (torn)
        bry__io_drop(&fs.io, log.fd);
    else
        must(bry__log_close(&log), name);
    const recorded_file *file = recording_get(&fs, "log");
    put_file(dir, name, file->bytes, file->len - (torn ? 5 : 0));
    recording_free(&fs);
}

/* The log of a table of counters: single operations, a batch of repeats only, and a deletion. */
static void make_counter_log(const char *dir, const char *name, unsigned operations)
{
    static recording_io fs;
    recording_init(&fs);
    bry_counters_options options = counter_options(BRY_ENGINE_COMPACT);
    bry_counters *counters;
    must(bry__counter_open(&fs.io, "t", &options, NULL, &counters), name);
    count(counters, operations, name);
    count(counters, operations, name);
    if (bry_counters_del(counters, "c0", 2, NULL) != BRY_OK ||
        bry_counters_advance(counters, GOLDEN_COUNTER_TIME + operations) != BRY_OK)
        stop_at(name);
    bry_counters_destroy(counters);
    const recorded_file *file = recording_get(&fs, "t/log");
    put_file(dir, name, file->bytes, file->len);
    recording_free(&fs);
}

int main(int argc, char **argv)
{
    if (argc != 2 && argc != 3) {
        fputs("usage: golden_write DIR [NAME]\n", stderr);
        return 2;
    }
    const char *dir = argv[1], *only = argc == 3 ? argv[2] : NULL;
#define MAKE(name, make, ...)                                                                      \
    if (!only || strcmp(only, name) == 0)                                                          \
    make(dir, name, __VA_ARGS__)
    MAKE("stream_empty.bry", make_stream, 0);
    MAKE("stream.bry", make_stream, GOLDEN_FRAMES);
    MAKE("filter_empty.bry", make_filter, BRY_ENGINE_BLOOM, 0, false);
    MAKE("filter.bry", make_filter, BRY_ENGINE_BLOOM, GOLDEN_FILTER_KEYS, false);
    MAKE("filter_compact.bry", make_filter, BRY_ENGINE_COMPACT, GOLDEN_FILTER_KEYS, false);
    MAKE("filter_note.bry", make_filter, BRY_ENGINE_COMPACT, GOLDEN_FILTER_KEYS, true);
    MAKE("maplet_empty.bry", make_maplet, 0, 0);
    MAKE("maplet.bry", make_maplet, GOLDEN_MAPLET_KEYS, GOLDEN_MAPLET_CROWD);
    MAKE("map_empty.bry", make_map, BRY_ENGINE_COMPACT, 0, 0);
    MAKE("map_compact.bry", make_map, BRY_ENGINE_COMPACT, 0, GOLDEN_MAP_KEYS);
    MAKE("map_numbers.bry", make_map, BRY_ENGINE_COMPACT, 5, GOLDEN_MAP_KEYS);
    MAKE("map_kbf.bry", make_map, BRY_ENGINE_KBF, 0, GOLDEN_MAP_KEYS);
    MAKE("window_empty.bry", make_window, BRY_ENGINE_COMPACT, 0);
    MAKE("window_compact.bry", make_window, BRY_ENGINE_COMPACT, GOLDEN_WINDOW_KEYS);
    MAKE("window_fbf.bry", make_window, BRY_ENGINE_FBF, GOLDEN_WINDOW_FBF_KEYS);
    MAKE("counter_empty.bry", make_counter, BRY_ENGINE_COMPACT, 0);
    MAKE("counter.bry", make_counter, BRY_ENGINE_COMPACT, GOLDEN_COUNTER_OPS);
    MAKE("counter_fbf.bry", make_counter, BRY_ENGINE_FBF, GOLDEN_COUNTER_OPS);
    MAKE("counter.log", make_counter_log, GOLDEN_COUNTER_OPS);
    MAKE("index_empty.bry", make_index, BRY_ENGINE_COMPACT, 0);
    MAKE("index_compact.bry", make_index, BRY_ENGINE_COMPACT, GOLDEN_INDEX_KEYS);
    MAKE("index_dba.bry", make_index, BRY_ENGINE_DBA, GOLDEN_INDEX_KEYS);
    MAKE("index_unit.bry", make_index_unit, BRY_ENGINE_COMPACT);
    MAKE("log_empty.log", make_log, 0, false);
    MAKE("log.log", make_log, GOLDEN_RECORDS, false);
    MAKE("log_torn.log", make_log, GOLDEN_RECORDS, true);
    return 0;
}
