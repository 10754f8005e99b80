/*
 * The elements of a file, one after the other, with their hashes: its lines, their fields or words,
 * its NUL-terminated strings, or its whole content. Only regular files are read, because they must
 * be readable again later.
 */
#ifndef BLOOMERY_CLI_INDEX_ELEMENTS_H
#define BLOOMERY_CLI_INDEX_ELEMENTS_H

#include "cli/core/input/lines.h"
#include "cli/index/index_names.h"

#include <bloomery/hash.h>

typedef struct cli_element {
    cli_text text; /* {NULL, 0} for a whole file */
    bry_hash hash;
    uint64_t end; /* offset in the file after the element and its end mark */
} cli_element;

typedef struct cli_element_reader {
    cli_elements elements;
    uint64_t seed;
    cli_lines lines;
    cli_file_facts facts;
    uint64_t at; /* Offset in the file after what was read. */
    uint64_t to; /* Offset in the file at which to stop. */
    bool done;
    cli_text rest; /* rest of a line with further words */
    cli_scratch scratch; /* for joined fields */
    const char *problem; /* the reason of a failure if errno is 0 */
} cli_element_reader;

/* BRY_E_IO with errno set, or 0 and a problem. After a failure there is nothing to close. "-" is
 * refused because it cannot be read again. */
bry_status cli_elements_open(cli_element_reader *reader, const char *path, cli_elements elements,
                             uint64_t seed);

/* Opens standard input, for units that are built separately. */
void cli_elements_stream(cli_element_reader *reader, cli_elements elements, uint64_t seed);

/* Restricts reading to the elements that begin at bytes `from` to `to` - 1. */
bry_status cli_elements_seek(cli_element_reader *reader, uint64_t from, uint64_t to);

/* The next one; *more is false at the end. BRY_E_IO; BRY_E_TOOLONG: longer than CLI_LINE_MAX;
 * BRY_E_NOMEM. */
bry_status cli_elements_next(cli_element_reader *reader, cli_element *element, bool *more);

/* Size of a file, for progress; 0: unknown. */
uint64_t cli_path_bytes(const char *path);

/* Estimates the number of elements, for planning: lines are counted; for words, the number of
 * distinct ones is estimated. To be called before anything is read; nothing can be read
 * afterwards. */
bry_status cli_elements_count(cli_element_reader *reader, uint64_t *count);

void cli_elements_close(cli_element_reader *reader);

/* Whether the file is unchanged. */
bool cli_facts_equal(cli_file_facts a, cli_file_facts b);

/* Reports why a file was not read; errno must be that of the failed call. Returns CLI_FAILED. */
int cli_elements_failed(const cli_element_reader *reader, bry_status status, const char *path);

#endif
