/*
 * The JSON is what cli_json writes: each member, bracket and brace has a line of its own. A block is
 * an array, whose elements are objects, or what is between arrays. It becomes a table with a column
 * for each element, and a row for each name.
 */
#include "bench/bench_table.h"

#include "cli/core/output/text_table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 128, MOST_DEPTH = 8, MOST_ELEMENTS = 16 };

typedef struct report_member {
    char name[NAME_BYTES];
    const char *value;
    unsigned element;
} report_member;

typedef struct report_block {
    report_member *members;
    size_t count;
    unsigned elements;
    bool later; /* not the first block */
} report_block;

/* The member of this name; the first of them if `element` is MOST_ELEMENTS. */
static const report_member *member_in_row(const report_block *block, const char *name,
                                          unsigned element)
{
    for (size_t i = 0; i < block->count; i++)
        if (strcmp(block->members[i].name, name) == 0 &&
            (element == MOST_ELEMENTS || block->members[i].element == element))
            return &block->members[i];
    return NULL;
}

/* Numbers that are not whole get four digits. */
static void add_member_cell(cli_table *table, const report_member *member)
{
    const char *value = member ? member->value : "null";
    if (*value == '"')
        cli_table_add(table, "%.*s", (int)strlen(value) - 2, value + 1);
    else if (strcmp(value, "null") == 0)
        cli_table_add(table, "-");
    else if (value[strspn(value, "-0123456789")] && !strpbrk(value, "rl"))
        cli_table_add(table, "%.4g", strtod(value, NULL));
    else
        cli_table_add(table, "%s", value);
}

/* Prints the block, and empties it. */
static bool end_block(report_block *block, FILE *out)
{
    if (block->count == 0)
        return true;
    char align[MOST_ELEMENTS + 2] = "ll";
    if (block->elements > 1)
        memset(align + 1, 'r', block->elements);
    cli_table table = CLI_TABLE(align);
    for (size_t i = 0; i < block->count; i++) {
        const report_member *member = &block->members[i];
        if (member_in_row(block, member->name, MOST_ELEMENTS) != member)
            continue; /* in its row already */
        cli_table_add(&table, "%s", member->name);
        for (unsigned element = 0; element < block->elements; element++)
            add_member_cell(&table, member_in_row(block, member->name, element));
    }
    if (block->later)
        fputc('\n', out);
    bool printed = cli_table_print(&table, out);
    cli_table_free(&table);
    block->count = 0;
    block->later = true;
    return printed;
}

bool bench_table(char *json, FILE *out)
{
    size_t lines = 1, depth = 0, outer[MOST_DEPTH] = {0};
    for (const char *c = json; *c; c++)
        lines += *c == '\n';
    report_block block = {calloc(lines, sizeof *block.members), 0, 1, false};
    char name[NAME_BYTES] = "", *rest = NULL;
    bool good = block.members != NULL;
    for (char *line = strtok_r(json, "\n", &rest); line && good;
         line = strtok_r(NULL, "\n", &rest)) {
        line += strspn(line, " ");
        size_t len = strlen(line), of_outer = strlen(name);
        if (line[len - 1] == ',')
            line[--len] = '\0';
        char *value = line;
        if (*line == '"') {
            int of_key = (int)strcspn(line + 1, "\"");
            snprintf(name + of_outer, sizeof name - of_outer, "%s%.*s", of_outer ? "." : "", of_key,
                     line + 1);
            value += of_key + 4;
        }
        if (strcmp(value, "[]") == 0) {
            name[of_outer] = '\0';
            continue;
        }
        if (*value == '[' || *value == ']') {
            good = end_block(&block, out);
            block.elements = *value == ']';
        } else if (*value == '{' && value == line && depth > 0) {
            block.elements++;
            assert(block.elements <= MOST_ELEMENTS);
        }
        if (*value == '[' || *value == '{') {
            assert(depth < MOST_DEPTH);
            outer[depth++] = of_outer;
        } else if (*value == ']' || *value == '}') {
            name[outer[--depth]] = '\0';
        } else {
            report_member *member = &block.members[block.count++];
            *member = (report_member){.value = value, .element = block.elements - 1};
            memcpy(member->name, name, sizeof name);
            name[of_outer] = '\0';
        }
    }
    good = good && end_block(&block, out);
    free(block.members);
    return good;
}
