/*
 * Window: have I seen this in the last T?
 *
 * A window remembers what was added for a promised time and forgets it some time after. For an
 * element that is not remembered it answers "seen" with a probability of at most `error`.
 *
 * The promise: an element whose add answered *new* at time a is found at every time up to
 * a + window, under any load and any adaptation. (bry_window_del() is the one exception.) It may
 * be found for one generation longer. An add that answered *seen* stores nothing and promises
 * nothing, for it may have been a false positive; unless the window was created with `refresh`,
 * where adding again remembers again from then on.
 *
 * Time is the argument `now`, in milliseconds from any fixed origin. The window's time T is the
 * largest `now` that a change brought; a change with an earlier one happens at T, so a clock that
 * steps back neither forgets early nor brings anything back. Questions do not move T: they answer
 * as of max(now, T) and leave the window as it is. A jump ahead of any length costs no more than
 * the end of one generation: with compact, what has expired is given back in steps, by the changes
 * that follow, so memory may stay above max_bytes for a while after a pause. Where stamps come from
 * outside (event time), set max_skew: one stamp in microseconds would otherwise move T by centuries
 * and forget everything.
 *
 * At capacity: memory follows the load, up and down, and the error stays within the target at any
 * rate: fbf ends a generation early when it holds what its error was planned for, and begins
 * another; compact gives what comes beyond the capacity longer fingerprints. At the ceiling
 * max_bytes a window either refuses to add with BRY_E_FULL (`refuse`), or lets its error pass the
 * target, which stats show (fbf alone).
 *
 * Engines: compact (the default) keeps fingerprint and generation of each element, the least
 * memory, and can forget a single element. fbf is the forgetful Bloom filter: a row of Bloom
 * filters, each for a span of time. It is what auto picks where max_bytes is set and `refuse` is
 * not, since only fbf can trade error for memory.
 */
#ifndef BLOOMERY_WINDOW_H
#define BLOOMERY_WINDOW_H

#include <bloomery/base.h>
#include <bloomery/hash.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bry_window bry_window;

/* The smallest error that can be asked for, and the most parts of a window. */
#define BRY_WINDOW_ERROR_MIN 1e-12
#define BRY_WINDOW_GENERATIONS_MAX 1024u

/* What engine fbf does. */
typedef enum bry_window_mode {
    BRY_WINDOW_IMPROVED = 0, /* generations salted, asked in pairs, ended when full */
    BRY_WINDOW_PAPER =
        1, /* as published: shared hashes, the optimized check, adapted each second */
    BRY_WINDOW_PAPER_SIMPLE = 2, /* as published, with the simple check: any filter will do */
} bry_window_mode;

/* Options of engine fbf. */
typedef struct bry_window_fbf {
    bry_window_mode mode; /* 0: improved */
    /* the exact shape, as options_like() copies it; 0 in both: planned from capacity and error */
    uint32_t hashes; /* bits an element in one filter, 1 to 64 */
    uint64_t bits; /* of one filter; at most 4096 * (capacity + 4096) */
} bry_window_fbf;

typedef struct bry_window_options {
    size_t struct_size;
    bry_engine engine; /* auto, compact or fbf */
    uint64_t window; /* ms that are promised, 1 to BRY_SPAN_MAX; 0: 60,000 */
    uint64_t capacity; /* elements within one window to plan for, 1 to BRY_CAPACITY_MAX; 0: 1000.
                          More may come (see "at capacity") */
    double error; /* BRY_WINDOW_ERROR_MIN to BRY_ERROR_MAX; 0: 0.001 */
    uint32_t generations; /* parts a window is cut into, 1 to BRY_WINDOW_GENERATIONS_MAX: more cost
                             time and save memory, for up to one part is kept longer than promised.
                             0: compact 13, which takes the least; fbf 8 */
    uint64_t max_bytes; /* ceiling on its memory; 0: none. BRY_E_RANGE when less than plan's
                           bytes_least. compact: BRY_E_UNSUPPORTED without `refuse` */
    bool refuse; /* at the ceiling: true: BRY_E_FULL; false: error above target */
    bool fixed; /* no adaptation: fbf's generations end by time alone, compact's fingerprints have
                   one length (and are shorter); the error follows the load */
    bool refresh; /* adding what is there remembers it for a further window */
    uint64_t max_skew; /* a change may bring a `now` of at most T + this; 0: no limit */
    uint64_t start; /* T at creation; 0: the first change sets it, whatever max_skew is */
    uint64_t seed; /* for hashing elements; 0: a random one is drawn at creation */
    const bry_allocator *allocator; /* NULL: malloc and free */
    bry_window_fbf fbf; /* of engine fbf alone */
} bry_window_options;

#define BRY_WINDOW_OPTIONS                                                                         \
    {                                                                                              \
        sizeof(bry_window_options), BRY_ENGINE_AUTO, 0, 0, 0, 0, 0, false, false, false, 0, 0, 0,  \
            NULL,                                                                                  \
        {                                                                                          \
            BRY_WINDOW_IMPROVED, 0, 0                                                              \
        }                                                                                          \
    }

/* What an object with these options costs and promises. Begin with BRY_WINDOW_SHAPE. */
typedef struct bry_window_shape {
    size_t struct_size;
    bry_engine engine; /* never auto */
    uint64_t window; /* ms promised */
    uint64_t longest; /* ms after which an element is surely forgotten */
    uint64_t capacity; /* elements within one window that it is planned for */
    uint32_t generations; /* held at once, those in the making included */
    uint64_t bits; /* fbf: of one filter; compact: 0 */
    uint32_t hashes; /* fbf: bits an element in it; compact: 0 */
    uint32_t fingerprint_bits; /* compact; fbf: 0 */
    double error; /* expected at the worst moment with `capacity` elements in each window */
    uint64_t bytes; /* at that moment */
    uint64_t bytes_empty; /* allocated by create */
    uint64_t bytes_least; /* the least max_bytes with which elements can be added */
} bry_window_shape;

#define BRY_WINDOW_SHAPE                                                                           \
    {                                                                                              \
        sizeof(bry_window_shape), BRY_ENGINE_AUTO, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0                 \
    }

/*
 * Fills *shape without allocating anything.
 * BRY_E_RANGE: an option is out of its range, or this error cannot be had at this capacity.
 * BRY_E_UNSUPPORTED: windows do not have that engine, or that engine does not have that option.
 */
BRY_API bry_status bry_window_plan(const bry_window_options *options, bry_window_shape *shape);

/* Makes an empty window. As bry_window_plan(), and BRY_E_NOMEM; BRY_E_IO when the system has no
 * random seed to give. */
BRY_API bry_status bry_window_create(const bry_window_options *options, bry_window **window);

/*
 * Options that make a window which can be merged with `other`: same engine, mode, seed, shape and
 * generations; `start` is other's time; the allocator is the default one. They hold wherever they
 * are used, also after `other` is gone.
 */
BRY_API bry_status bry_window_options_like(const bry_window *other, bry_window_options *options);

BRY_API void bry_window_destroy(bry_window *window);

/* A second window with the same contents and time. Its memory comes from `allocator`; NULL: from
 * where the first one's does. BRY_E_NOMEM. */
BRY_API bry_status bry_window_clone(const bry_window *window, const bry_allocator *allocator,
                                    bry_window **copy);

/* Forgets every element, keeps seed, shape and time. */
BRY_API void bry_window_clear(bry_window *window);

/* The seed to hash elements with. */
BRY_API uint64_t bry_window_seed(const bry_window *window);

/* The hash that this window knows an element by: bry_hash_key() with its seed. */
BRY_API bry_hash bry_window_hash(const bry_window *window, const void *key, size_t len);

/* ---- asking -------------------------------------------------------------------------------- */

/* BRY_PRESENT: seen within the window that ends at max(now, T). BRY_ABSENT: not. */
BRY_API bry_answer bry_window_has(const bry_window *window, bry_hash hash, uint64_t now);

/* answers[i] = bry_window_has(window, hashes[i], now). */
BRY_API void bry_window_has_n(const bry_window *window, const bry_hash *hashes, size_t n,
                              uint64_t now, bry_answer *answers);

/* ---- changing ------------------------------------------------------------------------------ */

/*
 * Adds an element. *was says BRY_ABSENT: it is *new*, and remembered from max(now, T) on; or
 * BRY_PRESENT: it was *seen*, or is a false positive. was may be NULL.
 * BRY_E_SKEW: now is beyond T + max_skew. BRY_E_FULL: it is new, and the ceiling is reached in a
 * window created with `refuse`; or, compact, there are so many that fingerprints cannot be made
 * longer (65,535 times the capacity, less for errors near 1e-12). BRY_E_NOMEM. After a failure T is
 * as before, too.
 */
BRY_API bry_status bry_window_add(bry_window *window, bry_hash hash, uint64_t now, bry_answer *was);

/*
 * Adds n elements at one time, all or none; was[i], where `was` is not NULL, is what
 * bry_window_add() would say at that point: the second of two equal ones was *seen*.
 */
BRY_API bry_status bry_window_add_n(bry_window *window, const bry_hash *hashes, size_t n,
                                    uint64_t now, bry_answer *was);

/*
 * Forgets an element before its time, for work that failed after it was added. *was BRY_ABSENT: it
 * was not remembered. An element with the same fingerprint is forgotten with it (a share of at most
 * `error` of the calls). BRY_E_SKEW: now is beyond T + max_skew. BRY_E_UNSUPPORTED: engine fbf.
 * BRY_E_NOMEM, where time moves.
 *
 * Right after an add that answered *new*, with the same `now`, it does not fail and takes exactly
 * that add back: the window is as bry_window_advance(window, now) would have left it.
 */
BRY_API bry_status bry_window_del(bry_window *window, bry_hash hash, uint64_t now, bry_answer *was);

/* The same by the key: with bry_window_hash(window, key, len) in place of the hash. */
BRY_API bry_answer bry_window_has_key(const bry_window *window, const void *key, size_t len,
                                      uint64_t now);
BRY_API bry_status bry_window_add_key(bry_window *window, const void *key, size_t len, uint64_t now,
                                      bry_answer *was);
BRY_API bry_status bry_window_del_key(bry_window *window, const void *key, size_t len, uint64_t now,
                                      bry_answer *was);

/*
 * Moves T to now; an earlier now does nothing. max_skew does not bind it, so this is also how an
 * event-time window gets over a long silence, once the caller trusts the stamp. Advancing in steps
 * or at once leaves the same window. Changes advance by themselves: a window that is in use does
 * not need this. BRY_E_NOMEM.
 */
BRY_API bry_status bry_window_advance(bry_window *window, uint64_t now);

/* T; 0 before the first change of a window without `start`. */
BRY_API uint64_t bry_window_time(const bry_window *window);

/*
 * Adds to `into` what `from` remembers, for as long as `from` would have; the time becomes the
 * later of the two. BRY_E_MISMATCH: engine, mode, seed, window or shape differ; or, fbf, their
 * generations did not begin at the same times (one of them ended some early: compact has no such
 * limit). BRY_E_FULL: the ceiling, in a window created with `refuse`; or, compact, the elements of
 * both would pass the promised error, for fingerprints cannot be made longer: plan the capacity of
 * windows that are to be merged for all of them. (In fbf such a merge is done, and stats show the
 * error.) BRY_E_NOMEM.
 */
BRY_API bry_status bry_window_merge(bry_window *into, const bry_window *from);

/* ---- looking in ---------------------------------------------------------------------------- */

/* A part of a window. Grows as structs with a struct_size do, see bry_window_generations(). */
typedef struct bry_window_generation {
    uint64_t begin, end; /* ms: when elements in it were added; end is UINT64_MAX while it takes
                            more. fbf: neighbours overlap */
    uint64_t items; /* elements in it */
    double fill; /* fbf: share of bits set; compact: share of all items */
} bry_window_generation;

/*
 * Stores up to `room` generations, newest first, and returns how many there are; generations may be
 * NULL when room is 0. generation_size is sizeof(bry_window_generation).
 */
BRY_API size_t bry_window_generations(const bry_window *window, bry_window_generation *generations,
                                      size_t generation_size, size_t room);

/* Begin with BRY_WINDOW_STATS. */
typedef struct bry_window_stats {
    size_t struct_size;
    bry_engine engine; /* never auto */
    bry_window_mode mode; /* of engine fbf; compact: improved */
    uint64_t seed; /* for hashing elements */
    uint64_t time; /* T */
    bool started; /* T was set, by `start` or by a change; 0 is a time like any other */
    uint64_t window; /* ms promised */
    uint64_t covered; /* ms that are remembered now, at least `window` once so much time passed */
    uint64_t items; /* elements remembered. compact: one that was in two windows which were merged,
                       or was added again with `refresh` after a burst, may count twice for a while
                     */
    uint32_t generations; /* held now */
    uint64_t ended_early; /* fbf: generations that ended because they were full */
    uint64_t resizes; /* fbf: times the number of generations was adapted */
    uint64_t refused_full; /* changes refused with BRY_E_FULL, and … */
    uint64_t refused_time; /* … for max_skew, since it was made, cleared or loaded */
    double promised_error; /* what was asked for at creation */
    double estimated_error; /* from what is stored now */
    double predicted_error; /* fbf: from the counts of elements, as the thesis computes it; else as
                               estimated */
    bool at_ceiling; /* max_bytes stands in the way of the promised error, now */
    uint64_t max_bytes; /* the ceiling; 0: none */
    uint64_t bytes; /* allocated now */
} bry_window_stats;

#define BRY_WINDOW_STATS                                                                           \
    {                                                                                              \
        sizeof(bry_window_stats), BRY_ENGINE_AUTO, BRY_WINDOW_IMPROVED, 0, 0, false, 0, 0, 0, 0,   \
            0, 0, 0, 0, 0, 0, 0, false, 0, 0                                                       \
    }

/* As in the stats, in constant time; bytes takes a step per filter in engine fbf. */
BRY_API uint64_t bry_window_items(const bry_window *window);
BRY_API uint64_t bry_window_bytes(const bry_window *window);

/* In constant time, but for a step per filter in engine fbf. */
BRY_API bry_status bry_window_get_stats(const bry_window *window, bry_window_stats *stats);

/* ---- keeping ------------------------------------------------------------------------------- */

/* Writes the window, its time included, as frames, with the note of `save`, which may be NULL: the
 * same bytes for all that were given the same changes, whatever was asked meanwhile. What the sink
 * returns, BRY_E_NOMEM, or BRY_OK; RANGE or TOOLONG for a wrong `save` (base.h). */
BRY_API bry_status bry_window_save(const bry_window *window, const bry_sink *sink,
                                   const bry_save *save);

/*
 * Reads what bry_window_save() wrote, and nothing beyond it. BRY_E_BADDATA, BRY_E_VERSION,
 * BRY_E_LIMIT, BRY_E_NOMEM, or what the source returns; load->problem and load->offset say more.
 * The window has all the options it was created with but the allocator.
 */
BRY_API bry_status bry_window_load(const bry_source *source, bry_load *load, bry_window **window);

/*
 * The same to and from a file. Saving replaces the file whole or not at all, also when the machine
 * fails meanwhile; loading refuses bytes after the end. BRY_E_IO with errno set.
 */
BRY_API bry_status bry_window_save_file(const bry_window *window, const char *path,
                                        const bry_save *save);
BRY_API bry_status bry_window_load_file(const char *path, bry_load *load, bry_window **window);

#ifdef __cplusplus
}
#endif

#endif
