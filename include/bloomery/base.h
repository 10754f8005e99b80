/*
 * Bloomery: approximate storage.
 *
 * What every other header of Bloomery stands on: statuses, answers, engines, the allocator, and
 * the sinks and sources that objects are saved to and loaded from.
 *
 * Rules that hold in every header:
 *
 *  - A status is not an answer. A function that can fail returns a bry_status: BRY_OK or a negative
 *    code. What was asked (absent, present, unsure) is a bry_answer. A function that cannot fail
 *    returns its answer directly.
 *  - A call that fails leaves its object as it was, and writes nothing through its out-pointers
 *    (one exception: bry_load, which says what was wrong with the data).
 *  - Options are structs with an initializer (BRY_…_OPTIONS). Zero in a field means the default
 *    that is written beside it. A NULL pointer to options means: all defaults.
 *  - Structs grow. One that begins with struct_size (options, shapes, statistics) gets further
 *    fields in later versions, always at its end. struct_size is the size of the struct as the
 *    caller was compiled with it. The initializers (BRY_…_OPTIONS, _SHAPE, _STATS and so on) set
 *    it; who fills a struct without one has to, also where the library fills the rest. Programs
 *    and libraries of different versions then work together. Options that the caller's struct is
 *    too short for have their defaults, and results that it is too short for are left out
 *    (bry_…_options_like() is BRY_E_RANGE instead where an option is set that does not fit). Where
 *    the caller's struct is the longer one, results that the library does not know are 0, and
 *    options that it does not know have to be 0: BRY_E_RANGE otherwise. BRY_E_RANGE, too, for a
 *    struct_size that no version has. In arrays the caller passes the size of an element instead.
 *    Structs without a struct_size never change.
 *  - Options of one engine stand in a struct of its name at the end (options.kbf and so on). Most
 *    users never need them: they fix a shape, or reproduce what a paper did. All of them 0 is what
 *    any engine takes; for another engine than theirs they are BRY_E_UNSUPPORTED.
 *  - Plan before create: bry_…_plan() tells bytes and errors without allocating anything;
 *    bry_…_create() with the same options uses the same numbers. bytes_empty is what it allocates,
 *    to the byte. `bytes`, when all that was planned for is in, is exact for filters of engine
 *    bloom, and elsewhere an estimate, mostly within a few per cent.
 *  - Keys and hashes. Calls whose name ends in _key take a key, any bytes. All others take its
 *    hash, a value: hash a key once with bry_…_hash() of the object, then pass the hash to any
 *    number of calls on it, and on objects that have the same seed.
 *  - Batches: a function whose name ends in _n gives exactly what n single calls give, only faster.
 *    One that writes is all or nothing.
 *  - Ownership: what bry_…_create(), _clone() or _load() hands out is yours until bry_…_destroy();
 *    destroy takes NULL. Pointers that you pass in are read during the call and never kept, but for
 *    the allocator's functions and its opaque pointer.
 *  - Threads: functions that take a const object may run at the same time as each other. A function
 *    that changes the object needs it for itself. The library has no threads and no locks.
 *  - Time is an argument, in milliseconds. The library reads no clock.
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
/* 1 in a release, 0 in any other build: see doc/format.md for what that means for files. */
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

/* The same as a number to compare: 10000 * major + 100 * minor + patch. BRY_VERSION_NUMBER is that
 * of the headers that a program was compiled with. */
#define BRY_VERSION_NUMBER                                                                         \
    (10000u * BRY_VERSION_MAJOR + 100u * BRY_VERSION_MINOR + BRY_VERSION_PATCH)
BRY_API uint32_t bry_version_number(void);

/* ---- statuses ------------------------------------------------------------------------------ */

/*
 * One list for the library, the command line and the server: name, value (pinned for good), text.
 * The name is also the word that the program and the server print.
 */
#define BRY_STATUS_LIST(X)                                                                         \
    X(NOMEM, -1, "out of memory")                                                                  \
    X(RANGE, -2, "an argument is out of range")                                                    \
    X(FULL, -3, "full: the planned capacity or the memory ceiling is reached")                     \
    X(MISMATCH, -4, "seed or shape differ: create one with options like the other's")              \
    X(UNSURE, -5, "the stored value cannot be told, so nothing was changed")                       \
    X(BADDATA, -6, "the data is damaged, cut short, or not Bloomery's")                            \
    X(VERSION, -7, "the data was written in a format that this build does not read")               \
    X(LIMIT, -8, "the data asks for more memory than the ceiling allows")                          \
    X(IO, -9, "reading or writing failed; errno tells why")                                        \
    X(NOUNIT, -10, "there is no such unit")                                                        \
    X(UNSUPPORTED, -11, "this engine cannot do that")                                              \
    X(STOPPED, -12, "a callback asked to stop")                                                    \
    X(SEALED, -13, "the unit is sealed and takes no more elements")                                \
    X(SKEW, -14, "the time is further ahead than max_skew allows")                                 \
    X(OVERFLOW, -15, "a counter would pass 64 bits")                                               \
    X(TOOLONG, -16, "a name, a value, a note or a batch is too long")

typedef enum bry_status {
    BRY_OK = 0,
#define BRY_STATUS_ENUM(name, value, text) BRY_E_##name = (value),
    BRY_STATUS_LIST(BRY_STATUS_ENUM)
#undef BRY_STATUS_ENUM
} bry_status;

/* The word of a status, "OK" or "NOMEM" and so on; "UNKNOWN" for a value not in the list. */
BRY_API const char *bry_status_word(bry_status status);

/* One line, for people, that says what the status means. */
BRY_API const char *bry_status_text(bry_status status);

/* ---- answers ------------------------------------------------------------------------------- */

/* One byte, so that the answer of one call and those of a batch are of one type. */
typedef uint8_t bry_answer;
enum {
    BRY_ABSENT = 0, /* not there */
    BRY_PRESENT = 1, /* there, up to the error the object was created with */
    BRY_UNSURE = 2, /* there or not, the structure cannot tell (engine kbf alone gives this) */
};

/* ---- engines ------------------------------------------------------------------------------- */

/* What an object is made of. Each header says which of these its job knows. */
typedef enum bry_engine {
    BRY_ENGINE_AUTO = 0, /* the one that suits most users; never one that answers BRY_UNSURE */
    BRY_ENGINE_BLOOM = 1, /* filter: a Bloom filter in blocks of one cache line */
    BRY_ENGINE_COMPACT = 2, /* every job: the maplet, a table of fingerprints and values */
    BRY_ENGINE_KBF = 3, /* map: key-value Bloom filter */
    BRY_ENGINE_FBF = 4, /* window: forgetful Bloom filter */
    BRY_ENGINE_DBA = 5, /* index: bit-sliced array of Bloom filters */
} bry_engine;

/* "auto", "bloom", "compact", "kbf", "fbf", "dba"; NULL for a value that is not in the list. */
BRY_API const char *bry_engine_name(bry_engine engine);

/* The engine of that name. BRY_E_RANGE when there is none. */
BRY_API bry_status bry_engine_parse(const char *name, bry_engine *engine);

/* ---- limits -------------------------------------------------------------------------------- */

/* What the options of every job have in common; each header adds its own. Past them: BRY_E_RANGE.
 */
#define BRY_CAPACITY_MAX ((uint64_t)1 << 40) /* keys, elements or operations to plan for */
#define BRY_ERROR_MAX 0.5 /* the largest error that can be asked for */
#define BRY_SPAN_MAX ((uint64_t)1 << 52) /* the longest window, in milliseconds: 142,000 years */

/* ---- memory -------------------------------------------------------------------------------- */

/*
 * Where an object gets its memory. alloc returns size bytes aligned as malloc does, or NULL; the
 * library clears and aligns further by itself. free gets the size that alloc was asked for. Both
 * are called only during calls on the object. Without an allocator an object uses malloc and free.
 */
typedef struct bry_allocator {
    void *(*alloc)(void *opaque, size_t size); /* size bytes, or NULL */
    void (*free)(void *opaque, void *block, size_t size); /* block is never NULL */
    void *opaque; /* the caller's, handed to both */
} bry_allocator;

/* ---- sinks, sources, loading --------------------------------------------------------------- */

/* Where bytes go. write takes all len bytes or returns a status other than BRY_OK. */
typedef struct bry_sink {
    bry_status (*write)(void *opaque, const void *bytes, size_t len); /* all len bytes */
    void *opaque; /* the caller's */
} bry_sink;

/*
 * Where bytes come from. read stores between 1 and len bytes and sets *got, or sets *got to 0 at
 * the end of the data; a status other than BRY_OK is passed on to the caller of the load.
 */
typedef struct bry_source {
    bry_status (*read)(void *opaque, void *bytes, size_t len, size_t *got); /* at most len bytes */
    void *opaque; /* the caller's */
} bry_source;

/* A growing block of memory as a sink: start from BRY_BUFFER, free with bry_buffer_free(). */
typedef struct bry_buffer {
    unsigned char *bytes; /* from malloc; NULL while there are none */
    size_t len, capacity; /* bytes that were written, and allocated */
} bry_buffer;
#define BRY_BUFFER                                                                                 \
    {                                                                                              \
        NULL, 0, 0                                                                                 \
    }
BRY_API bry_sink bry_buffer_sink(bry_buffer *buffer);
BRY_API void bry_buffer_free(bry_buffer *buffer);

/* Bytes in memory as a source. The view must outlive the source; `at` says how far it was read. */
typedef struct bry_view {
    const void *bytes; /* the caller's */
    size_t len, at; /* how many there are, and how many were read */
} bry_view;
BRY_API bry_source bry_view_source(bry_view *view);

/*
 * How to save. May be NULL: no note. A *note* is bytes of the caller's own that are saved with an
 * object, in the same stream and under its checksums: what the object was made for, names of its
 * units, options of the program. The object does not hold it: whoever loads an object and saves it
 * again has to ask for the note (bry_load.note) and pass it on, or it is gone.
 *
 *     bry_save save = BRY_SAVE;
 *     save.note = "made by nightly", save.note_len = strlen("made by nightly");
 *     status = bry_map_save_file(map, "pages.map", &save);
 *
 * Every bry_…_save…() returns BRY_E_TOOLONG for a note that is longer than BRY_NOTE_MAX, and
 * BRY_E_RANGE for a struct_size that is wrong; the sink has got nothing then, and a file or folder
 * is as it was.
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
 * How to load, and what went wrong. Loading is validating: there is no load that trusts its input.
 * May be NULL: no ceiling, malloc, no explanation.
 */
typedef struct bry_load {
    size_t struct_size;
    uint64_t max_bytes; /* ceiling on the memory of the loaded object; 0: none. LIMIT past it */
    const bry_allocator *allocator; /* for the loaded object; NULL: malloc */
    bry_buffer *note; /* gets the note (bry_save) in place of what it held, len 0 where there is
                         none; NULL: a note is checked and dropped. It comes before the object:
                         after a failure the buffer holds what was read of it and found intact */
    size_t note_max; /* LIMIT for a longer note, unless it is dropped; 0: BRY_NOTE_MAX */
    uint64_t offset; /* set when a load fails: the byte of the source where it was noticed, */
    const char *problem; /* and what is wrong there: a constant text, never NULL after a failure */
} bry_load;
#define BRY_LOAD                                                                                   \
    {                                                                                              \
        sizeof(bry_load), 0, NULL, NULL, 0, 0, NULL                                                \
    }

/* ---- the machine --------------------------------------------------------------------------- */

/*
 * The instruction set that the bit kernels use: "scalar", "avx2", "avx512" or "neon". All give the
 * same bits. The best one is picked at the first use; the environment variable BLOOMERY_ISA forces
 * another, and is ignored where the machine cannot run it.
 */
BRY_API const char *bry_isa(void);

#ifdef __cplusplus
}
#endif

#endif
