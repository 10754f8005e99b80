/* An index of files in a file: the index, with the names of the files it covers. */
#ifndef BLOOMERY_CLI_INDEX_FILE_H
#define BLOOMERY_CLI_INDEX_FILE_H

#include "cli/core/args.h"
#include "cli/core/files/target_file.h"
#include "cli/core/memory_limit.h"
#include "cli/core/output/output.h"
#include "cli/index/index_names.h"

#include <bloomery/index.h>

typedef struct cli_owner {
    uint32_t file; /* The number of the file. */
    uint32_t piece; /* The number of the piece in that file. */
} cli_owner;

/* Must not be moved: the index refers to the memory. */
typedef struct cli_file_index {
    cli_memory memory;
    bry_index *index;
    cli_names names;
    cli_owner *owners; /* of units, by number */
    size_t owner_count;
} cli_file_index;

#define CLI_INDEX_MAX_MEMORY(value) CLI_MAX_MEMORY("the index", value)
#define CLI_INDEX_FIRST_WORD .least_words = 1, .missing = "missing index name"

/* These return CLI_GO_ON, or an exit code after a message. Call cli_index_close() in both cases. */

/* An index without files. */
int cli_index_create(cli_file_index *index, uint64_t max_bytes, const bry_index_options *options,
                     cli_elements elements);

/* Loads the index from a file, and checks that each unit is one piece of one file. */
int cli_index_open(cli_file_index *index, uint64_t max_bytes, const char *path);

/* The same, after the file was locked for replacing it. */
int cli_index_open_to_change(cli_file_index *index, uint64_t max_bytes, const char *path);

/* Options for creating an index like this one. */
bry_index_options cli_index_options(const bry_index *index);

/* Reads the options of the index in a file, for creating units that can be imported in it. */
int cli_index_like(const char *path, uint64_t max_bytes, bry_index_options *options,
                   cli_elements *elements);

void cli_index_close(cli_file_index *index);

/* As cli_target_save(). */
int cli_index_save(const cli_file_index *index, const char *path, const char *taken);

/* Adds a unit to a file as its next piece. */
bry_status cli_index_own(cli_file_index *index, size_t file, cli_piece piece);

/* Drops a file and its units. */
void cli_index_drop(cli_file_index *index, size_t file);

/* Whether the index still finds deleted elements of the file. */
bool cli_index_has_stale(const cli_file_index *index, size_t file);

/* Reports that the index refused something; `where` names it. Returns CLI_FAILED. */
int cli_index_refused(bry_status status, const cli_file_index *index, const char *where);

#endif
