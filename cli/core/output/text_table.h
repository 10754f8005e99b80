/* A table for people: filled cell by cell, row by row, printed as aligned text. */
#ifndef BLOOMERY_CLI_TEXT_TABLE_H
#define BLOOMERY_CLI_TEXT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct cli_table {
    const char *align; /* A letter for each column: l or r. */
    char **cells; /* The cells, row by row. */
    size_t count; /* How many cells there are. */
    size_t capacity; /* For how many there is room. */
    bool failed; /* Memory ran out: printing reports it. */
} cli_table;

#define CLI_TABLE(letters)                                                                         \
    {                                                                                              \
        .align = (letters)                                                                         \
    }

/* The next cell; the first row is the head. */
__attribute__((format(printf, 2, 3))) void cli_table_add(cli_table *table, const char *format, ...);

/* False when memory ran out while it was filled; then nothing is printed. */
bool cli_table_print(const cli_table *table, FILE *out);
void cli_table_free(cli_table *table);

#endif
