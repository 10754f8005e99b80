/* The options of `bloomery count`. */
#ifndef BLOOMERY_CLI_COUNT_OPTIONS_H
#define BLOOMERY_CLI_COUNT_OPTIONS_H

#include "cli/core/input/fields.h"

#include <bloomery/counters.h>

extern const char count_command[];

/* Where a line has its parts. */
typedef struct count_fields {
    cli_fields id; /* one or several; also has the delimiter */
    uint16_t name, amount; /* amount 0: every line adds 1 */
    bool amount_required; /* else a line without it adds 1 */
    char end; /* of a line */
} count_fields;

typedef struct count_options {
    bry_counters_options table; /* fields that are 0 were not given */
    const char *dir;
    size_t files; /* words after the directory */
    count_fields fields;
    bool totals; /* reads no input */
    bool quiet; /* prints no totals */
    bool json;
    bool stats;
} count_options;

/* Reads the arguments and moves the words to the front of argv, the directory first. CLI_GO_ON, or
 * an exit code after a message. */
int count_options_read(count_options *asked, int argc, char **argv);

#endif
