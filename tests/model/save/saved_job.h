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
#include <bloomery/job.h>

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

/* What a job adds to its row (job.h). */
typedef struct saved_calls {
    /* Reads options and creates an object. NULL: the options are invalid or need too much memory
     * for a short test; an unexpected failure is reported to the reader. */
    void *(*create)(model_reader *reader, const bry_allocator *allocator, bry_engine engine);
    /* Reads one operation, carries it out and records the answers. */
    void (*use)(void *object, model_reader *reader, answer_notes *notes);
    /* Records statistics, and answers for keys that `use` may have used. */
    void (*look)(const void *object, answer_notes *notes);
    /* Creates an empty object with the options of this one; NULL: not possible. */
    void *(*like)(const void *object, const bry_allocator *allocator);
    /* Saves and loads in another way. NULL: there is none; UNSUPPORTED: not now. */
    bry_status (*elsewhere)(const void *object, bry_load *load, void **loaded);
} saved_calls;

extern const saved_calls saved_filters, saved_maps, saved_windows, saved_counters, saved_indexes;

/* A job with one of its engines, such as "map-kbf". */
typedef struct saved_job {
    char name[32];
    bry_job job;
    bry_engine engine;
    const saved_calls *calls;
} saved_job;

/* Number i of all jobs and engines; NULL after the last one. */
const saved_job *saved_job_at(size_t i);
/* NULL: there is no job of that name. */
const saved_job *saved_job_find(const char *name);

/* ---- for the jobs: their calls ---- */

/* saved_calls.like() of a job, such as bry_map, by the options of an object. */
/* NOLINTBEGIN(bugprone-macro-parentheses): a type */
#define SAVED_LIKE(type, options_of)                                                               \
    static void *like(const void *opaque, const bry_allocator *allocator)                          \
    {                                                                                              \
        const type *object = opaque;                                                               \
        type *made = NULL;                                                                         \
        type##_options options = options_of;                                                       \
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

/* Checks that plan and create agree, to the byte; returns `object`, which create has made. */
void *check_planned(model_reader *reader, bry_job job, bry_status planned, uint64_t bytes_empty,
                    bry_status made, void *object);

/* The key of that number; and up to MOST_BATCH keys, returning how many. */
bry_hash key_number(uint64_t number);
size_t read_batch(model_reader *reader, bry_hash *hashes);

#endif
