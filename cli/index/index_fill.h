/* Files into an index, and the work that an index has left for later. */
#ifndef BLOOMERY_CLI_INDEX_FILL_H
#define BLOOMERY_CLI_INDEX_FILL_H

#include "cli/core/output/progress.h"
#include "cli/index/index_elements.h"
#include "cli/index/index_file.h"

/* How files are put in. */
typedef struct cli_fill {
    bool skip; /* go on without those that cannot be read */
    bool stream; /* what is read is standard input */
    uint64_t skipped;
    cli_progress progress;
} cli_fill;

/*
 * Reads the file at `path` and puts it in under `name`, in place of what was under that name.
 * CLI_GO_ON, also for a file that is skipped; or an exit code after a message.
 */
int cli_index_put(cli_file_index *index, const char *path, const char *name, cli_fill *fill);

/* The same for several, each of them once. */
int cli_index_put_all(cli_file_index *index, char **paths, size_t count, bool skip);

/*
 * Does what the index has put off (bry_index_step()): elements that it needs again are read from
 * their files. Files that are no longer as they were stop this, which is said and no failure.
 */
int cli_index_settle(cli_file_index *index);

/* Does as much of it as can be done without the files. */
int cli_index_tidy(cli_file_index *index);

#endif
