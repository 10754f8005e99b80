/* Adds files to an index, and does the index's pending work. */
#ifndef BLOOMERY_CLI_INDEX_FILL_H
#define BLOOMERY_CLI_INDEX_FILL_H

#include "cli/core/output/progress.h"
#include "cli/index/index_elements.h"
#include "cli/index/index_file.h"

/* How files are added. */
typedef struct cli_fill_options {
    bool skip; /* skip files that cannot be read */
    bool stream; /* read standard input */
    uint64_t skipped;
    cli_progress progress;
} cli_fill_options;

/*
 * Reads the file at `path` and adds it as `name`, replacing a file of that name. CLI_GO_ON, also
 * for a file that is skipped; or an exit code after a message.
 */
int cli_index_put(cli_file_index *index, const char *path, const char *name,
                  cli_fill_options *fill);

/* The same for several files, each of them once. */
int cli_index_put_all(cli_file_index *index, char **paths, size_t count, bool skip);

/*
 * Does the pending work of the index (bry_index_step()). Elements that it needs again are read from
 * their files. If a file has changed, the work stops with a message, which is not a failure.
 */
int cli_index_settle(cli_file_index *index);

/* Does the part of that work that needs no files. */
int cli_index_tidy(cli_file_index *index);

#endif
