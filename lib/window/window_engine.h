/*
 * What stands between the window and its engines.
 *
 * The facade (window.c) checks options and keeps the window's time T: an engine never sees a `now`
 * that lies before the last one a change brought, nor one beyond max_skew. It keeps the counts of
 * refusals too. An engine remembers elements by their hash and decides what is still remembered.
 *
 * Rules for every function here:
 *  - What fails changes nothing, the engine's idea of time included, and writes nothing through its
 *    out-pointers.
 *  - Ends of generations that only time brings lie on a grid of absolute time, multiples of the
 *    generation's length: two windows of one shape agree on them whenever they were made, and
 *    advancing in steps leaves the same instance as advancing at once.
 *  - Questions change nothing. They answer as of `now`, which may be later than the last change.
 *  - Options come checked and with their defaults filled in, seed included; options->max_bytes is
 *    what is left for the engine; options->allocator is not looked at where one is an argument.
 *  - Memory of an instance comes from the allocator it was made with, and `self` itself does too.
 */
#ifndef BRY_WINDOW_WINDOW_ENGINE_H
#define BRY_WINDOW_WINDOW_ENGINE_H

#include <bloomery/window.h>

struct bry__frame_writer;
struct bry__frame_reader;

typedef struct bry__window_engine {
    bry_engine engine;

    /* ---- making ---------------------------------------------------------------------------- */

    /* Checks what is the engine's own to check (mode, generations, bits, hashes, max_bytes) and
     * fills the whole shape; bytes are those of `self` and all under it, without the facade. */
    bry_status (*plan)(const bry_window_options *options, bry_window_shape *shape);

    /* What the instance takes with its first element in it, at most; for options that have a plan.
     */
    uint64_t (*bytes_first)(const bry_window_options *options);

    /* options->start is the time, or 0: the first change brings it. */
    bry_status (*create)(const bry_window_options *options, const bry_allocator *allocator,
                         void **self);
    void (*destroy)(void *self);
    bry_status (*clone)(const void *self, const bry_allocator *allocator, void **copy);
    void (*clear)(void *self);

    /* Sets in *options what makes an instance of this one's shape. */
    void (*like)(const void *self, bry_window_options *options);

    /* ---- asking ---------------------------------------------------------------------------- */

    bry_answer (*has)(const void *self, bry_hash hash, uint64_t now);
    void (*has_n)(const void *self, const bry_hash *hashes, size_t n, uint64_t now,
                  uint8_t *answers);

    /* Fetches into the cache what adding a new element is going to touch. NULL: it does not. */
    void (*fetch)(const void *self, bry_hash hash);

    /* ---- changing: each advances to `now` first -------------------------------------------- */

    /* FULL (only where options->refuse), NOMEM. */
    bry_status (*add)(void *self, bry_hash hash, uint64_t now, bry_answer *was);
    /* The same for an element that is not there at `now`. NULL: add does it as fast. */
    bry_status (*add_new)(void *self, bry_hash hash, uint64_t now);
    /* All or none; was may be NULL. */
    bry_status (*add_n)(void *self, const bry_hash *hashes, size_t n, uint64_t now, uint8_t *was);
    /* NULL where the engine cannot. NOMEM. */
    bry_status (*del)(void *self, bry_hash hash, uint64_t now, bry_answer *was);
    bry_status (*advance)(void *self, uint64_t now);
    /* `now` is the later of both times. MISMATCH, FULL, NOMEM. */
    bry_status (*merge)(void *into, const void *from, uint64_t now);

    /* ---- looking in ------------------------------------------------------------------------ */

    uint64_t (*items)(const void *self); /* remembered, in constant time */
    uint64_t (*bytes)(const void *self);
    size_t (*generations)(const void *self, uint64_t now, bry_window_generation *generations,
                          size_t generation_size, size_t room);
    /* Adds to *stats what the engine knows: covered, items, generations, ended_early, resizes, the
     * errors, at_ceiling, bytes. The rest is the facade's. */
    void (*stats)(const void *self, uint64_t now, bry_window_stats *stats);

    /* ---- frames ---------------------------------------------------------------------------- */

    /* Frames of a stream that the caller has begun; failures stick to the writer. */
    void (*write)(const void *self, struct bry__frame_writer *writer);
    /* Reads what write() wrote, for these options and time, checked in depth; what it allocates is
     * claimed first, failures are told to the reader. Leaves the stream behind its last frame. */
    bry_status (*read)(const bry_window_options *options, uint64_t time,
                       struct bry__frame_reader *reader, const bry_allocator *allocator,
                       void **self);
} bry__window_engine;

extern const bry__window_engine bry__compact_window_engine; /* compact_window.c */
extern const bry__window_engine bry__fbf_window_engine; /* fbf.c */

#endif
