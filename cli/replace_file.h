/*
 * A file of several parts, replaced whole or not at all. The library does this for one object; an
 * index with the names of its files is two, and neither may be there without the other.
 */
#ifndef BLOOMERY_CLI_REPLACE_FILE_H
#define BLOOMERY_CLI_REPLACE_FILE_H

#include <bloomery/base.h>
#include <stdio.h>

typedef bry_status cli_writer(const void *object, const bry_sink *sink);

/*
 * Gives the file at `path` what `write` sends to the sink, by way of a temporary file in the same
 * folder: written, synced, renamed, the folder synced. A link is followed; a file that is replaced
 * keeps its mode, its group and, where the process may set it, its owner. BRY_E_IO with errno, or
 * what `write` returns; then the old file is there.
 */
bry_status cli_replace_file(const char *path, cli_writer *write, const void *object);

bry_sink cli_file_sink(FILE *file);

#endif
