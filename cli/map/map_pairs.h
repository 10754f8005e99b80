/*
 * Pairs of key and value from an input: lines "key<TAB>value" (--delimiter replaces the tab), or
 * JSON lines {"key": …, "value": …}. In a map of integers the value is a whole number.
 */
#ifndef BLOOMERY_CLI_MAP_PAIRS_H
#define BLOOMERY_CLI_MAP_PAIRS_H

#include "cli/core/input/inputs.h"
#include "cli/core/output/progress.h"
#include "cli/map/map_file.h"

typedef struct cli_pair {
    cli_text key;
    bry_map_value value;
} cli_pair;

typedef struct cli_pairs {
    cli_inputs inputs;
    cli_lines lines; /* of the current input */
    bool json;
    char delimiter; /* of lines that are not JSON */
    uint32_t value_bits; /* bits of the map's integers; 0: values are byte strings */
} cli_pairs;

/* Parses the text of a value. NULL, or what is wrong with it. */
const char *cli_pair_value(uint32_t value_bits, const char *text, size_t len, bry_map_value *value);

/* Rows for a table of options. */
#define CLI_PAIR_DELIMITERS(value)                                                                 \
    {"d", CLI_BYTE, "C", "the byte between key and value (default: \\t, a tab)", (value)},         \
    {                                                                                              \
        "delimiter", CLI_BYTE, "C", "the same", (value)                                            \
    }

/* Reads them; a delimiter of NULL is a tab. CLI_GO_ON, or an exit code after a message. */
int cli_pair_delimiter(const char *text, bool json, char *delimiter);

/* The next pair; *more is false at the end. CLI_GO_ON, or an exit code after a message that names
 * the line. */
int cli_pairs_next(cli_pairs *pairs, cli_pair *pair, bool *more);

/* How a pair is stored. */
typedef enum cli_map_mode {
    CLI_MAP_SET, /* refuses keys whose value is unsure */
    CLI_MAP_NEW, /* the keys are known to be new */
    CLI_MAP_FILL, /* like set, but treats unsure keys as new */
} cli_map_mode;

bry_status cli_map_put(bry_map *map, cli_map_mode how, bry_hash hash, bry_map_value value);

/* Stores all pairs. CLI_GO_ON; or an exit code after a message, and then some pairs may be
 * stored. */
int cli_map_put_all(bry_map *map, const cli_memory *memory, cli_map_mode how, cli_pairs *pairs);

#endif
