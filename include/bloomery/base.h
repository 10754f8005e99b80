/*
 * Bloomery: approximate storage.
 *
 * What all other headers build on: statuses, answers, engines, the allocator, and the sinks and
 * sources that objects are saved to and loaded from.
 *
 * Rules that hold in every header:
 *
 *  - A status is not an answer. A function that can fail returns a bry_status: BRY_OK or a negative
 *    code. The result of a question (absent, present, unsure) is a bry_answer. A function that
 *    cannot fail returns its answer directly.
 *  - A call that fails leaves its object unchanged and writes nothing through its output pointers.
 *    There are four exceptions. A load that fails sets `problem` and `offset` of bry_load, and
 *    leaves in its note what was read of it. Stats count what was refused. bry_map_sweep() and
 *    bry_index_step() work in portions, and keep those that are complete. bry_counters_apply() and
 *    bry_counters_apply_n() move the time, so that ids expire, also when they return BRY_E_FULL,
 *    or BRY_E_IO because the log cannot be written; so does bry_counters_advance() with BRY_E_IO.
 *    A table whose log cannot be written takes no more changes.
 *  - Absent. A call that answers BRY_ABSENT or BRY_UNSURE writes no value: *value is set only with
 *    BRY_PRESENT.
 *  - Clear. bry_…_clear() leaves an object as it was created, with the same options and the same
 *    seed. Counts in the stats start again at 0. Only the time of a window or a table of counters
 *    stays.
 *  - Options are structs with an initializer (BRY_…_OPTIONS). Zero in a field means the default,
 *    which is documented at the field. A NULL pointer to options means all defaults.
 *  - Structs grow. Options, shapes and statistics may get further fields in later versions, always
 *    at their end. The library knows the size that the caller was compiled with. Options begin
 *    with it, struct_size, which the initializers set (BRY_…_OPTIONS, BRY_SAVE, BRY_LOAD). For a
 *    struct that the library fills, and for the elements of an array, it is an argument:
 *    bry_…_plan(), _get_stats(), _options_like() and some others are inline and call the function
 *    with the same name and _sized, so such a struct needs no initializer. Programs and libraries
 *    of different versions can then be mixed:
 *      - The caller's struct is shorter: options that it lacks have their defaults, and results
 *        that do not fit are omitted. (bry_…_options_like() returns BRY_E_RANGE if an option that
 *        does not fit is set.)
 *      - The caller's struct is longer: results that the library does not know are 0. Options that
 *        it does not know must be 0, or the call returns BRY_E_RANGE.
 *      - For a size that no version has, the call returns BRY_E_RANGE, or 0 if it returns a count.
 *    Other structs never change. Structs have no padding: fields called `reserved` take its place,
 *    and room that later versions may need. They must be 0 in options, which the initializers
 *    ensure, and are 0 in results.
 *  - Fields that are either 0 or 1 have the type uint32_t; other values are BRY_E_RANGE.
 *  - What concerns a single engine is in a struct with its name, at the end (options.kbf, stats.kbf
 *    and so on). Most users never need it. Options of an engine set an exact shape, or reproduce a
 *    paper: leave them 0 for other engines; otherwise the call returns BRY_E_UNSUPPORTED. Results
 *    of other engines are 0.
 *  - Plan before create. bry_…_plan() computes bytes and errors without allocating anything, and
 *    bry_…_create() with the same options uses the same numbers. bytes_empty is what create
 *    allocates, exact to the byte. `bytes` is the memory with everything added that was planned
 *    for; it is exact for filters of engine bloom, and elsewhere an estimate, mostly within a few
 *    per cent.
 *  - Keys and hashes. Calls whose name ends in _key take a key, which is any sequence of bytes. All
 *    others take its hash. Hash a key once with bry_…_hash() of the object, then pass the hash to
 *    any number of calls on that object and on others with the same seed.
 *  - Batches. A function whose name ends in _n gives exactly the results of n single calls, only
 *    faster. If it writes, it is all or nothing; whether there is room is decided for all of them
 *    before the first.
 *  - *was, where a call has it, is the answer before the change: BRY_PRESENT or BRY_ABSENT. The
 *    pointer may be NULL. (Commands of the server answer the other way round: 1 for what is new.)
 *  - Ownership. What bry_…_create(), _clone() or _load() returns is yours until you pass it to
 *    bry_…_destroy(), which accepts NULL. Pointers that you pass in are read during the call and
 *    not kept, except for the allocator's functions and its opaque pointer.
 *  - Threads. Functions that take a const object may run concurrently. A function that changes an
 *    object needs exclusive access to it. The library has no threads and no locks.
 *  - Stack: no call needs more than 32 KB, besides what the caller's own functions need
 *    (allocator, sink, source, supplier, judge).
 *  - Time is an argument, in milliseconds. The library does not read a clock.
 *
 * Bloomery runs on 64-bit machines only. <bloomery.h> includes all headers.
 */
#ifndef BLOOMERY_BASE_H
#define BLOOMERY_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if SIZE_MAX < UINT64_MAX
#error "Bloomery needs a 64-bit machine: sizes and counts are 64 bits wide."
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define BRY_VERSION_MAJOR 0
#define BRY_VERSION_MINOR 1
#define BRY_VERSION_PATCH 0
/* 1 in a release; 0 in any other build, whose version ends in "-dev". */
#ifndef BRY_VERSION_RELEASE
#define BRY_VERSION_RELEASE 0
#endif

#if defined(_WIN32)
#define BRY_API
#elif defined(__GNUC__)
#define BRY_API __attribute__((visibility("default")))
#else
#define BRY_API
#endif

/* The version of the library that runs, such as "0.1.0" or, when not a release, "0.1.0-dev". */
BRY_API const char *bry_version(void);

/* The version of the headers, for comparisons: 10000 * major + 100 * minor + patch. */
#define BRY_VERSION_NUMBER                                                                         \
    (10000u * BRY_VERSION_MAJOR + 100u * BRY_VERSION_MINOR + BRY_VERSION_PATCH)

/* ---- statuses ------------------------------------------------------------------------------ */

/*
 * Names and values never change. Errors of the server begin with the same words; it has some of
 * its own, such as NOGUARD.
 */
#define BRY_STATUS_LIST(X)                                                                         \
    X(NOMEM, -1) /* out of memory */                                                               \
    X(RANGE, -2) /* an argument is out of range */                                                 \
    X(FULL, -3) /* the capacity or the memory limit is reached */                                  \
    X(MISMATCH, -4) /* engine, seed or shape differ; create one object with the other's options */ \
    X(UNSURE, -5) /* the stored value is ambiguous, so nothing was changed */                      \
    X(BADDATA, -6) /* the data is damaged, truncated or not Bloomery's */                          \
    X(VERSION, -7) /* the data was written in a format that this build does not read */            \
    X(LIMIT, -8) /* the data needs more memory than the limit allows */                            \
    X(IO, -9) /* reading or writing failed; see errno */                                           \
    X(NOUNIT, -10) /* there is no such unit */                                                     \
    X(UNSUPPORTED, -11) /* not supported by this engine, or for this kind of values */             \
    X(STOPPED, -12) /* for callbacks that want to end a call */                                    \
    X(SEALED, -13) /* the unit is sealed and accepts no more elements */                           \
    X(SKEW, -14) /* the time is further ahead than max_skew allows */                              \
    X(OVERFLOW, -15) /* a counter would overflow 64 bits */                                        \
    X(TOOLONG, -16) /* a name, value, note or batch is too long */                                 \
    X(NOTFOUND, -17) /* cluster: there is no such map or table */                                  \
    X(WRONGTYPE, -18) /* cluster: the key holds another type */

typedef enum bry_status {
    BRY_OK = 0,
#define BRY_STATUS_ENUM(name, value) BRY_E_##name = (value),
    BRY_STATUS_LIST(BRY_STATUS_ENUM)
#undef BRY_STATUS_ENUM
} bry_status;

/* The name of a status: "OK", "NOMEM" and so on; "UNKNOWN" for a value not in the list. */
BRY_API const char *bry_status_word(bry_status status);

/* One line of text that explains the status to people. */
BRY_API const char *bry_status_text(bry_status status);

/* ---- answers ------------------------------------------------------------------------------- */

/* One byte, so that a single call and a batch have answers of the same type. */
typedef uint8_t bry_answer;
enum {
    BRY_ABSENT = 0, /* not there */
    BRY_PRESENT = 1, /* there, within the error that the object was created with */
    BRY_UNSURE = 2, /* the structure cannot decide; only engine kbf gives this answer */
};

/* ---- engines ------------------------------------------------------------------------------- */

/* Names and numbers never change. Each header says which engines its job has, and <bloomery/job.h>
 * lists them. */
#define BRY_ENGINE_LIST(X)                                                                         \
    X(AUTO, 0, "auto") /* the best for most users; never one that answers BRY_UNSURE */            \
    X(BLOOM, 1, "bloom") /* filter: a Bloom filter in blocks of one cache line */                  \
    X(COMPACT, 2, "compact") /* every job: the maplet, a table of fingerprints and values */       \
    X(KBF, 3, "kbf") /* map: key-value Bloom filter */                                             \
    X(FBF, 4, "fbf") /* window: forgetful Bloom filter */                                          \
    X(DBA, 5, "dba") /* index: bit-sliced array of Bloom filters */

/* How an object stores its data. */
typedef uint32_t bry_engine;
enum {
#define BRY_ENGINE_ENUM(word, number, name) BRY_ENGINE_##word = (number),
    BRY_ENGINE_LIST(BRY_ENGINE_ENUM)
#undef BRY_ENGINE_ENUM
};

/* "auto", "bloom", "compact" and so on; NULL for a value not in the list. */
BRY_API const char *bry_engine_name(bry_engine engine);

/* The engine with that name. BRY_E_RANGE: no such engine. */
BRY_API bry_status bry_engine_parse(const char *name, bry_engine *engine);

/* The shape of engine compact, in the plan of each job. */
typedef struct bry_compact_shape {
    uint32_t fingerprint_bits; /* of the first table; 0 for other engines */
    uint32_t reserved[7]; /* 0 */
} bry_compact_shape;

/* ---- limits -------------------------------------------------------------------------------- */

/* Limits that the options of all jobs share; each header adds its own. Beyond them, a call returns
 * BRY_E_RANGE. */
#define BRY_CAPACITY_MAX ((uint64_t)1 << 40) /* keys, elements or operations to plan for */
#define BRY_ERROR_MAX 0.5 /* the largest error */
#define BRY_SPAN_MAX ((uint64_t)1 << 52) /* the longest window, in milliseconds: 142,000 years */

/* ---- memory -------------------------------------------------------------------------------- */

/*
 * Where an object gets its memory. alloc returns size bytes with the alignment of malloc(), or
 * NULL; the library clears the memory and aligns it further where necessary. free receives the size
 * that was passed to alloc. Both are called only during calls on the object. Without an allocator,
 * an object uses malloc() and free().
 */
typedef struct bry_allocator {
    void *(*alloc)(void *opaque, size_t size); /* size bytes, or NULL */
    void (*free)(void *opaque, void *block, size_t size); /* block is never NULL */
    void *opaque; /* passed to both */
} bry_allocator;

/* ---- sinks, sources, loading --------------------------------------------------------------- */

/* Where bytes go. write takes all len bytes or returns a status other than BRY_OK. */
typedef struct bry_sink {
    bry_status (*write)(void *opaque, const void *bytes, size_t len); /* all len bytes */
    void *opaque; /* passed to write */
} bry_sink;

/*
 * Where bytes come from. read stores between 1 and len bytes and sets *got, or sets *got to 0 at
 * the end of the data. Any status other than BRY_OK is returned by the load.
 */
typedef struct bry_source {
    bry_status (*read)(void *opaque, void *bytes, size_t len, size_t *got); /* at most len bytes */
    void *opaque; /* passed to read */
} bry_source;

/* A growing block of memory as a sink. Initialize with BRY_BUFFER, free with bry_buffer_free(). */
typedef struct bry_buffer {
    unsigned char *bytes; /* from malloc(); NULL while it is empty */
    size_t len, capacity; /* bytes written, and bytes allocated */
} bry_buffer;
#define BRY_BUFFER                                                                                 \
    {                                                                                              \
        NULL, 0, 0                                                                                 \
    }
/* A sink that appends to the buffer. Its write returns BRY_E_NOMEM if there is not enough
 * memory. */
BRY_API bry_sink bry_buffer_sink(bry_buffer *buffer);
/* Frees the bytes and empties the buffer, which can be used again. */
BRY_API void bry_buffer_free(bry_buffer *buffer);

/* Bytes in memory as a source. The view must outlive the source. */
typedef struct bry_view {
    const void *bytes; /* owned by the caller */
    size_t len, at; /* how many there are, and how many have been read */
} bry_view;
/* A source that reads the view from `at` on, and moves `at`. */
BRY_API bry_source bry_view_source(bry_view *view);

/*
 * How to save; NULL means no note. A *note* is data of the caller that is saved with an object, in
 * the same stream and protected by its checksums: the purpose of the object, names of its units,
 * options of the program. The object itself does not keep it. To load an object and save it again
 * with its note, ask for the note when loading (bry_load.note) and pass it on.
 *
 *     bry_save save = BRY_SAVE;
 *     save.note = "made by nightly", save.note_len = strlen("made by nightly");
 *     status = bry_map_save_file(map, "pages.map", &save);
 *
 * Every bry_…_save…() returns BRY_E_TOOLONG if the note is longer than BRY_NOTE_MAX, and
 * BRY_E_RANGE if struct_size is wrong. Nothing has been written to the sink then, and a file or
 * directory is unchanged. It may also return BRY_E_NOMEM, and what the sink returns.
 */
typedef struct bry_save {
    size_t struct_size;
    const void *note; /* read during the call */
    size_t note_len; /* 0: no note */
} bry_save;
#define BRY_SAVE                                                                                   \
    {                                                                                              \
        sizeof(bry_save), NULL, 0                                                                  \
    }

/* The longest note, in bytes: 1 GiB. */
#define BRY_NOTE_MAX ((size_t)1 << 30)

/*
 * How to load, and what went wrong. Every load validates its input.
 * NULL means no memory limit, malloc() and no explanation.
 */
typedef struct bry_load {
    size_t struct_size;
    uint64_t max_bytes; /* limit on the memory of the loaded object; 0: none. Beyond: BRY_E_LIMIT.
                           While it runs, a load needs up to 512 KB more for buffers */
    const bry_allocator *allocator; /* for the loaded object; NULL: malloc() and free() */
    bry_buffer *note; /* receives the note (bry_save), replacing its contents; len is 0 if there is
                         no note. NULL: a note is checked and discarded. The note precedes the
                         object: after a failure the buffer holds the intact part that was read,
                         nothing if the file could not be opened */
    size_t note_max; /* BRY_E_LIMIT for a longer note, unless discarded; 0: BRY_NOTE_MAX */
    uint64_t offset; /* set by a load that fails: where in the source the problem is, in bytes; if a
                        checksum is wrong, the beginning of what it covers. 0 after success */
    const char *problem; /* set by a load that fails: what is wrong, as a constant string. NULL
                            after success. If struct_size is wrong, nothing is set */
} bry_load;
#define BRY_LOAD                                                                                   \
    {                                                                                              \
        sizeof(bry_load), 0, NULL, NULL, 0, 0, NULL                                                \
    }

/* ---- the machine --------------------------------------------------------------------------- */

/*
 * The instruction set that the bit kernels use: "scalar", "avx2", "avx512" or "neon". All give the
 * same results. The best one is chosen at the first use. The environment variable BLOOMERY_ISA
 * selects another; it is ignored if the machine cannot run it.
 */
BRY_API const char *bry_isa(void);

#ifdef __cplusplus
}
#endif

#endif
