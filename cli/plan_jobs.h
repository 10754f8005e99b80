/*
 * The cost of each job and engine, from the functions that create uses, so that the plan is what
 * will be allocated. A new job adds a row.
 */
#ifndef BLOOMERY_CLI_PLAN_JOBS_H
#define BLOOMERY_CLI_PLAN_JOBS_H

#include <bloomery/map.h>

typedef struct plan_inputs {
    uint64_t items;
    uint64_t values; /* 0: the default */
    uint64_t subsets; /* of an index */
    uint64_t window; /* ms; of a window and a counter, whose items are those within it */
    double error;
} plan_inputs;

typedef struct plan_costs {
    uint64_t bytes, bytes_empty;
    uint64_t hashes;
    double bits_per_item;
    double error; /* expected */
    bool is_fixed; /* does not grow; otherwise: */
    uint64_t grows_to; /* items with which it is full; 0: only memory limits it */
    bool is_map; /* and then: */
    bry_map_errors errors;
    uint64_t values;
    uint32_t value_bits;
    uint64_t subsets; /* of an index, else 0; and then: */
    uint32_t group;
    uint64_t window; /* ms, of a window or a counter, else 0; and then: */
    uint64_t longest; /* ms after which an element is certainly forgotten */
    uint32_t generations; /* of a window, else 0 */
    uint64_t bytes_per_counter; /* of a counter, else 0 */
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

enum { PLAN_JOBS = 11 };
extern const plan_job plan_jobs[PLAN_JOBS];

/* The size of a standard Bloom filter by the textbook. */
plan_costs plan_standard_bloom(const plan_inputs *in);

#endif
