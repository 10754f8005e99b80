/* The totals that `bloomery count` prints. */
#include "cli/core/args.h"
#include "cli/core/json/json_write.h"
#include "cli/core/output/output.h"
#include "cli/count/count_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare_entry_names(const void *left, const void *right)
{
    const bry_counters_entry *a = left, *b = right;
    size_t len = a->name_len < b->name_len ? a->name_len : b->name_len;
    int order = len ? memcmp(a->name, b->name, len) : 0;
    return order ? order : (a->name_len > b->name_len) - (a->name_len < b->name_len);
}

static void print_total_lines(const bry_counters_entry *entries, size_t n, char delimiter, char end)
{
    for (size_t i = 0; i < n; i++) {
        fwrite(entries[i].name, 1, entries[i].name_len, stdout);
        printf("%c%" PRId64 "%c", delimiter, entries[i].value, end);
    }
}

static void print_totals_json(const bry_counters_entry *entries, size_t n)
{
    cli_json json = CLI_JSON_TO(stdout);
    cli_json_open(&json, NULL, '{');
    cli_json_open(&json, "totals", '[');
    for (size_t i = 0; i < n; i++) {
        cli_json_open(&json, NULL, '{');
        cli_json_bytes(&json, "name", entries[i].name, entries[i].name_len);
        cli_json_whole(&json, "total", entries[i].value);
        cli_json_close(&json, '}');
    }
    cli_json_close(&json, ']');
    cli_json_close(&json, '}');
}

int count_totals_print(const count_table *table, const count_options *asked)
{
    size_t room = (size_t)bry_counters_items(table->counters), n = 0;
    bry_counters_entry *entries = malloc((room ? room : 1) * sizeof *entries);
    if (!entries)
        return cli_no_memory();
    uint64_t cursor = 0;
    do
        n += bry_counters_scan(table->counters, &cursor, entries + n, room - n ? room - n : 1);
    while (cursor != 0 && n < room);
    qsort(entries, n, sizeof *entries, compare_entry_names);
    if (asked->json)
        print_totals_json(entries, n);
    else
        print_total_lines(entries, n, asked->fields.id.delimiter, asked->fields.end);
    free(entries);
    return CLI_YES;
}
