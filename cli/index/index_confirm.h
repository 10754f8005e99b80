/* Candidates of an index, compared with what the files hold. */
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
 * Sets what is confirmed: the file holds the key, byte by byte, in the piece that is named or, when
 * it has changed since it was read, anywhere. Each file is read once. In an index of whole files
 * the keys are names of files, and those confirmed have the same content. CLI_GO_ON; or CLI_FAILED
 * when some files could not be read, which was said, and the others are done.
 */
int cli_confirm(const cli_file_index *index, const cli_text *keys, const bry_hash *hashes,
                cli_candidate *candidates, size_t count);

#endif
