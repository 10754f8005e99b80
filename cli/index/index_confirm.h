/* Compares the candidates of an index with the files. */
#ifndef BLOOMERY_CLI_INDEX_CONFIRM_H
#define BLOOMERY_CLI_INDEX_CONFIRM_H

#include "cli/index/index_elements.h"
#include "cli/index/index_file.h"

typedef struct cli_candidate {
    uint32_t key; /* its number */
    cli_owner owner;
    bool confirmed;
} cli_candidate;

/*
 * Marks a candidate as confirmed if the file contains the key, byte by byte: in the candidate's
 * piece or, if the file has changed since it was read, anywhere. Each file is read once. In an
 * index of whole files the keys are file names, and confirmed candidates have the same content.
 * CLI_GO_ON; or CLI_FAILED after a message if some files could not be read, and then the others are
 * done.
 */
int cli_confirm(const cli_file_index *index, const cli_text *keys, const bry_hash *hashes,
                cli_candidate *candidates, size_t count);

#endif
