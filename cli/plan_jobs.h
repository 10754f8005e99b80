/*
 * The cost of each job and engine, from the functions that create uses, so that the plan is what
 * will be allocated.
 */
#ifndef BLOOMERY_CLI_PLAN_JOBS_H
#define BLOOMERY_CLI_PLAN_JOBS_H

#include <bloomery/job.h>
#include <bloomery/map.h>

typedef struct plan_inputs {
    uint64_t items;
    uint64_t values; /* 0: the default */
    uint64_t raw; /* Width of a map's integers in bits; 0 if values are byte strings. */
    uint64_t units; /* of an index */
    uint64_t window; /* ms; of a window and a counter, whose items are those within it */
    double error;
} plan_inputs;

typedef struct plan_costs {
    uint64_t bytes; /* Memory with all items. */
    uint64_t bytes_empty; /* Memory of the empty object. */
    uint64_t hashes; /* Positions per key; 0 if the engine has none. */
    double bits_per_item; /* `bytes` by the number of items, in bits. */
    double error; /* The expected error. */
    bool is_fixed; /* The object does not grow. */
    uint64_t grows_to; /* Items with which a growing object is full; 0: only memory limits it. */
    bool is_map; /* The job is map. */
    bry_map_errors errors; /* The errors of a map. */
    uint64_t values; /* Distinct values of a map. */
    uint32_t value_bits; /* Bits of a stored value of a map. */
    uint64_t units; /* Units of an index; 0 for other jobs. */
    uint32_t group; /* Units of an index that are tested together. */
    uint64_t window; /* Length of a window or of a counter's, in ms; 0 for other jobs. */
    uint64_t longest; /* Time after which an element of a window is certainly forgotten, in ms. */
    uint32_t generations; /* Generations of a window; 0 for other jobs. */
    uint64_t bytes_per_counter; /* Memory of one more counter; 0 for other jobs. */
} plan_costs;

typedef struct plan_job plan_job;
typedef bry_status planner(const plan_job *of, const plan_inputs *in, plan_costs *out);

struct plan_job {
    const char *name;
    bry_engine engine;
    const char *layout; /* if the engine has more than one, else NULL */
    planner *plan;
    const char *limits; /* for the message if the inputs are out of range */
};

enum { PLAN_JOBS_MOST = 64 };
/* All jobs with all their engines; returns how many. */
size_t plan_jobs_list(plan_job jobs[PLAN_JOBS_MOST]);

/* The size of a standard Bloom filter by the textbook. */
plan_costs plan_standard_bloom(const plan_inputs *in);

#endif
