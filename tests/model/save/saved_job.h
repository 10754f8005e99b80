/*
 * Objects of every job and engine, for programs that work with all of them: created from options
 * over their whole legal range, used by operations that are read from bytes, saved and loaded.
 * Answers are recorded, to compare two objects after the same operations.
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

typedef struct answer_note {
    const char *label;
    uint64_t number;
    double real;
} answer_note;

enum { MOST_NOTES = 4096, MOST_BATCH = 150 };

typedef struct answer_notes {
    size_t count;
    bool parted; /* an operation ran out of memory, which may differ between two objects */
    bool parted_for_good; /* work is in progress that is not saved */
    answer_note note[MOST_NOTES];
} answer_notes;

void note_number(answer_notes *notes, const char *label, uint64_t number);
void note_real(answer_notes *notes, const char *label, double real);
void note_bytes(answer_notes *notes, const char *label, const void *bytes, size_t len);
/* Also records the status; after NOMEM two objects may differ. */
bry_status note_status(answer_notes *notes, const char *label, bry_status status);

/* Fails the program if the two differ; rates may differ by rounding. */
void compare_notes(const answer_notes *one, const answer_notes *other, model_reader *reader);

/* ---- jobs ---- */

typedef struct saved_job {
    const char *name;
    bry_engine engine;
    /* Reads options and creates an object. NULL: the options are invalid or need too much memory
     * for a short test; an unexpected failure is reported to the reader. */
    void *(*create)(model_reader *reader, const bry_allocator *allocator, bry_engine engine);
    /* Reads one operation, carries it out and records the answers. */
    void (*use)(void *object, model_reader *reader, answer_notes *notes);
    /* Records statistics, and answers for keys that `use` may have used. */
    void (*look)(const void *object, answer_notes *notes);
    bry_status (*save)(const void *object, const bry_sink *sink, const bry_save *how);
    bry_status (*load)(const bry_source *source, bry_load *load, void **object);
    void (*destroy)(void *object);
    /* Creates an empty object with the options of this one; NULL: not possible. */
    void *(*like)(const void *object, const bry_allocator *allocator);
    /* Saves and loads in another way. NULL: there is none; UNSUPPORTED: not now. */
    bry_status (*elsewhere)(const void *object, bry_load *load, void **loaded);
} saved_job;

extern const saved_job saved_filter_bloom, saved_filter_compact, saved_map_compact, saved_map_kbf,
    saved_window_compact, saved_window_fbf, saved_counter_compact, saved_counter_fbf,
    saved_index_compact, saved_index_dba;

extern const saved_job *const saved_jobs[];
enum { SAVED_JOBS = 10 };

/* NULL: there is no job of that name. */
const saved_job *saved_job_find(const char *name);

/* ---- for the jobs: their calls ---- */

/* save(), load(), destroy() and like() of a job for objects of any type; `type` such as bry_map.
 * SAVED_JOB_OPTIONS(object) must be defined before; it returns the options of the object. */
/* NOLINTBEGIN(bugprone-macro-parentheses): a type */
#define SAVED_JOB_CALLS(type)                                                                      \
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
        type##_options options = SAVED_JOB_OPTIONS((const type *)object);                          \
        options.allocator = allocator;                                                             \
        return type##_create(&options, &made) == BRY_OK ? made : NULL;                             \
    }

/* NOLINTEND(bugprone-macro-parentheses) */

/* Memory for a temporary object, such as one to merge with. It is limited, because a large plan is
 * legal and the machine must not run out of memory. */
static inline const bry_allocator *bounded_memory(failing_allocator *memory)
{
    failing_allocator_init(memory);
    memory->limit = (uint64_t)1 << 26;
    return &memory->allocator;
}

/* The job of that name and engine, from the functions of its file. */
#define SAVED_JOB(name, engine, elsewhere)                                                         \
    {                                                                                              \
        name, engine, create, use, look, save, load, destroy, like, elsewhere                      \
    }

/* ---- for the jobs: options and operands ---- */

/* From `least` to `most`, with all lengths in bits equally likely, and both ends often. */
uint64_t read_scaled(model_reader *reader, uint64_t least, uint64_t most);

/* The same for rates, uniform in the logarithm. */
double read_rate(model_reader *reader, double least, double most);

/* True with probability 1 / one_in (2 to 256). */
bool read_chance(model_reader *reader, unsigned one_in);

/* Whether an object of this planned size is created: usually up to 16 KiB, sometimes up to a
 * megabyte, and one in 256 larger ones if it is small when empty. */
bool plan_fits(model_reader *reader, uint64_t bytes, uint64_t bytes_empty);

/* Checks that plan and create agree; returns `object`, which create has made. */
void *check_planned(model_reader *reader, bry_status planned, bry_status made, void *object);

/* The key of that number; and up to MOST_BATCH keys, returning how many. */
bry_hash key_number(uint64_t number);
size_t read_batch(model_reader *reader, bry_hash *hashes);

#endif
