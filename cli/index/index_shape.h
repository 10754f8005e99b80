/* The shape of an index of files: options of `index build` and `index unit`. */
#ifndef BLOOMERY_CLI_INDEX_SHAPE_H
#define BLOOMERY_CLI_INDEX_SHAPE_H

#include "cli/core/engine_option.h"
#include "cli/index/index_file.h"

typedef struct cli_index_shape {
    const char *engine; /* --engine */
    const char *like; /* --like */
    const char *key; /* --key */
    const char *delimiter; /* --delimiter */
    uint64_t units; /* --units */
    uint64_t group; /* --group */
    uint64_t max_bytes; /* --max-memory */
    bool strings; /* -0 */
    bool whole; /* --whole */
    bool words; /* --words */
    bry_index_options options;
    cli_elements elements;
} cli_index_shape;

/* Rows of a table of options; the first CLI_INDEX_SHAPING of them cannot be combined with
 * --like. */
#define CLI_INDEX_SHAPING 14
#define CLI_INDEX_SHAPE_ROWS(asked)                                                                \
    {"error", CLI_SHARE, "P", "probability of a wrong file for an absent line (default 0.1%)",     \
     &(asked)->options.error},                                                                     \
        {"engine", CLI_TEXT, "E", cli_engine_help(BRY_JOB_INDEX), &(asked)->engine},               \
        {"units", CLI_COUNT, "R", "units to plan for", &(asked)->units},                           \
        {"unit-capacity", CLI_COUNT, "C", "elements in each", &(asked)->options.unit_capacity},    \
        {"group", CLI_COUNT, "G",                                                                  \
         "dba: interleaved units, 1 to 512 (default: by number of units)", &(asked)->group},       \
        {"segmented", CLI_FLAG, NULL, "dba: a segment for each hash, so that more can be added",   \
         &(asked)->options.dba.segmented},                                                         \
        {"fixed", CLI_FLAG, NULL, "refuse files beyond --units instead of growing",                \
         &(asked)->options.fixed},                                                                 \
        {"seed", CLI_PLAIN, "S", "seed for hashing elements (default: random)",                    \
         &(asked)->options.seed},                                                                  \
        {"0", CLI_FLAG, NULL, "elements end with a NUL instead of a newline", &(asked)->strings},  \
        {"whole", CLI_FLAG, NULL, "the whole content of a file is one element", &(asked)->whole},  \
        {"key", CLI_TEXT, "FIELD", "an element is this field of a line, or fields such as 1,3",    \
         &(asked)->key},                                                                           \
        {"d", CLI_BYTE, "C", "the byte between fields (default: \\t, a tab)",                      \
         &(asked)->delimiter},                                                                     \
        {"delimiter", CLI_BYTE, "C", "the same", &(asked)->delimiter},                             \
        {"words", CLI_FLAG, NULL, "each word is an element, such as an address", &(asked)->words}, \
        {"like", CLI_TEXT, "OTHER", "copy shape, seed and kind of elements of that index",         \
         &(asked)->like},                                                                          \
        CLI_INDEX_MAX_MEMORY(&(asked)->max_bytes)

/* Reads the options, refuses invalid combinations, and opens --like. The syntax begins with the
 * rows, and notes which options are given. CLI_GO_ON, or an exit code after a message. */
int cli_index_shape_read(cli_index_shape *asked, const cli_syntax *syntax);

/*
 * Chooses units and capacity, unless given, for files with these numbers of elements: the
 * combination that takes the least memory, given that files larger than a unit are cut, plus a
 * quarter more units.
 */
void cli_index_shape_fit(cli_index_shape *asked, const uint64_t *counts, size_t n);

#endif
