/* bloomery plan --cluster: a distributed map, before its cluster exists. */
#ifndef BLOOMERY_CLI_PLAN_CLUSTER_H
#define BLOOMERY_CLI_PLAN_CLUSTER_H

#include <stdbool.h>
#include <stdint.h>

typedef struct plan_cluster_inputs {
    uint64_t pairs;
    double error;
    uint64_t values; /* distinct byte strings; 0: 1000. Only if raw is 0 */
    uint64_t raw; /* bits of integers; 0: byte strings */
    uint64_t primaries; /* 0: as few as have the memory */
    uint64_t memory; /* of a node, in bytes */
    const char *replicas; /* of each primary; NULL: 1 */
    const char *engine; /* NULL: compact */
} plan_cluster_inputs;

/* Prints the plan; returns the exit code. */
int cli_plan_cluster(const plan_cluster_inputs *in, bool as_json);

#endif
