/*
 * The interface between the window and its engines.
 *
 * The facade (window.c) checks options and keeps the window's time T: an engine never sees a `now`
 * before that of the last change, nor one beyond max_skew. It also counts refusals. An engine
 * remembers elements by their hash and decides which are still remembered.
 *
 * Rules for every function here:
 *  - A failed call changes nothing, including the engine's time, and writes nothing through its
 *    out-pointers.
 *  - Generations that end by time end on a grid of absolute time, multiples of the generation's
 *    length: two windows of one shape agree on them whenever they were created, and advancing in
 *    steps gives the same instance as advancing at once.
 *  - Look-ups change nothing. They answer as of `now`, which may be later than the last change.
 *  - Options are checked and have their defaults filled in, seed included; options->max_bytes is
 *    what is left for the engine; options->allocator is ignored if one is an argument.
 *  - An instance and all its memory, `self` included, come from the allocator it was created with.
 */
#ifndef BRY_WINDOW_WINDOW_ENGINE_H
#define BRY_WINDOW_WINDOW_ENGINE_H

#include "common/engine_row.h"

#include <bloomery/window.h>

struct bry__frame_writer;
struct bry__frame_reader;

typedef struct bry__window_engine {
    bry_engine engine;

    /* ---- making ---------------------------------------------------------------------------- */

    /* Checks the engine's own options (generations, bits, hashes, max_bytes) and fills the
     * whole shape; bytes include `self`, not the facade. */
    bry_status (*plan)(const bry_window_options *options, bry_window_shape *shape);

    /* The most bytes of an instance with one element; for options that have a plan. */
    uint64_t (*bytes_first)(const bry_window_options *options);

    /* options->start is the time, or 0: the first change sets it. */
    bry_status (*create)(const bry_window_options *options, const bry_allocator *allocator,
                         void **self);
    void (*destroy)(void *self);
    bry_status (*clone)(const void *self, const bry_allocator *allocator, void **copy);
    void (*clear)(void *self);

    const bry_allocator *(*allocator)(const void *self);

    /* Sets in *options what creates an instance of this one's shape. */
    void (*like)(const void *self, bry_window_options *options);

    /* ---- asking ---------------------------------------------------------------------------- */

    bry_answer (*has)(const void *self, bry_hash hash, uint64_t now);
    void (*has_n)(const void *self, const bry_hash *hashes, size_t n, uint64_t now,
                  uint8_t *answers);

    /* ---- changing: each advances to `now` first -------------------------------------------- */

    /* FULL (only with options->refuse), NOMEM. */
    bry_status (*add)(void *self, bry_hash hash, uint64_t now, bry_answer *was);
    /* All or nothing; was may be NULL. */
    bry_status (*add_n)(void *self, const bry_hash *hashes, size_t n, uint64_t now, uint8_t *was);
    /* NULL: not supported. NOMEM. */
    bry_status (*del)(void *self, bry_hash hash, uint64_t now, bry_answer *was);
    bry_status (*advance)(void *self, uint64_t now);
    /* `now` is the later of both times. MISMATCH, FULL, NOMEM. */
    bry_status (*merge)(void *into, const void *from, uint64_t now);

    /* ---- statistics ------------------------------------------------------------------------ */

    uint64_t (*items)(const void *self); /* remembered; constant time */
    uint64_t (*bytes)(const void *self);
    size_t (*generations)(const void *self, uint64_t now, bry_window_generation *generations,
                          size_t generation_size, size_t room);
    /* Adds to *stats what the engine knows: covered, items, generations, ended_early, resizes, the
     * errors, at_limit, bytes. The facade adds the rest. */
    void (*stats)(const void *self, uint64_t now, bry_window_stats *stats);

    /* ---- frames ---------------------------------------------------------------------------- */

    /* Writes frames to a stream that the caller has begun; failures stick to the writer. */
    void (*write)(const void *self, struct bry__frame_writer *writer);
    /* Reads what write() wrote, for these options and time, with full validation; claims memory
     * before it allocates, and reports failures to the reader. Leaves the stream after its last
     * frame. */
    bry_status (*read)(const bry_window_options *options, uint64_t time,
                       struct bry__frame_reader *reader, const bry_allocator *allocator,
                       void **self);
} bry__window_engine;

/* The engines, in the order of help texts and tests. */
#define BRY__WINDOW_ENGINES(X)                                                                     \
    X(window, COMPACT, compact,                                                                    \
      "Stores a fingerprint and a time per item: least memory; a window can delete items.")        \
    X(window, FBF, fbf, "A forgetful Bloom filter: a sequence of Bloom filters, one per period.")
BRY__WINDOW_ENGINES(BRY__ENGINE_EXTERN)
extern const bry__engine_row bry__window_engines[];

#endif
