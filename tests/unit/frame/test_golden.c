/*
 * The golden files: each still reads correctly, and every truncation and a flipped bit in any byte
 * is detected. A new kind adds a line to `goldens` and a function that reads it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counter/counter_object.h"
#include "frame/frame.h"
#include "frame/log.h"
#include "golden/golden_content.h"
#include "maplet/maplet.h"
#include "support/cmocka_all.h"
#include "support/job_calls.h"
#include "support/like.h"
#include "support/recording_io.h"

typedef struct golden_file {
    const char *name;
    /* Reads and checks everything; asserts if wrong bytes were accepted. */
    bry_status (*read)(const struct golden_file *golden, const unsigned char *bytes, size_t len,
                       bry_load *load);
    unsigned count; /* of frames, records, keys */
    bry_job job; /* for read_object */
    size_t opens; /* a log that is cut here, or later, has fewer records; 0: not a log */
    size_t sealed; /* of a log: from here on, no record was synced */
} golden_file;

static unsigned char *read_golden(const char *name, size_t *len)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", GOLDEN_DIR, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    unsigned char *bytes = malloc(1 << 20);
    assert_non_null(bytes);
    *len = fread(bytes, 1, 1 << 20, file);
    assert_true(*len > 0 && *len < 1 << 20);
    fclose(file);
    return bytes;
}

static bry_status read_stream(const golden_file *golden, const unsigned char *bytes, size_t len,
                              bry_load *load)
{
    bry_view view = {bytes, len, 0};
    bry_source source = bry_view_source(&view);
    bry__frame_reader reader;
    bry__frame_reader_open(&reader, &source, load, GOLDEN_KIND, 1);
    for (unsigned i = 0; i < golden->count; i++) {
        unsigned char want[GOLDEN_PAYLOAD_MAX], got[GOLDEN_PAYLOAD_MAX];
        size_t length = golden_payload(i, want);
        if (bry__frame_reader_read_frame(&reader, golden_type(i), got, length) == BRY_OK)
            assert_memory_equal(got, want, length);
    }
    bry__frame_reader_end(&reader);
    bry__frame_reader_close(&reader);
    if (reader.status == BRY_OK) {
        assert_int_equal(reader.header.seed, GOLDEN_SEED);
        assert_int_equal(view.at, len);
    }
    return reader.status;
}

static void check_filter(const void *filter, unsigned count)
{
    bry_filter_stats stats = {0};
    bry_filter_get_stats(filter, &stats);
    assert_int_equal(stats.seed, GOLDEN_SEED);
    assert_int_equal(stats.capacity, GOLDEN_FILTER_CAPACITY);
    assert_int_equal(stats.items, count);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(bry_filter_has(filter, golden_key(i)), BRY_PRESENT);
}

static bry_status read_maplet(const golden_file *golden, const unsigned char *bytes, size_t len,
                              bry_load *load)
{
    bry_view view = {bytes, len, 0};
    bry_source source = bry_view_source(&view);
    bry__maplet maplet;
    bry_status status = bry__maplet_load(&maplet, &source, load);
    if (status != BRY_OK)
        return status;
    unsigned crowd = golden->count ? GOLDEN_MAPLET_CROWD : 0;
    assert_int_equal(bry__maplet_count(&maplet), golden->count + crowd);
    assert_int_equal(maplet.tables, golden->count ? 2 : 0);
    uint32_t values[GOLDEN_MAPLET_CROWD + 1];
    for (uint32_t i = 0; i < golden->count; i++) {
        uint64_t expected = i ? 1 : GOLDEN_MAPLET_CROWD + 1;
        assert_int_equal(bry__maplet_get_all(&maplet, golden_key(i), values, expected), expected);
        for (uint32_t j = 0; j < expected; j++)
            assert_int_equal(values[j], i ? i % 128 : j);
    }
    bry__maplet_free(&maplet);
    return BRY_OK;
}

static void check_map(const void *map, unsigned count)
{
    bry_map_stats stats = {0};
    bry_map_get_stats(map, &stats);
    assert_int_equal(stats.seed, GOLDEN_SEED);
    assert_int_equal(stats.capacity, GOLDEN_MAP_CAPACITY);
    assert_int_equal(stats.items, count);
    assert_int_equal(stats.tables, count ? 2 : 1);
    bool numbers = map_like(map).value_bits == 5;
    for (uint32_t i = 0; i < count; i++) {
        char wanted[2];
        golden_map_value(i, wanted);
        bry_map_value value;
        assert_int_equal(bry_map_get(map, golden_key(i), &value), BRY_PRESENT);
        assert_int_equal(value.len, numbers ? 0 : sizeof wanted);
        assert_int_equal(value.number, numbers ? i % GOLDEN_MAP_VALUES : 0);
        if (!numbers)
            assert_memory_equal(value.bytes, wanted, sizeof wanted);
    }
}

static void check_window(const void *window, unsigned count)
{
    bry_window_stats stats = {0};
    bry_window_get_stats(window, &stats);
    uint32_t last = count ? count - 1 : 0;
    assert_int_equal(stats.seed, GOLDEN_SEED);
    assert_int_equal(stats.window, GOLDEN_WINDOW_WINDOW);
    assert_int_equal(stats.time, count ? GOLDEN_WINDOW_TIME + last * GOLDEN_WINDOW_STEP : 0);
    uint32_t promised = GOLDEN_WINDOW_WINDOW / GOLDEN_WINDOW_STEP;
    for (uint32_t i = 0; i < count; i++) {
        bry_answer answer = bry_window_has(window, golden_key(i), 0);
        if (i + promised >= last)
            assert_int_equal(answer, BRY_PRESENT);
        else if (i + 2 * promised < last)
            assert_int_equal(answer, BRY_ABSENT);
    }
}

static void check_counter(const void *counters, unsigned count)
{
    bry_counters_stats stats = {0};
    bry_counters_get_stats(counters, &stats);
    assert_int_equal(stats.seed, GOLDEN_SEED);
    assert_int_equal(stats.window, GOLDEN_COUNTER_WINDOW);
    assert_int_equal(stats.applied, count);
    assert_int_equal(stats.ids, count);
    for (uint32_t i = 0; i < count; i++) {
        char name[2];
        int64_t value;
        golden_counter_name(i, name);
        assert_int_equal(bry_counters_has(counters, golden_key(i), 0), BRY_PRESENT);
        assert_int_equal(bry_counters_get(counters, name, sizeof name, &value), BRY_PRESENT);
        assert_int_equal(value, golden_counter_value(i % GOLDEN_COUNTER_NAMES, count));
    }
}

static void check_index(const void *index, unsigned count)
{
    bry_index_stats stats = {0};
    bry_index_get_stats(index, &stats);
    assert_int_equal(stats.seed, GOLDEN_SEED);
    assert_int_equal(stats.unit_capacity, GOLDEN_INDEX_CAPACITY);
    assert_int_equal(stats.units, count ? GOLDEN_INDEX_UNITS - 1 : 0);
    for (uint32_t i = 1; i < count; i++) {
        uint32_t unit = 99;
        assert_int_equal(bry_index_locate(index, golden_key(i), &unit, 1), i / 7 != 1);
        assert_int_equal(unit, i / 7 == 1 ? 99 : i / 7);
    }
    assert_int_equal(bry_index_locate(index, golden_key(0), NULL, 0), stats.units);
}

static void (*const checks[])(const void *object, unsigned count) = {
    [BRY_JOB_FILTER] = check_filter, [BRY_JOB_MAP] = check_map,
    [BRY_JOB_WINDOW] = check_window, [BRY_JOB_COUNTERS] = check_counter,
    [BRY_JOB_INDEX] = check_index,
};

static bry_status read_object(const golden_file *golden, const unsigned char *bytes, size_t len,
                              bry_load *load)
{
    void *object;
    bry_status status = job_load_bytes(golden->job, bytes, len, load, &object);
    if (status == BRY_OK)
        checks[golden->job](object, golden->count);
    bry_job_destroy(golden->job, object);
    return status;
}

static bry_status read_with_note(const golden_file *golden, const unsigned char *bytes, size_t len,
                                 bry_load *load)
{
    unsigned char want[GOLDEN_PAYLOAD_MAX];
    bry_buffer note = BRY_BUFFER;
    load->note = &note;
    bry_status status = read_object(golden, bytes, len, load);
    /* If the stream is damaged, a note has only verified bytes. */
    if (status == BRY_OK || note.len > 0) {
        assert_int_equal(note.len, golden_payload(GOLDEN_NOTE, want));
        assert_memory_equal(note.bytes, want, note.len);
    }
    bry_buffer_free(&note);
    return status;
}

/* A unit, imported in an index with the same options. */
static bry_status read_index_unit(const golden_file *golden, const unsigned char *bytes, size_t len,
                                  bry_load *load)
{
    bry_view view = {bytes, len, 0};
    bry_source source = bry_view_source(&view);
    bry_index_options options = BRY_INDEX_OPTIONS;
    options.units = 6;
    options.unit_capacity = GOLDEN_INDEX_CAPACITY;
    options.error = 1e-6;
    options.seed = GOLDEN_SEED;
    bry_index *index;
    uint32_t unit;
    assert_int_equal(bry_index_create(&options, &index), BRY_OK);
    bry_status status = bry_index_import_unit(index, &source, load, &unit);
    if (status == BRY_OK) {
        bry_index_unit_info info = {0};
        assert_int_equal(bry_index_get_unit_info(index, unit, &info), BRY_OK);
        assert_int_equal(info.tag, 100 + GOLDEN_INDEX_UNITS - 1);
        assert_int_equal(info.elements, golden->count);
        for (uint32_t i = GOLDEN_INDEX_KEYS - 7; i < GOLDEN_INDEX_KEYS; i++)
            assert_int_equal(bry_index_has(index, golden_key(i)), BRY_PRESENT);
        assert_int_equal(bry_index_has(index, golden_key(0)), BRY_PRESENT);
    }
    bry_index_destroy(index);
    return status;
}

static unsigned records_seen;

static bry_status check_record(void *context, const void *payload, size_t len)
{
    (void)context;
    unsigned char want[GOLDEN_PAYLOAD_MAX];
    assert_true(records_seen < GOLDEN_RECORDS);
    assert_int_equal(len, golden_payload(records_seen + 1, want));
    assert_memory_equal(payload, want, len);
    records_seen++;
    return BRY_OK;
}

static bry_status read_log(const golden_file *golden, const unsigned char *bytes, size_t len,
                           bry_load *load)
{
    (void)golden;
    static recording_io fs;
    recording_init(&fs);
    recording_put(&fs, "log", bytes, len);
    bry__log_options options = {.kind = GOLDEN_LOG_KIND, .kind_version = 1};
    bry__log log;
    records_seen = 0;
    bry_status status = bry__log_open(&log, &fs.io, "log", &options, check_record, NULL, load);
    if (status == BRY_OK) {
        assert_int_equal(log.header.seed, GOLDEN_SEED);
        bry__log_close(&log);
    }
    recording_free(&fs);
    return status;
}

/* The log of a table of counters. At last the first counter was deleted, and the time moved. */
static bry_status read_counter_log(const golden_file *golden, const unsigned char *bytes,
                                   size_t len, bry_load *load)
{
    static recording_io fs;
    recording_init(&fs);
    recording_put(&fs, "t/log", bytes, len);
    bry_counters *counters = NULL;
    bry_status status = bry__counter_open(&fs.io, "t", NULL, load, &counters);
    if (status == BRY_OK) {
        bry_counters_stats stats = {0};
        bry_counters_get_stats(counters, &stats);
        records_seen = (unsigned)stats.applied;
        assert_int_equal(stats.seed, GOLDEN_SEED);
        assert_int_equal(stats.window, GOLDEN_COUNTER_WINDOW);
        for (uint32_t i = 0; i < GOLDEN_COUNTER_OPS && stats.applied == golden->count; i++)
            assert_int_equal(bry_counters_has(counters, golden_key(i), 0), BRY_PRESENT);
        bool whole = bry_counters_time(counters) == GOLDEN_COUNTER_TIME + GOLDEN_COUNTER_OPS;
        for (uint32_t i = 0; i < GOLDEN_COUNTER_NAMES && whole; i++) {
            char name[2];
            int64_t value = 0;
            golden_counter_name(i, name);
            assert_int_equal(bry_counters_get(counters, name, sizeof name, &value),
                             i ? BRY_PRESENT : BRY_ABSENT);
            assert_int_equal(value, i ? golden_counter_value(i, GOLDEN_COUNTER_OPS) : 0);
        }
    }
    bry_counters_destroy(counters);
    recording_free(&fs);
    return status;
}

/* The records take 32, 32, 40, 48, 160 and 272 bytes. log.log ends with its seal, which no record
 * confirms; in log_torn.log the last record is torn, and the one before it confirms the first
 * four. */
static const golden_file goldens[] = {
    {"stream_empty.bry", read_stream, 0, 0, 0, 0},
    {"stream.bry", read_stream, GOLDEN_FRAMES, 0, 0, 0},
    {"filter_empty.bry", read_object, 0, BRY_JOB_FILTER, 0, 0},
    {"filter.bry", read_object, GOLDEN_FILTER_KEYS, BRY_JOB_FILTER, 0, 0},
    {"filter_compact.bry", read_object, GOLDEN_FILTER_KEYS, BRY_JOB_FILTER, 0, 0},
    {"filter_note.bry", read_with_note, GOLDEN_FILTER_KEYS, BRY_JOB_FILTER, 0, 0},
    {"maplet_empty.bry", read_maplet, 0, 0, 0, 0},
    {"maplet.bry", read_maplet, GOLDEN_MAPLET_KEYS, 0, 0, 0},
    {"map_empty.bry", read_object, 0, BRY_JOB_MAP, 0, 0},
    {"map_compact.bry", read_object, GOLDEN_MAP_KEYS, BRY_JOB_MAP, 0, 0},
    {"map_numbers.bry", read_object, GOLDEN_MAP_KEYS, BRY_JOB_MAP, 0, 0},
    {"map_kbf.bry", read_object, GOLDEN_MAP_KEYS, BRY_JOB_MAP, 0, 0},
    {"window_empty.bry", read_object, 0, BRY_JOB_WINDOW, 0, 0},
    {"window_compact.bry", read_object, GOLDEN_WINDOW_KEYS, BRY_JOB_WINDOW, 0, 0},
    {"window_fbf.bry", read_object, GOLDEN_WINDOW_FBF_KEYS, BRY_JOB_WINDOW, 0, 0},
    {"counter_empty.bry", read_object, 0, BRY_JOB_COUNTERS, 0, 0},
    {"counter.bry", read_object, GOLDEN_COUNTER_OPS, BRY_JOB_COUNTERS, 0, 0},
    {"counter_fbf.bry", read_object, GOLDEN_COUNTER_OPS, BRY_JOB_COUNTERS, 0, 0},
    {"counter.log", read_counter_log, GOLDEN_COUNTER_OPS, 0, 64 + 104, 3472},
    {"index_empty.bry", read_object, 0, BRY_JOB_INDEX, 0, 0},
    {"index_compact.bry", read_object, GOLDEN_INDEX_KEYS, BRY_JOB_INDEX, 0, 0},
    {"index_dba.bry", read_object, GOLDEN_INDEX_KEYS, BRY_JOB_INDEX, 0, 0},
    {"index_unit.bry", read_index_unit, 8, 0, 0, 0},
    {"log_empty.log", read_log, 0, 0, 64, 64},
    {"log.log", read_log, GOLDEN_RECORDS, 0, 64, 64 + 584},
    {"log_torn.log", read_log, GOLDEN_RECORDS - 1, 0, 64, 64 + 152},
};
enum { GOLDENS = sizeof goldens / sizeof goldens[0] };

TEST(still_read)
{
    for (int i = 0; i < GOLDENS; i++) {
        size_t len;
        unsigned char *bytes = read_golden(goldens[i].name, &len);
        bry_load load = BRY_LOAD;
        assert_int_equal(goldens[i].read(&goldens[i], bytes, len, &load), BRY_OK);
        if (goldens[i].opens)
            assert_int_equal(records_seen, goldens[i].count);
        free(bytes);
    }
}

/* A truncated log opens with fewer records; a truncated stream is refused. */
TEST(truncations)
{
    for (int i = 0; i < GOLDENS; i++) {
        const golden_file *golden = &goldens[i];
        size_t len;
        unsigned char *bytes = read_golden(golden->name, &len);
        unsigned most = 0; /* of its records */
        for (size_t cut = 0; cut < len; cut++) {
            bry_load load = BRY_LOAD;
            bool torn = golden->opens && cut >= golden->opens;
            bry_status status = golden->read(golden, bytes, cut, &load);
            assert_int_equal(status, torn ? BRY_OK : BRY_E_BADDATA);
            if (status != BRY_OK)
                assert_non_null(load.problem);
            assert_true(!torn || records_seen >= most);
            most = torn ? records_seen : 0;
        }
        free(bytes);
    }
}

TEST(bit_flips)
{
    const size_t step = 7; /* at least one bit of each byte */
    for (int i = 0; i < GOLDENS; i++) {
        const golden_file *golden = &goldens[i];
        size_t len;
        unsigned char *bytes = read_golden(golden->name, &len);
        for (size_t bit = 0; bit < len * 8; bit += step) {
            bry_load load = BRY_LOAD;
            bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
            bool torn = golden->sealed && bit / 8 >= golden->sealed;
            bry_status status = golden->read(golden, bytes, len, &load);
            assert_int_equal(status, torn ? BRY_OK : BRY_E_BADDATA);
            if (status != BRY_OK)
                assert_non_null(load.problem);
            bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        }
        free(bytes);
    }
}
