/*
 * The interface between the map and its engines.
 *
 * An engine maps a key's hash to a code, a small integer from 0 up. It knows nothing of values: in
 * a map of integers the code is the value, in a map of byte strings the dictionary says what it
 * means.
 *
 * Rules for every function here:
 *  - A failed call changes nothing, and writes nothing through its out-pointers.
 *  - `codes` is how many codes are assigned: 0 to codes - 1 may be stored, and a candidate beyond
 *    that is ignored. For integers it is 2^value_bits. It only rises while keys are there.
 *  - Options are checked and have their defaults filled in (map.c), seed and struct_size included;
 *    options->allocator is ignored if an allocator is an argument.
 *  - An instance and all its memory, `self` included, come from the allocator it was created with.
 */
#ifndef BRY_MAP_MAP_ENGINE_H
#define BRY_MAP_MAP_ENGINE_H

#include "common/engine_row.h"

#include <bloomery/map.h>

struct bry__frame_writer;
struct bry__frame_reader;

/* A key has got a code, or lost it. */
typedef void bry__map_carried(void *context, uint32_t code, bool got);

/* Decides about a key with this code; BRY_MAP_CHANGE: it gets *to. A status ends the sweep. */
typedef bry_status bry__map_judged(void *context, uint32_t code, bry_map_verdict *verdict,
                                   uint32_t *to);

typedef struct bry__map_engine {
    bry_engine engine;

    /* ---- making ---------------------------------------------------------------------------- */

    /*
     * Checks the engine's own options (value_bits, values, layout, cells, hashes) and fills the
     * whole shape; bytes and bytes_empty are what create() allocates, `self` included, without
     * facade and dictionary. shape->values: the maximum number of codes (kbf), or those planned for
     * (compact).
     */
    bry_status (*plan)(const bry_map_options *options, bry_map_shape *shape);

    bry_status (*create)(const bry_map_options *options, const bry_allocator *allocator,
                         void **self);
    void (*destroy)(void *self);
    bry_status (*clone)(const void *self, const bry_allocator *allocator, void **copy);
    /* codes: how many are in use when it is empty: those of integers, else 0. */
    void (*clear)(void *self, uint64_t codes);

    /* Sets in *options what creates an instance of this one's shape, which may have been folded
     * since: capacity, cells, hashes. */
    void (*like)(const void *self, bry_map_options *options);

    /* Keys, as counted by changes. */
    uint64_t (*items)(const void *self);

    /* Bytes allocated, `self` included. Constant time. */
    uint64_t (*bytes)(const void *self);

    /* ---- asking ---------------------------------------------------------------------------- */

    bry_answer (*get)(const void *self, bry_hash hash, uint64_t codes, uint32_t *code);
    /* codes_out[i] is set if answers[i] is BRY_PRESENT. Prefetches. */
    void (*get_n)(const void *self, const bry_hash *hashes, size_t n, uint64_t codes,
                  uint32_t *codes_out, uint8_t *answers);

    /* Whether no key can be there: kbf, every cell is zero. */
    bool (*is_blank)(const void *self);

    /*
     * For reference counts: from now on carried() is called for every key that gets a code or loses
     * one, after the change is done, and first for those that get one. NULL: this engine cannot
     * count. recount() calls it for all keys that are there, and must follow merge and compress,
     * which do not.
     */
    void (*watch)(void *self, bry__map_carried *carried, void *context);
    void (*recount)(const void *self);

    /* ---- changing -------------------------------------------------------------------------- */

    /*
     * n keys, in order, all or nothing. was[i]: what was there; BRY_UNSURE: key i was not changed.
     * With was NULL one such key fails the batch with BRY_E_UNSURE. BRY_E_FULL, BRY_E_NOMEM. A new
     * code (always codes_in[i] ≤ codes - 1) may be wider than those before.
     */
    bry_status (*set_n)(void *self, const bry_hash *hashes, const uint32_t *codes_in, size_t n,
                        uint64_t codes, uint8_t *was);
    /* For keys known to be absent: does no look-up. NULL: not supported. FULL, NOMEM. */
    bry_status (*add_n)(void *self, const bry_hash *hashes, const uint32_t *codes_in, size_t n);
    /* BRY_E_UNSURE and was as set_n(). Never FULL or NOMEM if n is 1. */
    bry_status (*del_n)(void *self, const bry_hash *hashes, size_t n, uint64_t codes, uint8_t *was);
    /* Changes the code of a key that is there; an absent one stays absent. UNSURE (the status),
     * NOMEM. */
    bry_status (*update)(void *self, bry_hash hash, uint32_t code, uint64_t codes, bry_answer *was);
    /* Many at once, all or nothing; was[i]: whether key i was there. NULL: not supported. NOMEM. */
    bry_status (*update_n)(void *self, const bry_hash *hashes, const uint32_t *codes_in, size_t n,
                           uint64_t codes, uint8_t *was);
    /* Takes a pair out, the opposite of add_n; was as in bry_map_del_pair(). */
    bry_answer (*del_pair)(void *self, bry_hash hash, uint32_t code, uint64_t codes);

    /* ---- whole instances ------------------------------------------------------------------- */

    /*
     * Adds all of `from`; its code c becomes recode[c], or stays c if recode is NULL. codes:
     * assigned in `into` afterwards. BRY_E_MISMATCH: the shapes differ, or codes would have to
     * change and this engine cannot do that. BRY_E_FULL, BRY_E_NOMEM.
     */
    bry_status (*merge)(void *into, const void *from, const uint32_t *recode, uint64_t codes);
    bool recodes; /* whether merge() can change codes */

    /* max_error is above 0. */
    bry_status (*compress)(void *self, double max_error, uint64_t codes);

    /* As bry_map_sweep(); calls carried(). NULL: not supported. */
    bry_status (*sweep)(void *self, bry__map_judged *judged, void *context, uint64_t budget,
                        uint64_t *cursor);

    /* Adds to *stats what the engine knows: items, tables, load, estimated, cells. The facade adds
     * the rest. */
    void (*stats)(const void *self, uint64_t codes, bry_map_stats *stats);

    /* ---- frames ---------------------------------------------------------------------------- */

    /* Writes frames to a stream that the caller has begun; failures stick to the writer. */
    void (*write)(const void *self, struct bry__frame_writer *writer);
    /* Reads what write() wrote, for these options, with full validation; claims memory before it
     * allocates, and reports failures to the reader. Leaves the stream after its own last frame. */
    bry_status (*read)(const bry_map_options *options, uint64_t codes,
                       struct bry__frame_reader *reader, const bry_allocator *allocator,
                       void **self);
} bry__map_engine;

/* The engines, in the order of help texts and tests. */
#define BRY__MAP_ENGINES(X)                                                                        \
    X(map, COMPACT, compact,                                                                       \
      "Stores fingerprints and value codes: 3 to 5 bytes per key, never UNSURE.")                  \
    X(map, KBF, kbf,                                                                               \
      "A key-value Bloom filter: about seven times the memory of compact, and some keys are "      \
      "UNSURE.")
BRY__MAP_ENGINES(BRY__ENGINE_EXTERN)
extern const bry__engine_row bry__map_engines[];

#endif
