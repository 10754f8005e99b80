#include "cli/core/output/text_table.h"

#include "cli/core/array.h"
#include "cli/core/output/output.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define MOST_COLUMNS 24u

void cli_table_add(cli_table *table, const char *format, ...)
{
    if (!cli_array_reserve(&table->cells, &table->capacity, table->count + 1,
                           sizeof *table->cells)) {
        table->failed = true;
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    char *cell;
    if (vasprintf(&cell, format, arguments) < 0)
        table->failed = true;
    else
        table->cells[table->count++] = cell;
    va_end(arguments);
}

/* Characters, not bytes. */
static size_t cell_width_of(const char *cell)
{
    size_t width = 0;
    for (; *cell; cell++)
        width += ((unsigned char)*cell & 0xc0) != 0x80;
    return width;
}

static void print_cell(const char *cell, size_t width, bool right, bool last, FILE *out)
{
    int pad = (int)(width - cell_width_of(cell));
    if (right)
        fprintf(out, "%*s%s", pad, "", cell);
    else
        fprintf(out, "%s%*s", cell, last ? 0 : pad, "");
}

bool cli_table_print(const cli_table *table, FILE *out)
{
    size_t columns = strlen(table->align), widths[MOST_COLUMNS] = {0};
    if (table->failed || columns > MOST_COLUMNS)
        return false;
    assert(table->count % columns == 0); /* a letter for each column */
    for (size_t i = 0; i < table->count; i++) {
        size_t width = cell_width_of(table->cells[i]);
        if (width > widths[i % columns])
            widths[i % columns] = width;
    }
    cli_colours use = cli_colours_of(out);
    for (size_t i = 0; i < table->count; i++) {
        size_t column = i % columns;
        if (i == 0)
            fputs(use.strong, out);
        bool last = column + 1 == columns;
        if (column > 0)
            fputs("  ", out);
        print_cell(table->cells[i], widths[column], table->align[column] == 'r', last, out);
        if (i + 1 == columns)
            fputs(use.off, out);
        if (last)
            fputc('\n', out);
    }
    return true;
}

void cli_table_free(cli_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        free(table->cells[i]);
    free(table->cells);
    *table = (cli_table){.align = table->align};
}
