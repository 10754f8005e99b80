/*
 * The interface between the index and its engines.
 *
 * The facade (index.c) keeps what does not depend on how elements are stored: the unit's number,
 * tag, order of opening, whether it is sealed, its capacity, its elements and stale elements. An
 * engine keeps the elements. Both refer to units by *slot*, a small number that the engine chooses:
 * a unit's number counts up (to 2^20), while a slot is reused as soon as the engine is done with
 * the unit that had it. So tables that are indexed by slot, and the bits of a slot's number, depend
 * on the number of units that exist.
 *
 *   number ──(facade)── slot ──(engine)── column of a group (dba), value in the maplet (compact)
 *
 * Rules for every function here:
 *  - A failed call changes nothing, and writes nothing through its out-pointers.
 *  - A slot that is passed in has a unit, unless said otherwise.
 *  - The facade respects capacities: it never adds to a sealed or full unit.
 *  - Options are checked and have their defaults filled in (index_options.c), seed and struct_size
 *    included; options->allocator is ignored if an allocator is an argument.
 *  - An instance and all its memory, `self` included, come from the allocator it was created with.
 *  - Functions that take a const self may run at the same time as each other.
 */
#ifndef BRY_INDEX_INDEX_ENGINE_H
#define BRY_INDEX_INDEX_ENGINE_H

#include "common/engine_row.h"
#include "common/records.h"

#include <bloomery/index.h>

struct bry__frame_writer;
struct bry__frame_reader;

/* More than units: dropped ones may keep their slots for a while. */
#define BRY__INDEX_SLOTS ((uint32_t)1 << 21)

/* What the facade knows of a unit. */
typedef struct bry__index_slot {
    uint64_t order; /* 0: no unit here; else rises with each opening */
    uint64_t tag;
    uint64_t capacity;
    uint64_t elements; /* stale ones included */
    uint64_t stale; /* at most elements */
    uint32_t number;
    bool sealed;
} bry__index_slot;

typedef struct bry__index_slots {
    bry__records records; /* a bry__index_slot each */
    uint32_t units; /* slots that have one */
    uint64_t elements, stale, capacity; /* sums over all units */
} bry__index_slots;

/* The record of a slot below bry__slots_room(). */
static inline bry__index_slot *bry__slot(const bry__index_slots *slots, uint32_t slot)
{
    return bry__record_at(&slots->records, slot, sizeof(bry__index_slot));
}

static inline uint32_t bry__slots_room(const bry__index_slots *slots)
{
    return slots->records.room;
}

/*
 * Collects the candidates of one element. The engine adds each candidate once, in any order; the
 * facade keeps the `room` newest ones and counts all.
 */
typedef struct bry__index_found {
    const bry__index_slots *slots;
    uint32_t *units; /* slots during the search, numbers after it */
    size_t room, total;
} bry__index_found;

void bry__index_found_more(bry__index_found *found, uint32_t slot); /* index_units.c */

static inline void bry__index_found_add(bry__index_found *found, uint32_t slot)
{
    if (found->total == 0 && found->room > 0) {
        found->units[0] = slot;
        found->total = 1;
    } else {
        bry__index_found_more(found, slot);
    }
}

/*
 * An incremental save keeps an instance as a head and parts, each in a file of its own. Two parts
 * with the same id and stamp have the same bytes, in any instance, so a part whose stamp is already
 * in the directory is not written again. There are two kinds of stamps:
 *  - from the contents: a checksum of 128 bits (compact);
 *  - from changes (dba): {instance, ++clock} at each change of the part, where `instance` is
 *    random (bry__random_seed) and drawn when the object is created, cloned or read. A part that is
 *    read or cloned keeps its stamp; so objects with a common origin agree on what neither has
 *    changed and on nothing else. `stamp` is passed to read_part() for that.
 */
typedef struct bry__index_part {
    uint64_t id; /* names the part's file; no two parts of an instance share it, and they are read
                    in its order */
    uint64_t stamp[2];
} bry__index_part;

typedef struct bry__index_engine {
    bry_engine engine;

    /* Whether del() can take an element out. If not, del() is NULL: the facade calls holds() and
     * counts the element as stale. */
    bool deletes;

    /* ---- making ---------------------------------------------------------------------------- */

    /* Checks the engine's own options (group, segmented, control, factor, unit_bits, hashes, units
     * × unit_capacity) and fills the whole shape; bytes and bytes_empty include `self`; the facade
     * adds its own. */
    bry_status (*plan)(const bry_index_options *options, bry_index_shape *shape);

    bry_status (*create)(const bry_index_options *options, const bry_allocator *allocator,
                         void **self);
    void (*destroy)(void *self);
    bry_status (*clone)(const void *self, const bry_allocator *allocator, void **copy);
    void (*clear)(void *self);

    /* Sets in *options what creates an instance whose units can be imported in this one:
     * unit_capacity, unit_bits, hashes of the units that open() will create next. */
    void (*like)(const void *self, bry_index_options *options);

    /* ---- units ----------------------------------------------------------------------------- */

    /* The slot that open() and import() will use for the unit of that number; BRY__INDEX_SLOTS:
     * none, unless they can free one. It depends only on the number and the slots in use. */
    uint32_t (*next_slot)(const void *self, uint32_t number);

    /* Creates an empty unit in a free slot below BRY__INDEX_SLOTS; *capacity is its capacity.
     * Memory for its elements may be allocated later. FULL: no slots left. NOMEM. */
    bry_status (*open)(void *self, uint32_t number, uint32_t *slot, uint64_t *capacity);

    /* From now on the unit is not a candidate. open() may reuse its slot when all its entries are
     * gone, for a unit without elements at once. elements: as counted by the facade. */
    void (*drop)(void *self, uint32_t slot, uint64_t elements);

    /* Moves the elements of `from` into `into`; `from` is then dropped. The facade adds the counts.
     * MISMATCH, NOMEM. */
    bry_status (*merge_units)(void *self, uint32_t into, uint32_t from);

    /* A unit now has this many elements, as counted by the facade: after additions, and after it
     * was merged, imported or loaded. NULL: the engine does not need it. */
    void (*counted)(void *self, uint32_t slot, uint64_t elements);

    /* Fills in what the engine knows of a unit: wants_refresh and error. */
    void (*unit_info)(const void *self, const bry__index_slots *slots, uint32_t slot,
                      bry_index_unit_info *info);

    /* ---- elements -------------------------------------------------------------------------- */

    /* Whether the unit may hold the element. */
    bry_answer (*holds)(const void *self, uint32_t slot, bry_hash hash);

    /* In order, all or nothing. was[i] (never NULL) is what holds() would have returned before
     * element i; elements that are BRY_PRESENT change nothing. The caller counts the others. NOMEM;
     * FULL if the engine cannot keep its promise. */
    bry_status (*add_n)(void *self, uint32_t slot, const bry_hash *hashes, size_t n, uint8_t *was);

    /* Undoes a successful add_n(), with its results; since then there were only other such calls
     * and openings. Never fails. NULL if add_n() never fails (dba, whose units have their memory
     * when they are open). */
    void (*undo_n)(void *self, uint32_t slot, const bry_hash *hashes, size_t n, const uint8_t *was);

    /* Takes an element out of a unit; returns the number of entries removed (merged units may hold
     * one twice), 0: the unit does not hold it. Never fails. */
    uint64_t (*del)(void *self, uint32_t slot, bry_hash hash);

    /* ---- asking ---------------------------------------------------------------------------- */

    bry_answer (*has)(const void *self, bry_hash hash);
    void (*has_n)(const void *self, const bry_hash *hashes, size_t n, uint8_t *answers);
    /* Calls bry__index_found_add() for every candidate, only slots with a unit, each once. */
    void (*locate)(const void *self, bry_hash hash, bry__index_found *found);
    /* found[i] for hashes[i]; n is at most BRY__INDEX_BATCH. */
    void (*locate_n)(const void *self, const bry_hash *hashes, size_t n, bry__index_found *found);

    /* ---- deferred work --------------------------------------------------------------------- */

    /*
     * As bry_index_step(). The engine decides from `slots` what needs a refresh, and updates there
     * what its work changes: elements, stale, capacity and sealed of units, and the sums. supplier
     * may be NULL. *left is always set, even on failure. NOMEM, or what the supplier returned.
     */
    bry_status (*step)(void *self, bry__index_slots *slots, const bry_index_supplier *supplier,
                       uint64_t budget, uint64_t *left);

    /* ---- statistics ------------------------------------------------------------------------ */

    uint64_t (*bytes)(const void *self);
    /* Sets in *stats what the engine knows: promised_units, unit_capacity, groups, group, fill,
     * promised_error, estimated_error, full_error, waiting, waiting_for_supplier, rebuilds,
     * dropped. The facade sets the rest. */
    void (*stats)(const void *self, const bry__index_slots *slots, bry_index_stats *stats);

    /* ---- frames ---------------------------------------------------------------------------- */

    /* Writes frames to a stream that the caller has begun; failures stick to the writer. The facade
     * writes the slots' records before them. */
    void (*write)(const void *self, struct bry__frame_writer *writer);
    /*
     * Reads what write() wrote, for these options and slots, with full validation, including that
     * the engine has exactly these slots, with that many elements if it can count them. Claims
     * memory before it allocates, and reports failures to the reader. Leaves the stream after its
     * last frame.
     */
    bry_status (*read)(const bry_index_options *options, const bry__index_slots *slots,
                       struct bry__frame_reader *reader, const bry_allocator *allocator,
                       void **self);

    /* The same as a head and parts. Between begin_parts() and end_parts(), which may be NULL, the
     * instance does not change, and *saving is passed to the other calls. parts() returns how many
     * there are, part() fills in one of them, in any order. NOMEM. */
    bry_status (*begin_parts)(const void *self, void **saving);
    void (*end_parts)(void *saving);
    uint64_t (*parts)(const void *self, void *saving);
    bry_status (*part)(const void *self, void *saving, uint64_t place, bry__index_part *part);
    void (*write_head)(const void *self, void *saving, struct bry__frame_writer *writer);
    void (*write_part)(const void *self, void *saving, uint64_t place,
                       struct bry__frame_writer *writer);
    /* Creates an instance without its parts: only read_part(), read_done() and destroy() may be
     * called on it. */
    bry_status (*read_head)(const bry_index_options *options, const bry__index_slots *slots,
                            struct bry__frame_reader *reader, const bry_allocator *allocator,
                            void **self);
    /* Reads one part from its own stream. BADDATA also if there is no such part, or it was read
     * before. After a failure the instance can only be destroyed. */
    bry_status (*read_part)(void *self, const bry__index_part *part,
                            struct bry__frame_reader *reader);
    /* All parts were read: checks that they make a valid instance. BADDATA or NOMEM, and *problem,
     * a constant text, says what is wrong. */
    bry_status (*read_done)(void *self, const bry__index_slots *slots, const char **problem);

    /* Writes one unit, to be imported in another instance; its record is written separately. The
     * facade compares seed, engine and error before it calls import(). */
    void (*write_unit)(const void *self, uint32_t slot, struct bry__frame_writer *writer);
    /* As open() and read(): adds a unit from what write_unit() wrote; the stream is read to its end
     * before anything changes. record: as saved with the unit. MISMATCH: it has another shape.
     * FULL: more than the promised error allows. */
    bry_status (*import)(void *self, uint32_t number, const bry__index_slot *record,
                         struct bry__frame_reader *reader, uint32_t *slot);
} bry__index_engine;

#define BRY__INDEX_BATCH 64u

/* The engines, in the order of help texts and tests. */
#define BRY__INDEX_ENGINES(X)                                                                      \
    X(index, COMPACT, compact,                                                                     \
      "Stores a fingerprint and a unit per item: accepts more units than planned, supports "       \
      "deletion.")                                                                                 \
    X(index, DBA, dba,                                                                             \
      "A bit-sliced array of Bloom filters: at most the planned number of units, no deletion.")
BRY__INDEX_ENGINES(BRY__ENGINE_EXTERN)
extern const bry__engine_row bry__index_engines[];

#endif
