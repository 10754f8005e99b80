/*
 * The maplet compared with an exact twin of fingerprints. Sometimes a copy of the maplet gets the
 * same operations with another instruction set; its saved form must be identical.
 */
#include "kernel/kernel.h"
#include "maplet/table_arena.h"
#include "model/maplet/maplet_side.h"
#include "model/model_steps.h"
#include "support/failing_allocator.h"
#include "support/maplet_twins.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_BATCH = 255, LARGEST_MERGED = 20000 };

typedef enum key_kind {
    KEYS_UNIFORM,
    KEYS_ALIGNED, /* low bits of half the fingerprints are equal, so that they share a segment */
    KEYS_DENSE, /* neighbouring fingerprints */
    KEY_KINDS
} key_kind;

/* Two maplets of the same shape, which can be merged. Operations are on the first one. */
typedef struct pair {
    failing_allocator memory;
    bry__isa isa_before, isa;
    key_kind keys;
    unsigned most_keys; /* fewer keys are repeated more often */
    maplet_side side[2];
    unsigned area; /* bytes of the areas of all tables; 0: large tables have areas */
    bry_hash hashes[MAX_BATCH];
    uint32_t values[MAX_BATCH];
} pair;

/* Single calls, items of batches, and operations on whole maplets. */
static uint64_t operations_done;

static void count_operations(pair *both, uint64_t n)
{
    operations_done += n;
    both->side[0].unchecked += n;
}

static void *create(model_reader *reader)
{
    static const uint64_t capacities[] = {1, 3, 20, 300, 2000, 5000, 40000, 700};
    static const double errors[] = {0.5, 0.1, 0.01, 1e-3, 1e-4, 1e-6, 1e-9, 1e-12};
    static const unsigned widths[] = {0, 1, 3, 8, 12, 16, 31, 32};
    pair *both = calloc(1, sizeof *both);
    if (!both) {
        model_fail(reader, "no memory for the test itself");
        return NULL;
    }
    failing_allocator_init(&both->memory);
    both->isa_before = both->isa = bry__kernels()->isa;
    bry__maplet_options options = {.capacity = capacities[model_below(reader, 8)]};
    options.error = errors[model_below(reader, 8)];
    options.value_bits = widths[model_below(reader, 8)];
    options.fixed = model_below(reader, 6) == 5;
    unsigned keys = model_byte(reader);
    both->keys = (key_kind)(keys % KEY_KINDS);
    both->most_keys = 0x10000u >> (keys / KEY_KINDS % 5 * 2);
    both->area = keys & 128 ? 2048u << (keys / KEY_KINDS % 4) : 0;
    model_say(reader, "create capacity %ju, error %g, %u bits, %s, %u keys of kind %d",
              (uintmax_t)options.capacity, options.error, options.value_bits,
              options.fixed ? "fixed" : "growing", both->most_keys, both->keys);
    for (int i = 0; i < 2; i++) {
        maplet_side *side = &both->side[i];
        model_expect(reader, bry__maplet_init(&side->maplet, &options, &both->memory.allocator));
        maplet_twin_make(&side->twin, &options, side->maplet.chain.range);
    }
    model_expect(reader, both->memory.now == 0);
    return both;
}

static void destroy(void *state, model_reader *reader)
{
    pair *both = state;
    if (!both)
        return;
    for (int i = 0; i < 2; i++) {
        side_drop_copy(&both->side[i]);
        bry__maplet_free(&both->side[i].maplet);
        maplet_twin_free(&both->side[i].twin);
    }
    model_expect(reader, both->memory.now == 0 && both->memory.blocks == 0);
    bry__kernel_force(both->isa_before);
    free(both);
}

/* ---- what a program names ---- */

static uint64_t mix(uint64_t x)
{
    x *= UINT64_C(0x9fb21c651e98df25);
    x ^= x >> 35;
    x *= UINT64_C(0x9fb21c651e98df25);
    return x ^ x >> 28;
}

/* The smallest hash of a fingerprint of the first table. */
static bry_hash hash_of(uint64_t fingerprint, uint64_t range)
{
    __extension__ typedef unsigned __int128 wide;
    return (bry_hash){mix(fingerprint),
                      (uint64_t)((((wide)fingerprint << 64) + range - 1) / range)};
}

/* A key by its number; the last few are always the same hashes, whatever the kind. */
static bry_hash key(const pair *both, unsigned number)
{
    uint64_t range = both->side[0].maplet.chain.range;
    number &= 0xffff;
    if (number >= 0xfffe)
        return (bry_hash){number, number & 1 ? UINT64_MAX : 0};
    number %= number >= 0xff00 ? 3 : both->most_keys; /* a few are frequent */
    if (both->keys == KEYS_UNIFORM || (both->keys == KEYS_ALIGNED && number >= both->most_keys / 2))
        return (bry_hash){number, mix(number + 1)};
    if (both->keys == KEYS_DENSE)
        return hash_of(number % range, range);
    unsigned shift = 0;
    while (range >> (shift + 1) > 0x10000)
        shift++;
    return hash_of(((uint64_t)number << shift) % range, range);
}

static uint32_t mask_of(const pair *both)
{
    unsigned bits = both->side[0].twin.options.value_bits;
    return bits < 32 ? (1u << bits) - 1 : UINT32_MAX;
}

static uint32_t value_of(const pair *both, unsigned number)
{
    uint32_t mask = mask_of(both);
    if (number == 255 && mask < UINT32_MAX)
        return mask + 1; /* too wide */
    if (number == 254)
        return mask;
    return (number < 128 ? number & 7 : (uint32_t)(mix(number) >> 32)) & mask;
}

/* Up to a thousand, small ones more often. */
static unsigned read_count(model_reader *reader)
{
    unsigned byte = model_byte(reader);
    return 1 + byte * byte / 64;
}

/* ---- one key ---- */

static void do_call(pair *both, model_reader *reader, const call *what)
{
    maplet_side *side = &both->side[0];
    call_answer real, twin, copy;
    count_operations(both, 1);
    side_turn_to_maplet(both->isa);
    call_maplet(&side->maplet, what, &real);
    if (model_out_of_memory(reader, &both->memory, real.status)) {
        model_expect(reader, real.was == BRY_UNSURE);
        return;
    }
    call_twin(&side->twin, what, &twin);
    if (!call_answers_agree(&real, &twin))
        model_fail(reader, "%s: status %d, was %d, old %x, count %ju; twin: %d, %d, %x, %ju",
                   call_names[what->kind], real.status, real.was, (unsigned)real.old,
                   (uintmax_t)real.count, twin.status, twin.was, (unsigned)twin.old,
                   (uintmax_t)twin.count);
    if (side->copied && !reader->failed) {
        side_turn_to_copy(both->isa);
        call_maplet(&side->copy, what, &copy);
        model_expect(reader, call_answers_agree(&real, &copy));
    }
}

static void do_single(pair *both, model_reader *reader)
{
    call what = {.kind = (call_kind)model_below(reader, CALL_KINDS)};
    unsigned number = model_pair(reader), picked = model_byte(reader);
    what.hash = key(both, number);
    what.value = value_of(both, picked);
    what.to = what.kind == CALL_REPLACE ? value_of(both, model_byte(reader)) : 0;
    what.room = picked % (CALL_ROOM + 1);
    if ((what.kind == CALL_REMOVE_VALUE || what.kind == CALL_REPLACE) && picked % 2) {
        /* A present one, if there is any. */
        uint32_t values[CALL_ROOM];
        uint64_t n = maplet_twin_get_all(&both->side[0].twin, what.hash, values, CALL_ROOM);
        if (n > 0)
            what.value = values[picked / 2 % (n < CALL_ROOM ? n : CALL_ROOM)];
    }
    model_say(reader, "%s %u, value %x, to %x", call_names[what.kind], number, (unsigned)what.value,
              (unsigned)what.to);
    do_call(both, reader, &what);
}

/* Many keys, one after the other. */
static void do_run(pair *both, model_reader *reader)
{
    static const call_kind kinds[] = {CALL_UPSERT, CALL_UPSERT, CALL_UPSERT, CALL_INSERT,
                                      CALL_INSERT, CALL_REMOVE, CALL_REMOVE, CALL_GET};
    call what = {.kind = kinds[model_below(reader, 8)]};
    unsigned first = model_pair(reader), stride = model_byte(reader) % 9 + 1;
    unsigned count = read_count(reader), salt = model_byte(reader);
    model_say(reader, "%s %u keys from %u, every %u, values %u", call_names[what.kind], count,
              first, stride, salt);
    for (unsigned i = 0; i < count && !reader->failed; i++) {
        what.hash = key(both, first + i * stride);
        what.value = (uint32_t)mix(salt < 64 ? salt : salt + i) & mask_of(both);
        do_call(both, reader, &what);
    }
}

/* Many values of one key. */
static void do_crowd(pair *both, model_reader *reader)
{
    unsigned kind = model_below(reader, 3), number = model_pair(reader), salt = model_byte(reader);
    unsigned count = read_count(reader) / 4 + 1;
    call what = {.kind = kind < 2 ? CALL_INSERT : CALL_REMOVE_VALUE, .hash = key(both, number)};
    model_say(reader, "%s %u values of %u, from %u", call_names[what.kind], count, number, salt);
    for (unsigned i = 0; i < count && !reader->failed; i++) {
        what.value = (salt % 2 ? salt + i : (uint32_t)mix(salt + i)) & mask_of(both);
        do_call(both, reader, &what);
    }
}

/* ---- batches: what single calls give ---- */

static unsigned read_batch(pair *both, model_reader *reader, const char *what)
{
    unsigned first = model_pair(reader), stride = model_byte(reader);
    unsigned count = model_byte(reader), salt = model_byte(reader);
    model_say(reader, "%s %u keys from %u, every %u, values %u", what, count, first, stride, salt);
    for (unsigned i = 0; i < count; i++) {
        both->hashes[i] = key(both, first + i * stride);
        both->values[i] = value_of(both, (salt + i) % 256);
    }
    return count;
}

/* All or none. For maplets with one value to a fingerprint, as maps and filters have. */
static void do_upsert_n(pair *both, model_reader *reader)
{
    unsigned n = read_batch(both, reader, "upsert_n");
    maplet_side *side = &both->side[0];
    uint8_t was[MAX_BATCH + 1], copy_was[MAX_BATCH + 1];
    uint32_t old[MAX_BATCH] = {0}, copy_old[MAX_BATCH] = {0};
    if (maplet_has_twins(&side->maplet))
        return;
    memset(was, 77, sizeof was);
    memset(copy_was, 77, sizeof copy_was);
    count_operations(both, n);
    side_turn_to_maplet(both->isa);
    bry_status status =
        bry__maplet_upsert_n(&side->maplet, both->hashes, both->values, n, old, was);
    bry_status expected = BRY_OK;
    for (unsigned i = 0; i < n; i++)
        if (both->values[i] & ~mask_of(both))
            expected = BRY_E_RANGE;
    unsigned done = 0;
    uint8_t twin_was[MAX_BATCH] = {0};
    uint32_t twin_old[MAX_BATCH] = {0};
    for (; done < n && !reader->failed && expected == BRY_OK; done += expected == BRY_OK) {
        bry_answer answer = BRY_UNSURE;
        twin_old[done] = 0;
        expected = maplet_twin_upsert(&side->twin, both->hashes[done], both->values[done], &answer,
                                      &twin_old[done]);
        twin_was[done] = (uint8_t)answer;
    }
    bool failed = model_out_of_memory(reader, &both->memory, status);
    model_expect(reader, failed || status == expected);
    for (unsigned i = 0; i < n && status == BRY_OK && !reader->failed; i++)
        model_expect(reader,
                     was[i] == twin_was[i] && (was[i] == BRY_ABSENT || old[i] == twin_old[i]));
    model_expect(reader, was[status == BRY_OK ? n : 0] == 77);
    while (status != BRY_OK && done-- > 0) {
        bry_answer answer;
        uint32_t value;
        if (twin_was[done] == BRY_ABSENT)
            maplet_twin_del_value(&side->twin, both->hashes[done], both->values[done]);
        else
            maplet_twin_upsert(&side->twin, both->hashes[done], twin_old[done], &answer, &value);
    }
    while (status != BRY_OK && side->twin.tables > side_tables(&side->maplet))
        maplet_twin_close(&side->twin);
    if (side->twin.tables > side_tables(&side->maplet))
        maplet_twin_trim(&side->twin); /* a batch closes what deletions have emptied */
    if (side->copied) {
        side_turn_to_copy(both->isa);
        model_expect(reader, bry__maplet_upsert_n(&side->copy, both->hashes, both->values, n,
                                                  copy_old, copy_was) == status);
        model_expect(reader, memcmp(was, copy_was, sizeof was) == 0 &&
                                 (status != BRY_OK || memcmp(old, copy_old, n * sizeof *old) == 0));
    }
}

static void do_ask_n(pair *both, model_reader *reader)
{
    unsigned n = read_batch(both, reader, "ask");
    const maplet_side *side = &both->side[0];
    uint32_t values[MAX_BATCH];
    uint8_t answers[MAX_BATCH + 1], has[MAX_BATCH + 1];
    answers[n] = has[n] = 77;
    count_operations(both, 2 * (uint64_t)n);
    side_turn_to_maplet(both->isa);
    bry__maplet_get_n(&side->maplet, both->hashes, n, values, answers);
    bry__maplet_has_n(&side->maplet, both->hashes, n, has);
    for (unsigned i = 0; i < n; i++) {
        uint32_t twin;
        uint64_t total = maplet_twin_get_all(&side->twin, both->hashes[i], &twin, 1);
        model_expect(reader, answers[i] == (total > 0 ? BRY_PRESENT : BRY_ABSENT));
        model_expect(reader, has[i] == answers[i]);
        model_expect(reader, total == 0 || values[i] == twin);
    }
    model_expect(reader, answers[n] == 77 && has[n] == 77);
}

/* ---- all entries ---- */

typedef struct remap_by {
    unsigned salt;
    uint32_t mask;
} remap_by;

static uint32_t remapped(void *context, uint32_t value)
{
    const remap_by *by = context;
    switch (by->salt % 4) {
    case 0:
        return (value * (2 * by->salt + 1) + by->salt) & by->mask; /* a permutation */
    case 1:
        return value >> 1;
    case 2:
        return by->mask - value;
    default: /* sometimes too wide */
        return by->salt > 200 ? value + 1 : by->salt & by->mask;
    }
}

static void do_remap(pair *both, model_reader *reader)
{
    maplet_side *side = &both->side[0];
    remap_by by = {model_byte(reader), mask_of(both)};
    model_say(reader, "remap %u", by.salt);
    count_operations(both, 1);
    side_turn_to_maplet(both->isa);
    bry_status status = bry__maplet_remap(&side->maplet, remapped, &by);
    if (model_out_of_memory(reader, &both->memory, status))
        return;
    model_expect(reader, status == maplet_twin_remap(&side->twin, remapped, &by));
    if (side->copied) {
        side_turn_to_copy(both->isa);
        model_expect(reader, bry__maplet_remap(&side->copy, remapped, &by) == status);
    }
}

static void do_widen(pair *both, model_reader *reader)
{
    maplet_side *side = &both->side[0];
    unsigned bits = side->twin.options.value_bits, to = bits + model_below(reader, 5);
    if (model_below(reader, 4) == 3 && bits > 0)
        to = bits - 1;
    model_say(reader, "widen to %u", to);
    count_operations(both, 1);
    bry_status expected = to < bits || to > 32 ? BRY_E_RANGE : BRY_OK;
    uint64_t bytes = bry__maplet_bytes(&side->maplet); /* segments get wider later, one by one */
    model_expect(reader, bry__maplet_widen(&side->maplet, to) == expected);
    model_expect(reader, bry__maplet_bytes(&side->maplet) == bytes);
    if (side->copied)
        model_expect(reader, bry__maplet_widen(&side->copy, to) == expected);
    if (expected == BRY_OK)
        side->twin.options.value_bits = to;
}

/* The last table has moved some entries to an earlier one, if possible; which ones is unknown
 * here. */
static void follow_fold(maplet_side *side, model_reader *reader, bool done)
{
    maplet_twin *twin = &side->twin;
    unsigned last = twin->tables - 1, to = maplet_twin_fold_to(twin);
    twin_entry *left = NULL, *lost;
    size_t lost_n, n = side->maplet.tables > last ? side_list(&side->maplet, last, &left) : 0;
    model_expect(reader, maplet_twin_keep(twin, last, left, n, &lost, &lost_n));
    model_expect(reader, (lost_n > 0) == (done && to < last));
    for (size_t i = 0; i < lost_n && !reader->failed; i++)
        maplet_twin_fold_entry(twin, last, to, lost[i]);
    maplet_twin_trim(twin);
    model_expect(reader, side_tables(&side->maplet) == twin->tables);
    free(left);
    free(lost);
}

static void do_fold(pair *both, model_reader *reader)
{
    maplet_side *side = &both->side[0];
    unsigned budget = read_count(reader), steps = model_below(reader, 8);
    model_say(reader, "fold, %u steps of %u", steps, budget);
    for (unsigned i = 0; i <= steps && !reader->failed; i++) {
        count_operations(both, 1);
        side_turn_to_maplet(both->isa);
        bry_status status = bry__maplet_fold(&side->maplet, budget);
        bool failed = model_out_of_memory(reader, &both->memory, status);
        model_expect(reader, failed || status == BRY_OK);
        maplet_twin_trim(&side->twin);
        follow_fold(side, reader, !failed && budget > 0);
        if (side->copied) {
            side_turn_to_copy(both->isa);
            model_expect(reader, bry__maplet_fold(&side->copy, failed ? 0 : budget) == BRY_OK);
        }
    }
}

/* ---- whole maplets ---- */

static void do_merge(pair *both, model_reader *reader)
{
    static const char *const names[] = {"all", "keep", "replace"};
    maplet_side *into = &both->side[0], *from = &both->side[model_below(reader, 8) != 7];
    bry__merge_mode mode = (bry__merge_mode)model_below(reader, 3);
    model_say(reader, "merge %s, %s", from == into ? "itself" : "the other", names[mode]);
    count_operations(both, 1);
    /* Otherwise a short program could cause endless work. */
    if (maplet_twin_count(&from->twin) > LARGEST_MERGED)
        return;
    maplet_twin merged;
    bry_status expected = maplet_twin_merge(&into->twin, &from->twin, mode, &merged);
    if (into->copied) {
        side_turn_to_copy(both->isa);
        model_expect(reader,
                     bry__maplet_merge(&into->copy, from == into ? &into->copy : &from->maplet,
                                       mode, NULL) == expected);
    }
    side_turn_to_maplet(both->isa);
    bry_status status = bry__maplet_merge(&into->maplet, &from->maplet, mode, NULL);
    bool failed = model_out_of_memory(reader, &both->memory, status);
    model_expect(reader, failed || status == expected);
    if (status == BRY_OK) {
        maplet_twin_free(&into->twin);
        into->twin = merged;
    } else if (expected == BRY_OK) {
        maplet_twin_free(&merged);
    }
}

/* A copy replaces the maplet, or gets the same operations from now on. */
static void take_copy(maplet_side *side, bry__maplet made, bool swap)
{
    if (swap) {
        bry__maplet_free(&side->maplet);
        side->maplet = made;
    } else {
        side_drop_copy(side);
        side->copy = made;
        side->copied = true;
    }
}

static void do_clone(pair *both, model_reader *reader)
{
    maplet_side *side = &both->side[0];
    bool swap = model_below(reader, 2);
    model_say(reader, "clone%s", swap ? " and go on with it" : " and keep both");
    count_operations(both, 1);
    bry__maplet made = {.tables = 0};
    bry_status status = bry__maplet_clone(&side->maplet, &made, &side->maplet.allocator);
    if (model_out_of_memory(reader, &both->memory, status))
        return;
    model_expect(reader, status == BRY_OK);
    if (status == BRY_OK)
        take_copy(side, made, swap);
}

static void do_save(pair *both, model_reader *reader)
{
    maplet_side *side = &both->side[0];
    bool swap = model_below(reader, 2);
    model_say(reader, "save and load%s", swap ? " and go on with it" : " and keep both");
    count_operations(both, 2);
    bry_buffer saved = BRY_BUFFER, again = BRY_BUFFER;
    side_save(&side->maplet, &saved, reader);
    bry__maplet made = {.tables = 0};
    bry_status status = side_load(&made, &saved, &both->memory.allocator, reader);
    if (!model_out_of_memory(reader, &both->memory, status) && status == BRY_OK) {
        side_save(&made, &again, reader);
        model_expect(reader,
                     saved.len == again.len && memcmp(saved.bytes, again.bytes, saved.len) == 0);
        take_copy(side, made, swap);
        if (swap) /* nor are tables without entries */
            maplet_twin_trim(&side->twin);
    }
    bry_buffer_free(&saved);
    bry_buffer_free(&again);
}

static void do_clear(pair *both, model_reader *reader)
{
    maplet_side *side = &both->side[0];
    model_say(reader, "clear");
    count_operations(both, 1);
    bry__maplet_clear(&side->maplet);
    maplet_twin_clear(&side->twin);
    if (side->copied)
        bry__maplet_clear(&side->copy);
}

static void do_exchange(pair *both, model_reader *reader)
{
    model_say(reader, "exchange");
    maplet_side side = both->side[0];
    both->side[0] = both->side[1];
    both->side[1] = side;
}

static void do_rarely(pair *both, model_reader *reader)
{
    unsigned picked = model_below(reader, 32);
    if (picked == 31) {
        do_clear(both, reader);
    } else if (picked >= 16) {
        model_say(reader, "look at all entries");
        side_check_all(&both->side[0], reader);
    } else {
        bry__isa isa = (bry__isa)(picked % BRY__ISA_COUNT);
        model_say(reader, "force %s", bry__isa_names[isa]);
        if (bry__cpu_has(isa))
            both->isa = isa;
    }
}

static const struct {
    void (*run)(pair *both, model_reader *reader);
    unsigned share; /* of 32 */
} operations[] = {
    {do_single, 6}, {do_run, 8},      {do_crowd, 4},  {do_upsert_n, 2}, {do_ask_n, 2},
    {do_remap, 1},  {do_widen, 1},    {do_fold, 2},   {do_merge, 2},    {do_clone, 1},
    {do_save, 1},   {do_exchange, 1}, {do_rarely, 1},
};

/* Small tables would have none. */
static void use_areas(pair *both)
{
    const bry__maplet *maplet = &both->side[0].maplet;
    for (unsigned i = 0; i < maplet->tables && both->area; i++)
        if (!maplet->table[i].arena)
            (void)bry__arena_begin(&maplet->table[i], both->area, 1, &both->memory.allocator);
}

static void step(void *state, model_reader *reader)
{
    pair *both = state;
    unsigned picked = model_byte(reader), which = 0;
    /* In one of eight an allocation fails, if there are that many; sometimes with all later
     * ones. */
    failing_allocator_restart(&both->memory);
    if (picked / 32 == 7) {
        unsigned how = model_byte(reader);
        both->memory.fail_at = 1 + how % (how & 64 ? 64 : 8);
        both->memory.keep_failing = how >= 192;
        side_drop_copy(&both->side[0]); /* it would not fail at the same place */
        model_say(reader, "allocation %ju is to fail%s:", (uintmax_t)both->memory.fail_at,
                  both->memory.keep_failing ? ", and those after it" : "");
    }
    use_areas(both);
    for (picked %= 32; picked >= operations[which].share; which++)
        picked -= operations[which].share;
    operations[which].run(both, reader);
    both->memory.fail_at = 0;
    both->memory.keep_failing = false;
}

/* All entries are compared after about as many operations, and at the end. */
static void check(void *state, model_reader *reader)
{
    pair *both = state;
    uint64_t bytes = 0;
    for (int i = 0; i < 2 && !reader->failed; i++) {
        maplet_side *side = &both->side[i];
        side_check_numbers(side, reader);
        bytes += bry__maplet_bytes(&side->maplet);
        if (side->copied)
            bytes += bry__maplet_bytes(&side->copy);
        if (!reader->failed &&
            (reader->at >= reader->len || side->unchecked >= maplet_twin_count(&side->twin)))
            side_check_all(side, reader);
    }
    model_expect(reader, bytes == both->memory.now);
}

const model maplet_model = {"maplet", create, step, check, destroy, &operations_done, NULL};
