/* Maps of both engines, as jobs (saved_job.h). */
#include "model/save/saved_job.h"
#include "support/like.h"

#include "map/map_object.h"

#include <bloomery/map.h>

#include <string.h>

static void *create(model_reader *reader, const bry_allocator *allocator, bry_engine engine)
{
    bool kbf = engine == BRY_ENGINE_KBF;
    bry_map_options options = BRY_MAP_OPTIONS;
    bry_map_shape shape = {0};
    options.engine = engine;
    options.fixed = read_chance(reader, 2);
    /* Large plans of kbf take long, and are mostly too large for a test. */
    bool small = kbf && !read_chance(reader, 16);
    options.capacity = read_scaled(reader, 1, (uint64_t)1 << (small ? 10 : 40));
    options.error = read_rate(reader, 1e-9, 0.5);
    if (read_chance(reader, 2))
        options.value_bits = 1 + model_below(reader, kbf ? 13 : 32);
    options.values = read_scaled(reader, 1, kbf ? 16383 : UINT32_MAX);
    options.seed = 1 + model_byte(reader);
    if (kbf) {
        options.kbf.layout = read_chance(reader, 2) ? BRY_MAP_PAPER : BRY_MAP_TUNED;
        if (read_chance(reader, 3)) {
            options.kbf.hashes = 1 + model_below(reader, 32);
            options.kbf.cells = options.kbf.hashes * read_scaled(reader, 1, (uint64_t)1 << 40);
        }
    }
    bry_status planned = bry_map_plan(&options, &shape);
    model_say(
        reader,
        "create %s%s, capacity %ju, error %g, value bits %u, values %ju, layout %d, cells %ju, "
        "hashes %u: %s",
        bry_engine_name(engine), options.fixed ? ", fixed" : "", (uintmax_t)options.capacity,
        options.error, options.value_bits, (uintmax_t)options.values, (int)options.kbf.layout,
        (uintmax_t)options.kbf.cells, options.kbf.hashes, bry_status_word(planned));
    if (planned == BRY_OK && !plan_fits(reader, shape.bytes, shape.bytes_empty))
        return NULL;
    if (planned == BRY_OK && !options.kbf.cells && options.kbf.layout == BRY_MAP_TUNED)
        model_expect(reader,
                     shape.errors.false_positive <= options.error &&
                         shape.errors.false_negative + shape.errors.incorrect <= options.error);
    options.allocator = allocator;
    bry_map *map = NULL;
    bry_status made = bry_map_create(&options, &map);
    return check_planned(reader, BRY_JOB_MAP, planned, shape.bytes_empty, made, map);
}

/* A value of either kind; sometimes an invalid one. */
static bry_map_value read_value(model_reader *reader, const bry_map *map)
{
    enum { STARTS = 16 }; /* values begin at one of these letters */
    static const char letters[STARTS + BRY_MAP_VALUE_MAX + 1] = "the value of a key, more or less";
    unsigned kind = model_byte(reader);
    uint32_t bits = map_like(map).value_bits;
    bry_map_value value = {letters + kind % STARTS, kind / 16, 0};
    value.number = kind % 32 == 31 ? UINT64_MAX : bits < 8 ? kind % (1u << bits) : kind;
    if (kind % 64 == 63)
        value.len = read_scaled(reader, 0, BRY_MAP_VALUE_MAX + 1);
    return value;
}

static void note_value(answer_notes *notes, const bry_map *map, bry_hash hash)
{
    bry_map_value value = {NULL, 0, 0};
    bry_answer answer = bry_map_get(map, hash, &value);
    note_number(notes, "get", answer);
    if (answer == BRY_PRESENT) {
        note_number(notes, "number", value.number);
        note_bytes(notes, "value", value.bytes, value.len);
    }
}

/* Merges a map of the same shape with a few keys. */
static void merge(bry_map *map, const bry_hash *hashes, const bry_map_value *values, size_t n,
                  bool same_codes, answer_notes *notes)
{
    bry_map *other = NULL;
    failing_allocator memory;
    bry_map_options options = map_like(map);
    options.allocator = bounded_memory(&memory);
    bry_status made =
        same_codes ? bry_map_create_like(map, NULL, &other) : bry_map_create(&options, &other);
    if (note_status(notes, "create like", made) != BRY_OK)
        return;
    note_status(notes, "insert into the other", bry_map_add_n(other, hashes, values, n));
    note_status(notes, "merge", bry_map_merge(map, other));
    bry_map_destroy(other);
}

static void one_key(bry_map *map, unsigned which, bry_hash hash, bry_map_value value,
                    answer_notes *notes)
{
    bry_answer was = BRY_UNSURE;
    switch (which) {
    case 0:
        note_status(notes, "set", bry_map_set(map, hash, value, &was));
        break;
    case 1:
        note_status(notes, "update", bry_map_update(map, hash, value, &was));
        break;
    case 2:
        note_status(notes, "insert", bry_map_add(map, hash, value));
        break;
    case 3:
        note_status(notes, "del", bry_map_del(map, hash, &was));
        break;
    default:
        note_status(notes, "remove", bry_map_del_pair(map, hash, value, &was));
    }
    note_number(notes, "was", was);
}

static void use(void *object, model_reader *reader, answer_notes *notes)
{
    bry_map *map = object;
    bry_hash hashes[MOST_BATCH];
    bry_map_value values[MOST_BATCH];
    uint8_t was[MOST_BATCH];
    unsigned kind = model_below(reader, 32);
    static const char *const names[] = {"set",   "update", "insert", "del",      "remove", "set_n",
                                        "add_n", "del_n",  "merge",  "compress", "clear"};
    static const uint8_t whiches[32] = {0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 3, 4, 4, 5, 5, 5,
                                        5, 5, 5, 6, 6, 7, 7, 7, 8, 8, 8, 9, 9, 9, 3, 10};
    unsigned which = whiches[kind];
    model_say(reader, "%s", names[which]);
    size_t n = read_batch(reader, hashes);
    bry_map_value base = read_value(reader, map);
    for (size_t i = 0; i < n; i++) {
        values[i] = base;
        if (base.len > 0 && base.len < 16)
            values[i].len = 1 + (base.len + i) % 15;
        if (base.number > 0 && base.number < 256)
            values[i].number = (base.number + i) % (base.number + 1);
    }
    if (which < 5)
        for (size_t i = 0; i < n; i++)
            one_key(map, which, hashes[i], values[i], notes);
    else if (which == 5)
        note_status(notes, "set_n", bry_map_set_n(map, hashes, values, n, was));
    else if (which == 6)
        note_status(notes, "add_n", bry_map_add_n(map, hashes, values, n));
    else if (which == 7)
        note_status(notes, "del_n", bry_map_del_n(map, hashes, n, was));
    else if (which == 8)
        merge(map, hashes, values, n, read_chance(reader, 2), notes);
    else if (which == 9)
        note_status(notes, "compress", bry_map_compress(map, model_below(reader, 4) / 4.0));
    else if (read_chance(reader, 4))
        bry_map_clear(map);
}

static void look(const void *object, answer_notes *notes)
{
    bry_map_stats stats = {0};
    bry_map_get_stats(object, &stats);
    note_number(notes, "engine", stats.engine);
    note_number(notes, "seed", stats.seed);
    note_number(notes, "capacity", stats.capacity);
    note_number(notes, "items", stats.items);
    note_number(notes, "tables", stats.tables);
    note_real(notes, "load", stats.load);
    note_number(notes, "values", stats.values);
    note_number(notes, "values_left", stats.values_left);
    note_real(notes, "planned", stats.planned.false_positive);
    note_real(notes, "planned", stats.planned.false_negative);
    note_real(notes, "planned", stats.planned.incorrect);
    note_real(notes, "estimated", stats.estimated.false_positive);
    note_real(notes, "estimated", stats.estimated.false_negative);
    note_real(notes, "estimated", stats.estimated.incorrect);
    note_number(notes, "refused_unsure", stats.kbf.refused_unsure);
    note_number(notes, "refused_full", stats.refused_full);
    for (int i = 0; i < 8; i++)
        note_number(notes, "cells", stats.kbf.cells[i]);
    for (unsigned i = 0; i < 128; i++)
        note_value(notes, object, key_number(i));
}

SAVED_LIKE(bry_map, object->options)

const saved_calls saved_maps = {create, use, look, like, NULL};
