/*
 * Window: have I seen this in the last T?
 *
 * A window remembers each element for a promised time after it was added, and forgets it soon
 * after. For an element that it does not remember it answers "seen" with a probability of at most
 * `error`.
 *
 * The promise: if adding an element at time a returned *new*, the element is found at every time up
 * to a + window, under any load. (The only exception is bry_window_del().) It may be found for up
 * to one generation longer. If adding returned *seen*, nothing was stored and nothing is promised,
 * because it may have been a false positive. In a window created with `refresh`, adding an element
 * again remembers it for another full window.
 *
 * Time is the argument `now`, in milliseconds from any fixed origin. The time T of a window is the
 * largest `now` of any change. A change with an earlier `now` happens at T, so a clock that is set
 * back neither makes the window forget early nor restores anything. Queries do not move T: they
 * answer as of max(now, T) and leave the window unchanged. A jump forward of any length costs no
 * more than the end of each generation of one window; compact frees what has expired in steps
 * during the following changes, so after a pause its memory may exceed max_bytes for a while. If
 * times come from outside (event time), set max_skew: otherwise a single time in microseconds would
 * move T by centuries and expire everything.
 *
 * At capacity: memory follows the load, up and down, and the error stays within `error` at any
 * rate. fbf ends a generation early when it holds the number that its error was planned for, and
 * starts another; compact gives elements beyond the capacity longer fingerprints. At the memory
 * limit max_bytes a window either refuses to add with BRY_E_FULL (`refuse`), or exceeds `error`,
 * which stats show (fbf only).
 *
 * Engines:
 *   compact  (the default) the fingerprint and the generation of each element. It takes the least
 *            memory and can forget a single element.
 *   fbf      the forgetful Bloom filter: a row of Bloom filters, each for a span of time. auto
 *            chooses it if max_bytes is set and `refuse` is not, because only fbf can trade error
 *            for memory.
 */
#ifndef BLOOMERY_WINDOW_H
#define BLOOMERY_WINDOW_H

#include <bloomery/base.h>
#include <bloomery/hash.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bry_window bry_window;

/* The smallest error, and the largest number of generations. */
#define BRY_WINDOW_ERROR_MIN 1e-12
#define BRY_WINDOW_GENERATIONS_MAX 1024u

/* Options of engine fbf: the exact shape, as options_like() copies it. Both 0: planned from capacity
 * and error. */
typedef struct bry_window_fbf {
    uint64_t bits; /* of one filter; at most 4096 * (capacity + 4096) */
    uint32_t hashes; /* bits per element in one filter, 1 to 64 */
    uint32_t reserved[9]; /* 0 */
} bry_window_fbf;

typedef struct bry_window_options {
    size_t struct_size;
    bry_engine engine; /* auto, compact or fbf */
    uint32_t generations; /* parts that a window is divided into, 1 to BRY_WINDOW_GENERATIONS_MAX.
                             Elements are kept for up to one part longer than promised: more parts
                             forget sooner, and cost time. 0: compact 13, which takes the least
                             memory; fbf 8 */
    uint64_t window; /* promised time in ms, 1 to BRY_SPAN_MAX; 0: 60,000 */
    uint64_t capacity; /* elements within one window to plan for, 1 to BRY_CAPACITY_MAX; 0: 1000.
                          Not a limit (see "At capacity") */
    double error; /* BRY_WINDOW_ERROR_MIN to BRY_ERROR_MAX; 0: 0.001 */
    uint64_t max_bytes; /* limit on its memory; 0: none. BRY_E_RANGE if less than bytes_least of the
                           plan. compact: BRY_E_UNSUPPORTED without `refuse` */
    uint32_t refuse; /* at max_bytes, 1: return BRY_E_FULL; 0: exceed `error` */
    uint32_t fixed; /* 1: do not adapt to the load. Generations of fbf end by time only;
                       fingerprints of compact have one length, and are shorter. The error depends
                       on the load */
    uint32_t refresh; /* 1: adding an element again remembers it for another window */
    uint32_t reserved; /* 0 */
    uint64_t max_skew; /* a change is refused if `now` is later than T + max_skew; 0: no limit */
    uint64_t start; /* T at creation; 0: the first change sets it, regardless of max_skew */
    uint64_t seed; /* for hashing elements; 0: random */
    const bry_allocator *allocator; /* NULL: malloc() and free() */
    bry_window_fbf fbf; /* engine fbf only */
} bry_window_options;

#define BRY_WINDOW_OPTIONS                                                                         \
    {                                                                                              \
        sizeof(bry_window_options), BRY_ENGINE_AUTO, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL,     \
        {                                                                                          \
            0, 0,                                                                                  \
            {                                                                                      \
                0                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

/* The shape of engine fbf. */
typedef struct bry_window_fbf_shape {
    uint64_t bits; /* of one filter */
    uint32_t hashes; /* bits per element in it */
    uint32_t reserved[5]; /* 0 */
} bry_window_fbf_shape;

/* The memory and error of a window with given options. */
typedef struct bry_window_shape {
    bry_engine engine; /* never auto */
    uint32_t generations; /* held at the same time: more than the parts of a window in the options,
                             because of those that are being filled and expire */
    uint64_t window; /* promised time, ms */
    uint64_t longest; /* ms after which an element is certainly forgotten */
    uint64_t capacity; /* elements within one window that it is planned for */
    double error; /* expected at the worst moment, with `capacity` elements in each window */
    uint64_t bytes; /* at that moment */
    uint64_t bytes_empty; /* allocated by create */
    uint64_t bytes_least; /* the smallest max_bytes with which elements can be added */
    uint64_t grows_to; /* compact: elements at which it is full: BRY_CAPACITY_MAX or, because
                          fingerprints have at most 62 bits, fewer if the error is small, but at
                          least error · 2^54. fbf: 0, only memory limits it */
    bry_compact_shape compact; /* engine compact only */
    bry_window_fbf_shape fbf; /* engine fbf only */
} bry_window_shape;

/* bry_window_plan() for a struct of `size` bytes (base.h). */
BRY_API bry_status bry_window_plan_sized(const bry_window_options *options, bry_window_shape *shape,
                                         size_t size);

/*
 * Fills *shape without allocating anything.
 * BRY_E_RANGE: an option is out of range, or the error is too small for the capacity.
 * BRY_E_UNSUPPORTED: windows do not have that engine, or the engine does not have that option.
 */
static inline bry_status bry_window_plan(const bry_window_options *options, bry_window_shape *shape)
{
    return bry_window_plan_sized(options, shape, sizeof *shape);
}

/* Creates an empty window. Errors: those of bry_window_plan(); BRY_E_NOMEM; BRY_E_IO if the system
 * cannot provide a random seed. */
BRY_API bry_status bry_window_create(const bry_window_options *options, bry_window **window);

/* bry_window_options_like() for a struct of `size` bytes (base.h). */
BRY_API bry_status bry_window_options_like_sized(const bry_window *other,
                                                 bry_window_options *options, size_t size);

/*
 * Sets options that create a window which can be merged with `other`: same engine, seed, shape and
 * generations, the time of `other` as `start`, and the default allocator. They stay valid when
 * `other` is destroyed.
 */
static inline bry_status bry_window_options_like(const bry_window *other,
                                                 bry_window_options *options)
{
    return bry_window_options_like_sized(other, options, sizeof *options);
}

/* Frees the window. NULL is allowed. */
BRY_API void bry_window_destroy(bry_window *window);

/* Creates a copy with its own memory. allocator NULL: the allocator of the original.
 * BRY_E_NOMEM. */
BRY_API bry_status bry_window_clone(const bry_window *window, const bry_allocator *allocator,
                                    bry_window **copy);

/* Forgets every element ("Clear" in base.h). */
BRY_API void bry_window_clear(bry_window *window);

/* The seed to hash elements with. */
BRY_API uint64_t bry_window_seed(const bry_window *window);

/* The engine; never auto. */
BRY_API bry_engine bry_window_engine(const bry_window *window);

/* The number of elements within one window that it was planned for. */
BRY_API uint64_t bry_window_capacity(const bry_window *window);

/* The hash of an element for this window: bry_hash_key() with its seed. */
static inline bry_hash bry_window_hash(const bry_window *window, const void *key, size_t len)
{
    return bry_hash_key(bry_window_seed(window), key, len);
}

/* ---- looking up ----------------------------------------------------------------------------- */

/* BRY_PRESENT: seen within the window that ends at max(now, T). BRY_ABSENT: not seen. */
BRY_API bry_answer bry_window_has(const bry_window *window, bry_hash hash, uint64_t now);

/* answers[i] = bry_window_has(window, hashes[i], now). */
BRY_API void bry_window_has_n(const bry_window *window, const bry_hash *hashes, size_t n,
                              uint64_t now, bry_answer *answers);

/* ---- changing ------------------------------------------------------------------------------- */

/*
 * Adds an element. *was is BRY_ABSENT if it is *new*; it is remembered from max(now, T) on. *was is
 * BRY_PRESENT if it was *seen* or is a false positive. was may be NULL.
 * BRY_E_SKEW: now is later than T + max_skew. BRY_E_FULL: the element is new, and a window created
 * with `refuse` has reached max_bytes; or, compact, the window has `grows_to` elements (see its
 * plan). BRY_E_NOMEM. A failure leaves T unchanged, too.
 */
BRY_API bry_status bry_window_add(bry_window *window, bry_hash hash, uint64_t now, bry_answer *was);

/*
 * Adds n elements at the same time, all or none. was[i] is what bry_window_add() would return at
 * that point, so the second of two equal elements is *seen*; was may be NULL.
 */
BRY_API bry_status bry_window_add_n(bry_window *window, const bry_hash *hashes, size_t n,
                                    uint64_t now, bry_answer *was);

/*
 * Forgets an element before it expires, for example because the work for it failed. *was is
 * BRY_ABSENT if it was not remembered. Another element with the same fingerprint is forgotten with
 * it; this happens in a share of at most `error` of the calls. BRY_E_SKEW: now is later than
 * T + max_skew. BRY_E_UNSUPPORTED: engine fbf. BRY_E_NOMEM, if time moves.
 *
 * Directly after an add that returned *new*, with the same `now`, it does not fail and undoes
 * exactly that add: the window is as bry_window_advance(window, now) would have left it.
 */
BRY_API bry_status bry_window_del(bry_window *window, bry_hash hash, uint64_t now, bry_answer *was);

/* The same with a key instead of its hash, bry_window_hash(window, key, len). */
static inline bry_answer bry_window_has_key(const bry_window *window, const void *key, size_t len,
                                            uint64_t now)
{
    return bry_window_has(window, bry_window_hash(window, key, len), now);
}

static inline bry_status bry_window_add_key(bry_window *window, const void *key, size_t len,
                                            uint64_t now, bry_answer *was)
{
    return bry_window_add(window, bry_window_hash(window, key, len), now, was);
}

static inline bry_status bry_window_del_key(bry_window *window, const void *key, size_t len,
                                            uint64_t now, bry_answer *was)
{
    return bry_window_del(window, bry_window_hash(window, key, len), now, was);
}

/*
 * Moves T to now; an earlier now does nothing. max_skew does not apply: this is how an event-time
 * window is moved past a long gap, once the caller trusts the new time. Advancing in steps or at
 * once has the same result. Every change advances the time by itself, so a window in use does not
 * need this. BRY_E_NOMEM.
 */
BRY_API bry_status bry_window_advance(bry_window *window, uint64_t now);

/* The time T; 0 before the first change of a window without `start`. */
BRY_API uint64_t bry_window_time(const bry_window *window);

/*
 * Adds to `into` what `from` remembers, for as long as `from` would have remembered it. T becomes
 * the later of the two. BRY_E_MISMATCH: engine, seed, window or shape differ; or, fbf only, the
 * generations did not begin at the same times, because one window ended some early. BRY_E_FULL:
 * max_bytes is reached in a window created with `refuse`; or, compact, the elements of both would
 * exceed the promised error, because a merge cannot lengthen fingerprints. Plan windows that are to
 * be merged for the elements of all of them. (fbf does such a merge, and stats show the error.)
 * BRY_E_NOMEM.
 */
BRY_API bry_status bry_window_merge(bry_window *into, const bry_window *from);

/* ---- inspecting ----------------------------------------------------------------------------- */

/* A part of a window. */
typedef struct bry_window_generation {
    uint64_t begin; /* ms: when its first elements were added. fbf: neighbours overlap */
    uint64_t end; /* ms: when the last ones were added; UINT64_MAX while it accepts more */
    uint64_t items; /* elements in it */
    double fill; /* fbf: share of bits set; compact: share of all items */
} bry_window_generation;

/* bry_window_generations() for elements of `size` bytes (base.h). */
BRY_API size_t bry_window_generations_sized(const bry_window *window,
                                            bry_window_generation *generations, size_t room,
                                            size_t size);

/* Stores up to `room` generations, newest first, and returns how many there are. generations may be
 * NULL if room is 0. */
static inline size_t bry_window_generations(const bry_window *window,
                                            bry_window_generation *generations, size_t room)
{
    return bry_window_generations_sized(window, generations, room, sizeof *generations);
}

/* The state of engine fbf. */
typedef struct bry_window_fbf_stats {
    uint64_t ended_early; /* generations that ended because they were full */
    uint64_t resizes; /* how often the number of generations was adapted */
    double predicted_error; /* computed from the numbers of elements, as in the thesis */
    uint64_t reserved[3]; /* 0 */
} bry_window_fbf_stats;

/* The state of a window. */
typedef struct bry_window_stats {
    bry_engine engine; /* never auto */
    uint32_t generations; /* held now */
    uint64_t seed; /* for hashing elements */
    uint64_t time; /* T */
    uint32_t started; /* 1: T was set, by `start` or by a change; 0 is a valid time */
    uint32_t at_limit; /* 1: max_bytes is reached: new elements are refused (`refuse`), or
                          exceed `error` */
    uint64_t window; /* promised time, ms */
    uint64_t covered; /* ms remembered now; at least `window` once that time has passed */
    uint64_t items; /* elements remembered. compact: an element that was in both of two merged
                       windows, or was added again with `refresh` after a burst, may count twice for
                       a while */
    uint64_t refused_full; /* changes refused with BRY_E_FULL since it was created or loaded */
    uint64_t refused_skew; /* changes refused with BRY_E_SKEW since it was created or loaded */
    double promised_error; /* the error in the options */
    double estimated_error; /* computed from what is stored now */
    uint64_t max_bytes; /* the memory limit; 0: none */
    uint64_t bytes; /* allocated now */
    bry_window_fbf_stats fbf; /* engine fbf only */
} bry_window_stats;

/* items and bytes of the stats, in constant time. */
BRY_API uint64_t bry_window_items(const bry_window *window);
BRY_API uint64_t bry_window_bytes(const bry_window *window);

/* bry_window_get_stats() for a struct of `size` bytes (base.h). */
BRY_API bry_status bry_window_get_stats_sized(const bry_window *window, bry_window_stats *stats,
                                              size_t size);

/* Fills *stats, in constant time; with fbf, a step per filter. */
static inline bry_status bry_window_get_stats(const bry_window *window, bry_window_stats *stats)
{
    return bry_window_get_stats_sized(window, stats, sizeof *stats);
}

/* ---- saving and loading --------------------------------------------------------------------- */

/* Writes the window and its time as frames (doc/format.md), with the note of `save`, which may be
 * NULL and has the errors (base.h). Windows that got the same changes give the same bytes; queries
 * make no difference. */
BRY_API bry_status bry_window_save(const bry_window *window, const bry_sink *sink,
                                   const bry_save *save);

/*
 * Reads what bry_window_save() wrote, and nothing beyond it. BRY_E_BADDATA, BRY_E_VERSION,
 * BRY_E_LIMIT, BRY_E_NOMEM, or what the source returned; load->problem and load->offset give
 * details. The window has all options that it was created with, except the allocator.
 */
BRY_API bry_status bry_window_load(const bry_source *source, bry_load *load, bry_window **window);

/*
 * The same to and from a file. Saving is atomic: the file has the old or the new contents, even if
 * the machine crashes. Loading refuses bytes after the end. BRY_E_IO with errno set.
 */
BRY_API bry_status bry_window_save_file(const bry_window *window, const char *path,
                                        const bry_save *save);
BRY_API bry_status bry_window_load_file(const char *path, bry_load *load, bry_window **window);

#ifdef __cplusplus
}
#endif

#endif
