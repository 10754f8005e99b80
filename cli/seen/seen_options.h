/* The options of `bloomery seen`. */
#ifndef BLOOMERY_CLI_SEEN_OPTIONS_H
#define BLOOMERY_CLI_SEEN_OPTIONS_H

#include "cli/seen/seen_stream.h"

typedef struct seen_options {
    seen_request window;
    seen_line_options how;
    bool count; /* --count */
    bool stats; /* --stats */
    bool json; /* --json */
    size_t files; /* their names, at the front of argv */
} seen_options;

extern const char seen_command[];

/* CLI_GO_ON, or an exit code after printing the help or an error. */
int seen_options_read(seen_options *asked, int argc, char **argv);

#endif
