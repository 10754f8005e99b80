/*
 * What stands between the index and its engines.
 *
 * The facade (index.c) keeps what does not depend on how elements are stored: the unit's number,
 * tag, order of opening, whether it is sealed, its capacity, its elements and stale elements. An
 * engine keeps the elements. The two speak of units by *slot*, a small number that the engine
 * picks: a unit's number counts up for ever (to 2^20) and a slot is used again as soon as the
 * engine is done with the unit that had it. So tables that are indexed by slot, and the bits of a
 * slot's number, follow the units that there are.
 *
 *   number ──(facade)── slot ──(engine)── column of a group (dba), value in the maplet (compact)
 *
 * Rules for every function here:
 *  - What fails changes nothing, and writes nothing through its out-pointers.
 *  - A slot that is handed in has a unit, unless said otherwise.
 *  - Capacity is the facade's to respect: an engine is not asked to add to a sealed or full unit.
 *  - Options come checked and with their defaults filled in (index_options.c), seed and struct_size
 *    included; options->allocator is not looked at where an allocator is an argument.
 *  - Memory of an instance comes from the allocator it was made with, and `self` itself does too.
 *  - Functions that take a const self may run at the same time as each other.
 */
#ifndef BRY_INDEX_INDEX_ENGINE_H
#define BRY_INDEX_INDEX_ENGINE_H

#include <bloomery/index.h>

struct bry__frame_writer;
struct bry__frame_reader;

#define BRY__INDEX_SLOTS ((uint32_t)1 << 21) /* more: dropped units may hold theirs for a while */

/* What the facade knows of a unit. */
typedef struct bry__index_slot {
    uint64_t order; /* 0: no unit here; else it rises with each opening */
    uint64_t tag;
    uint64_t capacity;
    uint64_t elements; /* stale ones included */
    uint64_t stale; /* at most elements */
    uint32_t number;
    bool sealed;
} bry__index_slot;

typedef struct bry__index_slots {
    bry__index_slot *slot;
    uint32_t room; /* slots from here on have no unit */
    uint32_t units; /* slots that have one */
    uint64_t elements, stale, capacity; /* sums over all units */
} bry__index_slots;

/*
 * Where candidates of one element go. The engine adds each candidate once, in whatever order it
 * comes upon them; the facade keeps the `room` newest ones and counts all.
 */
typedef struct bry__index_found {
    const bry__index_slots *slots;
    uint32_t *units; /* slots while the search goes on, numbers after it */
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
 * of the same id and stamp have the same bytes, in whichever instance of the library's life they
 * were written, so a part whose stamp a folder has already is not written again. There are two
 * ways to come to a stamp:
 *  - from the contents: a checksum of 128 bits (compact);
 *  - from changes (dba): {instance, ++clock} at each change of the part, where `instance` is drawn
 *    at random (bry__random_seed) when the object is made, cloned or read. A part that is read or
 *    cloned keeps the stamp it had; so objects that were one once agree on what neither has changed
 *    and on nothing else. `stamp` is handed to read_part() for that.
 */
typedef struct bry__index_part {
    uint64_t id; /* names the part's file; no two parts of an instance share it, and they are read
                    in its order */
    uint64_t stamp[2];
} bry__index_part;

typedef struct bry__index_engine {
    bry_engine engine;

    /* Whether del() takes an element out. If not, del() is NULL: the facade asks holds() and counts
     * the element as stale. */
    bool deletes;

    /* ---- making ---------------------------------------------------------------------------- */

    /* Checks what is the engine's own to check (group, segmented, control, factor, unit_bits,
     * hashes, units × unit_capacity) and fills the whole shape; bytes and bytes_empty are those of
     * `self` and all under it, the facade's are added to them. */
    bry_status (*plan)(const bry_index_options *options, bry_index_shape *shape);

    bry_status (*create)(const bry_index_options *options, const bry_allocator *allocator,
                         void **self);
    void (*destroy)(void *self);
    bry_status (*clone)(const void *self, const bry_allocator *allocator, void **copy);
    void (*clear)(void *self);

    /* Sets in *options what makes an instance whose units can be installed in this one:
     * unit_capacity, unit_bits, hashes as the next units that open() makes will have them. */
    void (*like)(const void *self, bry_index_options *options);

    /* ---- units ----------------------------------------------------------------------------- */

    /* The slot that open() and install() will take for the unit of that number; BRY__INDEX_SLOTS:
     * none, unless they can free one. It follows from the number and the slots that are taken. */
    uint32_t (*next_slot)(const void *self, uint32_t number);

    /* Makes an empty unit in a slot without one, below BRY__INDEX_SLOTS; *capacity is what it takes.
     * Memory for all its elements need not be there yet. FULL: no
     * slots left. NOMEM. */
    bry_status (*open)(void *self, uint32_t number, uint32_t *slot, uint64_t *capacity);

    /* From now on the unit is no candidate. Its slot may come back from open() when all traces are
     * gone, which for a unit without elements is at once. elements: as the facade counts them. */
    void (*drop)(void *self, uint32_t slot, uint64_t elements);

    /* Puts the elements of `from` into `into`; `from` is then as dropped without elements. The
     * facade adds the counts. MISMATCH, NOMEM. */
    bry_status (*merge_units)(void *self, uint32_t into, uint32_t from);

    /* A unit now has this many elements, by the facade's count: after additions, and when it
     * was merged, installed or loaded. NULL: the engine does not want to know. */
    void (*counted)(void *self, uint32_t slot, uint64_t elements);

    /* What the engine knows of a unit: wants_refresh and error. */
    void (*unit_info)(const void *self, const bry__index_slots *slots, uint32_t slot,
                      bry_index_unit *info);

    /* ---- elements -------------------------------------------------------------------------- */

    /* Whether the unit answers for the element. */
    bry_answer (*holds)(const void *self, uint32_t slot, bry_hash hash);

    /* In order, all or none. was[i] (never NULL) is what holds() would have said before element i;
     * those that are BRY_PRESENT change nothing. The caller counts the others. NOMEM; FULL where
     * the engine cannot keep its promise. */
    bry_status (*add_n)(void *self, uint32_t slot, const bry_hash *hashes, size_t n, uint8_t *was);

    /* Takes back what an add_n() did that succeeded, with what it said, nothing having happened
     * since but other such calls and openings. Never fails. NULL where add_n() never does (dba,
     * whose units have their memory when they are open). */
    void (*undo_n)(void *self, uint32_t slot, const bry_hash *hashes, size_t n, const uint8_t *was);

    /* Takes an element out of a unit; how many entries that were (merged units may hold one
     * twice), 0: the unit does not hold it. Never fails. */
    uint64_t (*del)(void *self, uint32_t slot, bry_hash hash);

    /* ---- asking ---------------------------------------------------------------------------- */

    bry_answer (*has)(const void *self, bry_hash hash);
    void (*has_n)(const void *self, const bry_hash *hashes, size_t n, uint8_t *answers);
    /* Every candidate to bry__index_found_add(), slots with a unit alone, each once. */
    void (*locate)(const void *self, bry_hash hash, bry__index_found *found);
    /* found[i] for hashes[i]; n is at most BRY__INDEX_BATCH. */
    void (*locate_n)(const void *self, const bry_hash *hashes, size_t n, bry__index_found *found);

    /* ---- work that can wait ---------------------------------------------------------------- */

    /*
     * As bry_index_step(). The engine decides from `slots` what wants a refresh, and changes there
     * what its work changes: elements, stale, capacity and sealed of units, and the sums.
     * supplier may be NULL. *left is always set, also on failure. NOMEM, or what the supplier
     * returned.
     */
    bry_status (*step)(void *self, bry__index_slots *slots, const bry_index_supplier *supplier,
                       uint64_t budget, uint64_t *left);

    /* ---- looking in ------------------------------------------------------------------------ */

    uint64_t (*bytes)(const void *self);
    /* Sets in *stats what the engine knows: planned_units, unit_capacity, groups, group, fill,
     * promised_error, estimated_error, full_error, waiting, waiting_for_supplier, rebuilds,
     * dropped. The rest is the facade's. */
    void (*stats)(const void *self, const bry__index_slots *slots, bry_index_stats *stats);

    /* ---- frames ---------------------------------------------------------------------------- */

    /* Frames of a stream that the caller has begun; failures stick to the writer. Slots' records
     * are the facade's to keep, and come first in the stream. */
    void (*write)(const void *self, struct bry__frame_writer *writer);
    /*
     * Reads what write() wrote, for these options and these slots, checked in depth: also that
     * slots which have a unit are the ones that the engine has, with that many elements where it
     * can tell. What it allocates is claimed first, failures are told to the reader. Leaves the
     * stream behind its last frame.
     */
    bry_status (*read)(const bry_index_options *options, const bry__index_slots *slots,
                       struct bry__frame_reader *reader, const bry_allocator *allocator,
                       void **self);

    /* The same in a head and parts. Between begin_parts() and end_parts(), which may be NULL, the
     * instance does not change, and *saving goes with the other calls. parts() says how many there
     * are, part() fills in the one of that place, in an order that does not matter. NOMEM. */
    bry_status (*begin_parts)(const void *self, void **saving);
    void (*end_parts)(void *saving);
    uint64_t (*parts)(const void *self, void *saving);
    bry_status (*part)(const void *self, void *saving, uint64_t place, bry__index_part *part);
    void (*write_head)(const void *self, void *saving, struct bry__frame_writer *writer);
    void (*write_part)(const void *self, void *saving, uint64_t place,
                       struct bry__frame_writer *writer);
    /* Makes an instance that lacks its parts: nothing but read_part(), read_done() and destroy() is
     * called on it. */
    bry_status (*read_head)(const bry_index_options *options, const bry__index_slots *slots,
                            struct bry__frame_reader *reader, const bry_allocator *allocator,
                            void **self);
    /* One part, of a stream of its own. BADDATA also where there is no such part, or it was read
     * before. On failure the instance is only fit to be destroyed. */
    bry_status (*read_part)(void *self, const bry__index_part *part,
                            struct bry__frame_reader *reader);
    /* All parts were read: whether they make an instance. BADDATA or NOMEM, and *problem says what
     * is wrong, a constant text. */
    bry_status (*read_done)(void *self, const bry__index_slots *slots, const char **problem);

    /* One unit, of which `slot` tells the rest, to be installed in another instance. The facade
     * has compared seed, engine and error before install() is called. */
    void (*write_unit)(const void *self, uint32_t slot, struct bry__frame_writer *writer);
    /* As open() and read(): a further unit with what write_unit() wrote, of a stream that is read
     * to its end before anything changes. record: as it was where it was written. MISMATCH: it has
     * another shape. FULL: more than the promised error allows. */
    bry_status (*install)(void *self, uint32_t number, const bry__index_slot *record,
                          struct bry__frame_reader *reader, uint32_t *slot);
} bry__index_engine;

#define BRY__INDEX_BATCH 64u

extern const bry__index_engine bry__compact_index_engine; /* compact_index.c */
extern const bry__index_engine bry__dba_index_engine; /* dba_index.c */

#endif
