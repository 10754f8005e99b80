/*
 * The elements of a file, one after the other, with their hashes: its lines, their fields or words,
 * the strings that NULs end in it, or all of it as one. Only regular files are read, since they are
 * read again later.
 */
#ifndef BLOOMERY_CLI_INDEX_ELEMENTS_H
#define BLOOMERY_CLI_INDEX_ELEMENTS_H

#include "cli/core/input/lines.h"
#include "cli/index/index_names.h"

#include <bloomery/hash.h>

typedef struct cli_element {
    cli_text text; /* {NULL, 0} of a whole file */
    bry_hash hash;
    uint64_t end; /* the byte of the file behind it and its end mark, from where reading goes on */
} cli_element;

typedef struct cli_element_reader {
    cli_elements elements;
    uint64_t seed;
    cli_lines lines;
    cli_file_facts facts;
    uint64_t at, to; /* bytes of the file: what was read, and where the reading ends */
    bool done;
    cli_text rest; /* of a line whose words are not all read */
    cli_scratch scratch; /* for fields that are put together */
    const char *problem; /* where errno does not tell why it failed */
} cli_element_reader;

/* BRY_E_IO with errno set, or 0 and a problem. Then there is nothing to close. "-" is refused: it
 * could not be read again. */
bry_status cli_elements_open(cli_element_reader *reader, const char *path, cli_elements elements,
                             uint64_t seed);

/* Standard input, of which there are units apart from an index. */
void cli_elements_stream(cli_element_reader *reader, cli_elements elements, uint64_t seed);

/* Only the elements from the one that begins at byte `from` to where byte `to` is reached. */
bry_status cli_elements_seek(cli_element_reader *reader, uint64_t from, uint64_t to);

/* The next one; *more is false at the end. BRY_E_IO; BRY_E_LIMIT: longer than CLI_LINE_MAX;
 * BRY_E_NOMEM. */
bry_status cli_elements_next(cli_element_reader *reader, cli_element *element, bool *more);

/* Bytes of a file, for progress; 0 where that is not known. */
uint64_t cli_path_bytes(const char *path);

/* About how many different ones there are, for planning: lines are counted, of words those that
 * differ are estimated. Nothing has been read yet, and nothing can be read after. */
bry_status cli_elements_count(cli_element_reader *reader, uint64_t *count);

void cli_elements_close(cli_element_reader *reader);

/* Whether the file is still what it was. */
bool cli_facts_equal(cli_file_facts a, cli_file_facts b);

/* Reports why a file was not read; errno as the call has left it. Returns CLI_FAILED. */
int cli_elements_failed(const cli_element_reader *reader, bry_status status, const char *path);

#endif
