#include "cli/seen/seen_fields.h"

#include "cli/core/args.h"
#include "cli/core/json/json_read.h"
#include "cli/core/output/output.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- options ------------------------------------------------------------------------------- */

static int read_names(seen_fields *fields, const char *text)
{
    fields->key_name = text;
    for (const char *at = text; at; fields->name_count++) {
        size_t len = strcspn(at, ",");
        const char *problem = fields->name_count == CLI_MOST_FIELDS ? "has more than 8 names"
                              : len == 0                            ? "has an empty name"
                              : len > SEEN_MOST_NAME                ? "has a name that is too long"
                                                                    : NULL;
        if (problem)
            return cli_misuse("--key: %s %s", cli_quote(text).text, problem);
        memcpy(fields->names[fields->name_count], at, len);
        fields->names[fields->name_count][len] = '\0';
        at = at[len] ? at + len + 1 : NULL;
    }
    return CLI_GO_ON;
}

int seen_fields_read(seen_fields *fields, const char *key, const char *time, const char *delimiter,
                     const char *unit)
{
    if (unit && !text_parse_time_unit(unit, &fields->unit))
        return cli_misuse("--time-unit: %s is not one of s, ms, us and ns", cli_quote(unit).text);
    if (fields->json) {
        fields->time_name = time;
        if (delimiter)
            return cli_misuse("--delimiter cannot be combined with --json-lines");
        if (!key && !time)
            return cli_misuse("--json-lines requires --key or --time");
        return key ? read_names(fields, key) : CLI_GO_ON;
    }
    if (delimiter && !key && !time)
        return cli_misuse("--delimiter requires --key or --time");
    int code = CLI_GO_ON;
    fields->key.delimiter = delimiter ? *delimiter : '\t';
    if (key)
        code = cli_fields_read(&fields->key, "key", key);
    if (code == CLI_GO_ON && time)
        code = cli_field_read(&fields->time, "time", time);
    memcpy(fields->wanted, fields->key.number, sizeof fields->key.number);
    fields->wanted_count = fields->key.count;
    if (fields->time)
        fields->wanted[fields->wanted_count++] = fields->time;
    return code;
}

/* ---- lines --------------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static bool fail(seen_problem *problem, const char *format,
                                                       ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(problem->text, sizeof problem->text, format, arguments);
    va_end(arguments);
    problem->column = 0;
    return false;
}

/* The requested parts of a line: those of its key, then its time. */
typedef struct line_parts {
    cli_text part[CLI_MOST_FIELDS + 1];
    cli_text *time;
} line_parts;

/* All fields in one pass. */
static bool read_delimited_fields(const seen_fields *fields, cli_text line, line_parts *f,
                                  seen_problem *problem)
{
    f->time = &f->part[fields->key.count];
    unsigned missing =
        cli_fields_find(fields->key.delimiter, fields->wanted, fields->wanted_count, line, f->part);
    return !missing || fail(problem, "there is no field %u", missing);
}

static bool read_named_member(cli_text line, const char *name, cli_text *value,
                              seen_problem *problem)
{
    size_t column;
    const char *wrong = cli_json_find(line, name, value, &column);
    if (!wrong)
        return true;
    fail(problem, "%s%s%s", wrong, column ? "" : " ", column ? "" : cli_quote(name).text);
    problem->column = column;
    return false;
}

static bool read_members(const seen_fields *fields, cli_text line, line_parts *f,
                         seen_problem *problem)
{
    for (unsigned i = 0; i < fields->name_count; i++)
        if (!read_named_member(line, fields->names[i], &f->part[i], problem))
            return false;
    f->time = &f->part[fields->name_count];
    if (!fields->time_name)
        return true;
    if (!read_named_member(line, fields->time_name, f->time, problem))
        return false;
    if (f->time->len >= 2 && f->time->bytes[0] == '"') {
        f->time->bytes++;
        f->time->len -= 2;
    }
    return true;
}

bool seen_fields_of(const seen_fields *fields, cli_text line, cli_scratch *scratch, cli_text *key,
                    uint64_t *time, seen_problem *problem)
{
    line_parts f;
    size_t parts = fields->json ? fields->name_count : fields->key.count;
    *key = line;
    if (parts == 0 && !seen_fields_have_time(fields))
        return true;
    if (!(fields->json ? read_members : read_delimited_fields)(fields, line, &f, problem))
        return false;
    /* JSON values are self-delimiting, so any separator is unambiguous. */
    char between = fields->json ? ',' : fields->key.delimiter;
    if (parts > 0 && !cli_join(scratch, f.part, parts, between, key))
        return fail(problem, "%s", bry_status_text(BRY_E_NOMEM));
    if (!seen_fields_have_time(fields))
        return true;
    const char *wrong = text_parse_time(f.time->bytes, f.time->len, fields->unit, time);
    return !wrong || fail(problem, "the time %s %s", cli_quote_text(*f.time).text, wrong);
}
