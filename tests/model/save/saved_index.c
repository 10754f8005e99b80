/* Indexes of both engines, as jobs (saved_job.h). */
#include "model/save/saved_job.h"

#include "index/index_object.h"
#include "index/index_save.h"
#include "support/like.h"
#include "support/recording_io.h"

#include <bloomery/index.h>

#include <stdlib.h>

enum { MOST_UNITS = 80 };

static void read_dba(model_reader *reader, bry_index_options *options)
{
    static const uint32_t groups[] = {0, 1, 8, 16, 32, 64, 128, 256, 512};
    options->dba.group = groups[model_below(reader, 9)];
    options->dba.segmented = read_chance(reader, 2);
    options->dba.control = (bry_index_control)model_below(reader, 3);
    options->dba.factor = read_chance(reader, 2) ? 2 + model_below(reader, 15) : 0;
    if (read_chance(reader, 3)) {
        options->dba.hashes = 1 + model_below(reader, 64);
        options->dba.unit_bits = read_scaled(reader, 1, (uint64_t)1 << 48);
        if (options->dba.segmented && read_chance(reader, 2))
            options->dba.unit_bits -= options->dba.unit_bits % options->dba.hashes;
    }
}

static void *create(model_reader *reader, const bry_allocator *allocator, bry_engine engine)
{
    bry_index_options options = BRY_INDEX_OPTIONS;
    bry_index_shape shape = {0};
    options.engine = engine;
    options.fixed = read_chance(reader, 3);
    options.units = (uint32_t)read_scaled(reader, 1, 1 << 20);
    options.unit_capacity = read_scaled(reader, 1, (uint64_t)1 << 40);
    options.error = read_rate(reader, 1e-9, 0.5);
    double stale = read_rate(reader, 1e-6, 1);
    options.seed = 1 + model_byte(reader);
    if (engine == BRY_ENGINE_DBA) {
        options.dba.stale = stale;
        read_dba(reader, &options);
    }
    bry_status planned = bry_index_plan(&options, &shape);
    model_say(
        reader,
        "create %s%s, units %u of %ju, error %g, stale %g, group %u%s, control %d, factor %u, "
        "unit bits %ju, hashes %u: %s",
        bry_engine_name(engine), options.fixed ? ", fixed" : "", options.units,
        (uintmax_t)options.unit_capacity, options.error, options.dba.stale, options.dba.group,
        options.dba.segmented ? ", segmented" : "", (int)options.dba.control, options.dba.factor,
        (uintmax_t)options.dba.unit_bits, options.dba.hashes, bry_status_word(planned));
    if (planned == BRY_OK &&
        !plan_fits(reader, shape.bytes / options.units * (options.units < 32 ? options.units : 32),
                   shape.bytes_empty))
        return NULL;
    options.allocator = allocator;
    bry_index *index = NULL;
    bry_status made = bry_index_create(&options, &index);
    return check_planned(reader, BRY_JOB_INDEX, planned, shape.bytes_empty, made, index);
}

/* Usually a unit that exists; or the newest. */
static uint32_t read_unit(model_reader *reader, const bry_index *index)
{
    uint32_t units[MOST_UNITS];
    size_t count = bry_index_units(index, units, MOST_UNITS);
    unsigned kind = model_byte(reader);
    uint32_t unit = count && kind % 16 != 15 ? units[kind / 16 % (count < 16 ? count : 16)] : kind;
    model_say(reader, "  unit %u", unit);
    return unit;
}

typedef struct supplied {
    unsigned first, count;
} supplied;

/* Elements that may never have been added, which is allowed but causes false positives. */
static bry_status supply(void *opaque, uint32_t unit, uint64_t tag, uint64_t from, bry_hash *hashes,
                         size_t room, size_t *got)
{
    const supplied *these = opaque;
    (void)tag;
    *got = 0;
    for (uint64_t i = from; i < these->count && *got < room; i++)
        hashes[(*got)++] = key_number(these->first + unit + i);
    return BRY_OK;
}

/*
 * dba saves neither how its units are grouped, which determines what is rebuilt first, nor a
 * rebuild in progress. So two of them differ after a step with a supplier, and permanently if the
 * work is not finished.
 */
static void step(bry_index *index, model_reader *reader, answer_notes *notes)
{
    bool dba = index_like(index).engine == BRY_ENGINE_DBA;
    supplied these = {model_pair(reader) % 512, model_byte(reader)};
    bry_index_supplier supplier = {supply, &these};
    const bry_index_supplier *given = read_chance(reader, 4) ? NULL : &supplier;
    uint64_t left = 1, budget = read_scaled(reader, 1, 1 << 20);
    bool to_the_end = !read_chance(reader, 8);
    model_say(reader, "  of %ju%s, %s, %u supplied from %u", (uintmax_t)budget,
              to_the_end ? ", to the end" : "", given ? "supplier" : "no supplier", these.count,
              these.first);
    bry_status status = BRY_OK;
    for (int i = 0; status == BRY_OK && left && i < (to_the_end ? 5000 : 1); i++)
        status = bry_index_step(index, given, budget, &left);
    note_status(notes, "step", status);
    notes->parted |= dba && given;
    notes->parted_for_good |= dba && left > 0;
    if (!dba && to_the_end) /* otherwise it depends on how much memory was reclaimed */
        note_number(notes, "left", left);
}

/* Saves a unit and imports it in the same index. */
static void ship(bry_index *index, uint32_t unit, answer_notes *notes)
{
    bry_buffer buffer = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&buffer);
    uint32_t number = 77;
    if (note_status(notes, "save_unit", bry_index_save_unit(index, unit, &sink, NULL)) == BRY_OK) {
        bry_view view = {buffer.bytes, buffer.len, 0};
        bry_source source = bry_view_source(&view);
        note_status(notes, "import_unit", bry_index_import_unit(index, &source, NULL, &number));
        note_number(notes, "unit", number);
    }
    bry_buffer_free(&buffer);
}

enum { OPEN, OPEN_MANY, ADD, ADD_N, DEL, SEAL, DROP, MERGE, STEP, SHIP, TAG, UNOPEN, CLEAR };

static const char *const names[] = {"open",    "open many", "add",   "add_n", "del",
                                    "seal",    "drop",      "merge", "step",  "ship",
                                    "set_tag", "unopen",    "clear"};

static void use_units(bry_index *index, unsigned which, model_reader *reader, answer_notes *notes)
{
    uint32_t unit = 77;
    if (which <= OPEN_MANY) {
        unsigned count = which == OPEN ? 1 : model_below(reader, 32);
        for (unsigned i = 0; i < count && bry_index_units(index, NULL, 0) < MOST_UNITS; i++) {
            note_status(notes, "open", bry_index_open(index, i, &unit));
            note_number(notes, "unit", unit);
        }
        return;
    }
    unit = read_unit(reader, index);
    if (which == SEAL)
        note_status(notes, "seal", bry_index_seal(index, unit));
    else if (which == DROP)
        note_status(notes, "drop", bry_index_drop(index, unit));
    else if (which == MERGE)
        note_status(notes, "merge", bry_index_merge_units(index, unit, read_unit(reader, index)));
    else if (which == TAG)
        note_status(notes, "set_tag", bry_index_set_tag(index, unit, model_byte(reader)));
    else if (which == UNOPEN)
        note_status(notes, "unopen", bry_index_undo_open(index, unit));
    else if (which == SHIP && bry_index_units(index, NULL, 0) < MOST_UNITS)
        ship(index, unit, notes);
}

static void use_elements(bry_index *index, unsigned which, model_reader *reader,
                         answer_notes *notes)
{
    bry_hash hashes[MOST_BATCH];
    uint32_t went[MOST_BATCH], unit = read_unit(reader, index);
    if (which != DEL && read_chance(reader, 4))
        unit = BRY_INDEX_NEWEST;
    size_t n = read_batch(reader, hashes);
    if (which == ADD_N) {
        if (note_status(notes, "add_n", bry_index_add_n(index, hashes, n, unit, went, NULL)) ==
            BRY_OK)
            note_bytes(notes, "add_n went", went, n * sizeof went[0]);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        bry_answer was = BRY_UNSURE;
        uint32_t to = 77;
        note_status(notes, names[which],
                    which == DEL ? bry_index_del(index, hashes[i], unit, &was)
                                 : bry_index_add(index, hashes[i], unit, &to, &was));
        note_number(notes, "was", was);
        note_number(notes, "went", to);
    }
}

static void use(void *object, model_reader *reader, answer_notes *notes)
{
    static const uint8_t whiches[32] = {
        OPEN,  OPEN,  OPEN_MANY, OPEN_MANY, ADD,   ADD,  ADD,  ADD, ADD,    ADD_N, ADD_N,
        ADD_N, ADD_N, ADD_N,     ADD_N,     ADD_N, DEL,  DEL,  DEL, SEAL,   DROP,  DROP,
        DROP,  MERGE, STEP,      STEP,      STEP,  STEP, SHIP, TAG, UNOPEN, CLEAR};
    unsigned which = whiches[model_below(reader, 32)];
    model_say(reader, "%s", names[which]);
    if (which == STEP)
        step(object, reader, notes);
    else if (which == ADD || which == ADD_N || which == DEL)
        use_elements(object, which, reader, notes);
    else if (which == CLEAR && read_chance(reader, 4))
        bry_index_clear(object);
    else if (which != CLEAR)
        use_units(object, which, reader, notes);
}

static void look(const void *object, answer_notes *notes)
{
    bry_index_stats stats = {0};
    bry_index_get_stats(object, &stats);
    note_number(notes, "engine", stats.engine);
    note_number(notes, "seed", stats.seed);
    note_number(notes, "units", stats.units);
    note_number(notes, "promised_units", stats.promised_units);
    note_number(notes, "unit_capacity", stats.unit_capacity);
    note_number(notes, "elements", stats.elements);
    note_number(notes, "stale", stats.dba.stale);
    note_real(notes, "fill", stats.fill);
    note_real(notes, "promised_error", stats.promised_error);
    note_real(notes, "estimated_error", stats.estimated_error);
    note_real(notes, "full_error", stats.full_error);
    note_number(notes, "rebuilds", stats.dba.rebuilds);
    uint32_t units[MOST_UNITS];
    size_t count = bry_index_units(object, units, MOST_UNITS);
    note_bytes(notes, "units", units, (count < MOST_UNITS ? count : MOST_UNITS) * sizeof units[0]);
    for (size_t i = 0; i < count && i < MOST_UNITS; i++) {
        bry_index_unit_info info = {0};
        note_status(notes, "get_unit", bry_index_get_unit_info(object, units[i], &info));
        /* Not wants_refresh: with dba it also depends on work in progress, which is not saved. */
        note_number(notes, "sealed", info.sealed);
        note_number(notes, "tag", info.tag);
        note_number(notes, "capacity of a unit", info.capacity);
        note_number(notes, "elements of a unit", info.elements);
        note_number(notes, "stale of a unit", info.dba.stale);
        note_real(notes, "error of a unit", info.error);
    }
    for (unsigned i = 0; i < 64; i++) {
        count = bry_index_locate(object, key_number(i), units, MOST_UNITS);
        note_bytes(notes, "locate", units,
                   (count < MOST_UNITS ? count : MOST_UNITS) * sizeof units[0]);
    }
}

SAVED_LIKE(bry_index, bry__index_kept_options(&object->options))

/* Saves to a directory and loads it; the file system in memory has a limited number of files. */
static bry_status by_dir(const void *object, bry_load *how, void **loaded)
{
    if (bry_index_units(object, NULL, 0) > RECORDED_FILES / 2 - 8)
        return BRY_E_UNSUPPORTED;
    static recording_io disk;
    recording_init(&disk);
    bry_index *index = NULL;
    bry_status status = bry__index_save_dir(&disk.io, object, "f", NULL);
    if (status == BRY_OK)
        status = bry__index_load_dir(&disk.io, "f", how, &index);
    *loaded = index;
    recording_free(&disk);
    return status;
}

const saved_calls saved_indexes = {create, use, look, like, by_dir};
