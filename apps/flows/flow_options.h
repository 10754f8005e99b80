/* The command line of `bloomery flows`. */
#ifndef BLOOMERY_APPS_FLOW_OPTIONS_H
#define BLOOMERY_APPS_FLOW_OPTIONS_H

#include "apps/flows/flow_detect.h"
#include "cli/core/memory_limit.h"

typedef struct flow_options {
    flow_engine_kind engine;
    flow_key_kind key;
    uint64_t flows; /* to plan for */
    double error;
    uint64_t seed;
    uint64_t idle; /* Milliseconds after which an idle flow is forgotten. */
    uint64_t linger; /* Milliseconds after which an ended flow is forgotten. */
    bool check; /* --check */
    bool json; /* --json */
    bool csv; /* --csv */
    const char *filter; /* --filter */
    const char *interface; /* --interface */
    const char *alerts; /* --alerts */
    uint64_t packets; /* Packets to read; 0: no limit. */
    uint64_t duration; /* Milliseconds to capture; 0: no limit. */
    uint64_t interval; /* Milliseconds between two displays. */
    uint64_t suspects; /* Addresses that are remembered. */
    uint64_t top; /* Addresses that are listed. */
    flow_thresholds thresholds;
    uint64_t max_memory;
    size_t files; /* the first words of argv */
} flow_options;

/* CLI_GO_ON, or the exit code after the help or a message. */
int flow_options_read(flow_options *asked, int argc, char **argv);

#endif
