#include "model/save/forged.h"

#include "support/failing_allocator.h"
#include "support/like.h"

#include <bloomery/index.h>
#include <bloomery/window.h>

#include <string.h>
#include <time.h>

enum {
    LOAD_LIMIT = 1 << 22, /* for a load */
    LOAD_SLACK = 1 << 18, /* temporary memory of a load (base.h) */
    USE_LIMIT = 1 << 26, /* allocations beyond it fail */
    HONEST = 1 << 21, /* any object may take this much */
    OPERATIONS = 8,
    SECONDS = 12, /* seconds of processor time per stream; normal is a thousandth of that */
};

FILE *forged_listener;
static forged_counts counted;

forged_counts forged_counted(void)
{
    return counted;
}

static model_reader reader_of(const uint8_t *bytes, size_t len, model_failure *failure)
{
    return (model_reader){
        .bytes = bytes, .len = len, .failure = failure, .listener = forged_listener};
}

/* ---- using it ---- */

/* The peak of memory. */
static uint64_t use(const saved_job *job, void *object, failing_allocator *memory,
                    model_reader *reader)
{
    static answer_notes notes;
    failing_allocator_restart(memory);
    for (int i = 0; i < OPERATIONS; i++) {
        notes.count = 0;
        job->calls->use(object, reader, &notes);
    }
    notes.count = 0;
    job->calls->look(object, &notes);
    counted.operations += OPERATIONS;
    return memory->peak;
}

static bool is_index(const saved_job *job)
{
    return job->job == BRY_JOB_INDEX;
}

static size_t units_of(const saved_job *job, const void *object)
{
    return is_index(job) ? bry_index_units(object, NULL, 0) : 0;
}

/* Error control by tighter filters replaces a given shape by a planned one, which may be far
 * larger. When that happens depends on the number of elements that the units claim to have, which
 * can be any number. */
static uint64_t planned_index_bytes(const bry_index *index)
{
    bry_index_options options = index_like(index);
    if (options.dba.unit_bits == 0 || options.dba.control != BRY_INDEX_TIGHTER)
        return 0;
    options.dba.unit_bits = 0;
    options.dba.hashes = 0;
    bry_index_shape shape = {0};
    return bry_index_plan(&options, &shape) == BRY_OK ? shape.bytes : 0;
}

/* Options allow filters of any size, and which parts of them exist depends on when elements are
 * added. */
static uint64_t planned_window_bytes(const bry_window *window)
{
    bry_window_options options = window_like(window);
    bry_window_shape shape = {0};
    bool given = options.fbf.bits && bry_window_plan(&options, &shape) == BRY_OK;
    return given ? shape.bytes : 0;
}

static uint64_t planned_bytes(const saved_job *job, const void *object)
{
    if (is_index(job))
        return planned_index_bytes(object);
    return job->job == BRY_JOB_WINDOW ? planned_window_bytes(object) : 0;
}

/* Error control by larger units raises their capacity, up to sixteen times, whenever all open units
 * are full. The current capacity is part of the state, so an honest index without elements cannot
 * be compared. */
static bool grows_units(const bry_index *index)
{
    return index_like(index).dba.control == BRY_INDEX_LARGER;
}

/* The memory of an honest object of these options for the same operations; 0 if there can be none.
 * An index begins with as many units as the forged one, because units take memory and their number
 * determines the shape of a new one. */
static uint64_t honest_peak(const saved_job *job, const void *object, size_t units,
                            const uint8_t *bytes, size_t len)
{
    failing_allocator memory;
    model_failure ignored;
    failing_allocator_init(&memory);
    memory.limit = USE_LIMIT;
    if (is_index(job) && grows_units(object))
        return 0;
    void *honest = job->calls->like(object, &memory.allocator);
    if (!honest)
        return 0;
    uint32_t number;
    for (size_t i = 0; i < units; i++)
        (void)bry_index_open(honest, 0, &number);
    FILE *listener = forged_listener;
    forged_listener = NULL;
    model_reader reader = reader_of(bytes, len, &ignored);
    uint64_t peak = use(job, honest, &memory, &reader);
    forged_listener = listener;
    bry_job_destroy(job->job, honest);
    return memory.over_limit ? 0 : peak;
}

/* The note of the stream that was loaded last. */
static bry_buffer note = BRY_BUFFER;

static bry_status save(const saved_job *job, const void *object, const bry_sink *sink)
{
    bry_save with = {sizeof with, note.bytes, note.len};
    return bry_job_save(job->job, object, sink, &with);
}

static bry_status load(const saved_job *job, const bry_buffer *stream, failing_allocator *memory,
                       uint64_t limit, bry_load *how, void **object)
{
    bry_view view = {stream->bytes, stream->len, 0};
    bry_source source = bry_view_source(&view);
    *how = (bry_load)BRY_LOAD;
    how->max_bytes = limit;
    how->allocator = &memory->allocator;
    how->note = &note;
    return bry_job_load(job->job, &source, how, object);
}

/* Saves and loads, and compares answers and bytes. */
static void keep(const saved_job *job, const void *object, failing_allocator *memory,
                 model_reader *reader)
{
    static answer_notes notes[2];
    bry_buffer first = BRY_BUFFER, second = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&first), again = bry_buffer_sink(&second);
    bry_load how;
    void *loaded = NULL;
    memory->over_limit = 0;
    model_expect(reader, save(job, object, &sink) == BRY_OK);
    bry_status status = load(job, &first, memory, 0, &how, &loaded);
    if (status == BRY_OK) {
        notes[0].count = notes[1].count = 0;
        job->calls->look(object, &notes[0]);
        job->calls->look(loaded, &notes[1]);
        compare_notes(&notes[0], &notes[1], reader);
        model_expect(reader, save(job, loaded, &again) == BRY_OK);
        if (first.len != second.len || memcmp(first.bytes, second.bytes, first.len) != 0)
            model_fail(reader, "what was loaded saves to other bytes");
        bry_job_destroy(job->job, loaded);
    } else if (status != BRY_E_NOMEM || !memory->over_limit) {
        model_fail(reader, "what was saved does not load: %s, %s", bry_status_word(status),
                   how.problem ? how.problem : "no problem told");
    }
    bry_buffer_free(&first);
    bry_buffer_free(&second);
}

static bool is_of_data(bry_status status)
{
    return status == BRY_E_BADDATA || status == BRY_E_VERSION || status == BRY_E_LIMIT;
}

static double processor_seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

static void expect_quick(model_reader *reader, double begin)
{
    double took = processor_seconds() - begin;
    if (took > SECONDS)
        model_fail(reader, "%.1f seconds of processor time", took);
}

bool forged_stream(const saved_job *job, const bry_buffer *stream, generator *operations,
                   model_failure *failure)
{
    uint8_t bytes[256];
    generator_fill(operations, bytes, sizeof bytes);
    model_reader reader = reader_of(bytes, sizeof bytes, failure);
    failing_allocator memory;
    failing_allocator_init(&memory);
    memory.limit = USE_LIMIT;
    double begin = processor_seconds();
    bry_load how;
    void *object = NULL;
    bry_status status = load(job, stream, &memory, LOAD_LIMIT, &how, &object);
    counted.streams++;
    if (memory.peak > LOAD_LIMIT + LOAD_SLACK)
        model_fail(&reader, "loading took %ju bytes", (uintmax_t)memory.peak);
    model_expect(&reader, note.len <= stream->len);
    if (status != BRY_OK) {
        model_expect(&reader, is_of_data(status) && how.problem && !object);
    } else {
        counted.loaded++;
        keep(job, object, &memory, &reader);
        size_t units = units_of(job, object);
        uint64_t peak = use(job, object, &memory, &reader);
        uint64_t planned = planned_bytes(job, object);
        uint64_t honest = honest_peak(job, object, units, bytes, sizeof bytes);
        counted.compared_memory += honest > 0;
        /* Loading claims the full size of fbf's filters: after a burst filters are large, and they
         * may contain few elements. */
        uint64_t claimed = job->engine == BRY_ENGINE_FBF ? LOAD_LIMIT : 0;
        if (honest && peak > 8 * (honest + planned + stream->len) + HONEST + claimed)
            model_fail(&reader, "took %ju bytes, an honest one %ju", (uintmax_t)peak,
                       (uintmax_t)honest);
        if (!reader.failed)
            keep(job, object, &memory, &reader);
        bry_job_destroy(job->job, object);
    }
    model_expect(&reader, memory.now == 0);
    expect_quick(&reader, begin);
    return !reader.failed;
}

/* ---- honest ones ---- */

static void *make(const saved_job *job, generator *numbers, failing_allocator *memory,
                  unsigned operations)
{
    static answer_notes notes;
    uint8_t bytes[256];
    model_failure failure;
    generator_fill(numbers, bytes, sizeof bytes);
    model_reader reader = {.bytes = bytes, .len = sizeof bytes, .failure = &failure};
    void *object = job->calls->create(&reader, &memory->allocator, job->engine);
    for (unsigned i = 0; object && i < operations; i++) {
        notes.count = 0;
        job->calls->use(object, &reader, &notes);
    }
    return object;
}

bool forged_honest(const saved_job *job, generator *numbers, bool unit, bry_buffer *out)
{
    failing_allocator memory;
    failing_allocator_init(&memory);
    memory.limit = LOAD_LIMIT;
    void *object = make(job, numbers, &memory, (unsigned)generator_below(numbers, 8));
    bry_sink sink = bry_buffer_sink(out);
    uint32_t number;
    bool good = object != NULL;
    unsigned char bytes[100];
    generator aside = *numbers;
    bry_save with = {sizeof with, bytes, (size_t)generator_below(&aside, 3 * sizeof bytes)};
    with.note_len = with.note_len < sizeof bytes ? with.note_len : 0;
    generator_fill(&aside, bytes, sizeof bytes);
    if (good && unit)
        good = is_index(job) && bry_index_units(object, &number, 1) > 0 &&
               bry_index_save_unit(object, number, &sink, &with) == BRY_OK;
    else if (good)
        good = bry_job_save(job->job, object, &sink, &with) == BRY_OK;
    bry_job_destroy(job->job, object);
    return good && out->len <= 1 << 18;
}

/* ---- units ---- */

static bry_buffer image(const saved_job *job, const void *object)
{
    bry_buffer buffer = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&buffer);
    (void)bry_job_save(job->job, object, &sink, NULL);
    return buffer;
}

/* A refused import leaves the index unchanged. */
static void import(const saved_job *job, bry_index *index, const bry_buffer *stream,
                   failing_allocator *memory, model_reader *reader)
{
    bry_buffer before = image(job, index);
    bry_view view = {stream->bytes, stream->len, 0};
    bry_source source = bry_view_source(&view);
    bry_load how = BRY_LOAD;
    how.max_bytes = LOAD_LIMIT;
    uint32_t number;
    bry_status status = bry_index_import_unit(index, &source, &how, &number);
    counted.streams++;
    counted.loaded += status == BRY_OK;
    if (status != BRY_OK) {
        bry_buffer after = image(job, index);
        model_expect(reader, is_of_data(status) || status == BRY_E_MISMATCH ||
                                 status == BRY_E_FULL || memory->over_limit);
        if (before.len != after.len || memcmp(before.bytes, after.bytes, before.len) != 0)
            model_fail(reader, "a refused unit (%s) changed the index", bry_status_word(status));
        bry_buffer_free(&after);
    }
    bry_buffer_free(&before);
}

bool forged_unit(const saved_job *job, const bry_buffer *stream, generator *operations,
                 model_failure *failure)
{
    uint8_t bytes[256];
    failing_allocator memory;
    failing_allocator_init(&memory);
    memory.limit = LOAD_LIMIT; /* a larger one takes long to save */
    /* The seed of the stream's generator gives an index of the same options. */
    generator same = *operations;
    void *index = make(job, &same, &memory, 2);
    memory.limit = USE_LIMIT;
    generator_fill(operations, bytes, sizeof bytes);
    model_reader reader = reader_of(bytes, sizeof bytes, failure);
    double begin = processor_seconds();
    if (index) {
        import(job, index, stream, &memory, &reader);
        if (!reader.failed)
            keep(job, index, &memory, &reader);
        use(job, index, &memory, &reader);
        if (!reader.failed)
            keep(job, index, &memory, &reader);
    }
    bry_job_destroy(job->job, index);
    model_expect(&reader, memory.now == 0);
    expect_quick(&reader, begin);
    return !reader.failed;
}
