/*
 * Objects of every job and engine, for programs that know neither: made from options over their
 * whole legal range, used by operations that are read from bytes, saved and loaded. What an object
 * answers is noted, so that two objects can be compared that were told to do the same.
 *
 * save_model.c runs programs on objects that were saved and loaded; forged.c on objects that were
 * loaded from forged streams.
 */
#ifndef BRY_TESTS_SAVED_JOB_H
#define BRY_TESTS_SAVED_JOB_H

#include "model/model.h"
#include "support/failing_allocator.h"

#include <bloomery/base.h>
#include <bloomery/hash.h>

/* ---- what an object answered ---- */

typedef struct kept_note {
    const char *label;
    uint64_t number;
    double real;
} kept_note;

enum { KEPT_NOTES = 4096, KEPT_BATCH = 150 };

typedef struct kept_notes {
    size_t count;
    bool parted; /* an operation was refused for want of memory, which may differ between two */
    bool parted_for_good; /* work was begun that is not saved */
    kept_note note[KEPT_NOTES];
} kept_notes;

void kept_number(kept_notes *notes, const char *label, uint64_t number);
void kept_real(kept_notes *notes, const char *label, double real);
void kept_bytes(kept_notes *notes, const char *label, const void *bytes, size_t len);
/* Notes the status too; after NOMEM two may part. */
bry_status kept_status(kept_notes *notes, const char *label, bry_status status);

/* Fails the program where the two differ; rates may differ by rounding. */
void kept_compare(const kept_notes *one, const kept_notes *other, model_reader *reader);

/* ---- jobs ---- */

typedef struct kept_job {
    const char *name;
    bry_engine engine;
    /* Reads options and makes an object. NULL: the options are not possible, or of more memory than
     * a short test should take; an unexpected failure is reported to the reader. */
    void *(*create)(model_reader *reader, const bry_allocator *allocator, bry_engine engine);
    /* Reads one operation, does it and notes the answers. */
    void (*use)(void *object, model_reader *reader, kept_notes *notes);
    /* Notes what can be seen of it: statistics, and answers for keys that `use` may have used. */
    void (*look)(const void *object, kept_notes *notes);
    bry_status (*save)(const void *object, const bry_sink *sink, const bry_save *how);
    bry_status (*load)(const bry_source *source, bry_load *load, void **object);
    void (*destroy)(void *object);
    /* Makes an empty one of the options that the object was created with; NULL: not possible. */
    void *(*like)(const void *object, const bry_allocator *allocator);
    /* Another way to keep it: saves and loads. NULL: there is none; UNSUPPORTED: not now. */
    bry_status (*elsewhere)(const void *object, bry_load *load, void **loaded);
} kept_job;

extern const kept_job kept_filter_bloom, kept_filter_compact, kept_map_compact, kept_map_kbf,
    kept_window_compact, kept_window_fbf, kept_counter_compact, kept_counter_fbf,
    kept_index_compact, kept_index_dba;

extern const kept_job *const kept_jobs[];
enum { KEPT_JOBS = 10 };

/* NULL where there is none of that name. */
const kept_job *kept_find(const char *name);

/* ---- for the jobs: their calls ---- */

/* save(), load(), destroy() and like() of a job for objects of any type; `type` such as bry_map.
 * KEPT_OPTIONS(object) is defined before: the options that it was created with. */
/* NOLINTBEGIN(bugprone-macro-parentheses): a type */
#define KEPT_CALLS(type)                                                                           \
    static bry_status save(const void *object, const bry_sink *sink, const bry_save *how)          \
    {                                                                                              \
        return type##_save(object, sink, how);                                                     \
    }                                                                                              \
    static bry_status load(const bry_source *source, bry_load *how, void **object)                 \
    {                                                                                              \
        type *loaded = NULL;                                                                       \
        bry_status status = type##_load(source, how, &loaded);                                     \
        *object = loaded;                                                                          \
        return status;                                                                             \
    }                                                                                              \
    static void destroy(void *object)                                                              \
    {                                                                                              \
        type##_destroy(object);                                                                    \
    }                                                                                              \
    static void *like(const void *object, const bry_allocator *allocator)                          \
    {                                                                                              \
        type *made = NULL;                                                                         \
        type##_options options = KEPT_OPTIONS((const type *)object);                               \
        options.allocator = allocator;                                                             \
        return type##_create(&options, &made) == BRY_OK ? made : NULL;                             \
    }

/* NOLINTEND(bugprone-macro-parentheses) */

/* Memory for an object that is made on the way, such as one to merge with: a large plan is legal,
 * and the machine is not to run out of memory for it. */
static inline const bry_allocator *kept_memory(failing_allocator *memory)
{
    failing_allocator_init(memory);
    memory->limit = (uint64_t)1 << 26;
    return &memory->allocator;
}

/* The job of that name and engine, from the functions of its file. */
#define KEPT_JOB(name, engine, elsewhere)                                                          \
    {                                                                                              \
        name, engine, create, use, look, save, load, destroy, like, elsewhere                      \
    }

/* ---- for the jobs: options and operands ---- */

/* From `least` to `most`, each length in bits as likely as another, and both ends often. */
uint64_t kept_scaled(model_reader *reader, uint64_t least, uint64_t most);

/* The same for rates, by their logarithm. */
double kept_rate(model_reader *reader, double least, double most);

/* One in so many (2 to 256). */
bool kept_chance(model_reader *reader, unsigned one_in);

/* What a plan may say of an object that is made: mostly 16 KiB, now and then a megabyte; and of
 * those that are larger one in 256, if it takes little at the beginning. */
bool kept_fits(model_reader *reader, uint64_t bytes, uint64_t bytes_empty);

/* Expects that plan and create agree; `object` is what create made. */
void *kept_made(model_reader *reader, bry_status planned, bry_status made, void *object);

/* The key of that number, and up to KEPT_BATCH of them; how many. */
bry_hash kept_key(uint64_t number);
size_t kept_batch(model_reader *reader, bry_hash *hashes);

#endif
