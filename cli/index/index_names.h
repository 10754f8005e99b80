/*
 * The files that an index covers. The elements of a file are in one unit or, if they do not fit, in
 * several: its *pieces*, each a section of the file. A piece is identified by the tag of its unit.
 *
 * The names are saved with the index in one file, so that names and units are replaced together
 * (doc/format.md, "The program's notes").
 */
#ifndef BLOOMERY_CLI_INDEX_NAMES_H
#define BLOOMERY_CLI_INDEX_NAMES_H

#include "cli/core/input/fields.h"

#include <bloomery/base.h>

/* What counts as an element of a file. */
typedef enum cli_element_kind {
    CLI_ELEMENT_LINES = 0,
    CLI_ELEMENT_STRINGS = 1, /* NUL-terminated strings */
    CLI_ELEMENT_WHOLE = 2, /* its whole content */
    CLI_ELEMENT_WORDS = 3, /* words.h */
    CLI_ELEMENT_FIELDS = 4, /* fields of its lines; a line without them has no element */
} cli_element_kind;

typedef struct cli_elements {
    cli_element_kind kind;
    cli_fields fields; /* all 0: no fields */
} cli_elements;

/* "lines", "strings", "whole", "words" or "fields". */
const char *cli_elements_name(cli_elements elements);
bool cli_elements_equal(cli_elements a, cli_elements b);

/* The state of a file when it was read. */
typedef struct cli_file_facts {
    uint64_t size;
    int64_t changed; /* modification time in ns */
} cli_file_facts;

/* Instead of the modification time: lines were deleted from the index. No file has this time, so
 * the file will be read again. */
#define CLI_LINES_DELETED INT64_MIN

typedef struct cli_piece {
    uint64_t tag;
    uint64_t from; /* Offset in the file where it begins. */
    uint64_t to; /* Offset in the file where it ends. */
    uint32_t unit; /* number in the index; not saved */
} cli_piece;

typedef struct cli_named_file {
    char *name; /* NULL: removed */
    cli_file_facts facts;
    bool apart; /* its units were built elsewhere: the file may not exist here */
    cli_piece *pieces;
    uint32_t piece_count;
} cli_named_file;

typedef struct cli_names {
    cli_elements elements;
    uint64_t next_tag;
    cli_named_file *files;
    size_t count; /* including removed ones */
    size_t live; /* without removed ones */
    size_t capacity;
    uint32_t *table; /* hash table by name: number of the file plus 1, or 0 */
    size_t slots;
} cli_names;

#define CLI_NO_FILE SIZE_MAX

/* The number of the file of that name, or CLI_NO_FILE. */
size_t cli_names_find(const cli_names *names, const char *name);

/* Adds a file without pieces, whose name must be new. BRY_E_NOMEM; BRY_E_FULL: 2^31 files. */
bry_status cli_names_add(cli_names *names, const char *name, cli_file_facts facts, size_t *file);

/* Appends a piece to a file. BRY_E_NOMEM. */
bry_status cli_names_add_piece(cli_named_file *file, cli_piece piece);

void cli_pieces_free(cli_named_file *file);

void cli_names_del(cli_names *names, size_t file);

void cli_names_free(cli_names *names);

/* Appends the names to the note of the index that they belong to. BRY_E_NOMEM. */
bry_status cli_names_write(const cli_names *names, bry_buffer *note);

/* Reads what cli_names_write() wrote. On failure load->problem and load->offset (in the note) say
 * why, and *names need not be freed. */
bry_status cli_names_read(cli_names *names, const bry_buffer *note, bry_load *load);

#endif
