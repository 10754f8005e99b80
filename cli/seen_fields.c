#include "seen_fields.h"

#include "args.h"
#include "json_find.h"
#include "numbers.h"
#include "output.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MOST_FIELD 65535u

/* ---- options ------------------------------------------------------------------------------- */

static int read_field(const char *command, const char *option, const char *text, uint64_t *number)
{
    const char *problem = cli_parse_count(text, number);
    if (!problem && (*number == 0 || *number > MOST_FIELD))
        problem = "is not a field: they are counted from 1 to 65535";
    if (!problem)
        return CLI_GO_ON;
    return cli_misuse(command, "--%s: %s %s", option, cli_quote(text).text, problem);
}

static int read_delimiter(const char *command, const char *text, char *delimiter)
{
    if (text[0] && !text[1])
        *delimiter = text[0];
    else if (strcmp(text, "\\t") == 0)
        *delimiter = '\t';
    else
        return cli_misuse(command, "--delimiter: %s is not one byte", cli_quote(text).text);
    return CLI_GO_ON;
}

int seen_fields_read(seen_fields *fields, const char *command, const char *key, const char *time,
                     const char *delimiter, const char *unit)
{
    int code = CLI_GO_ON;
    fields->delimiter = '\t';
    if (unit && !seen_unit_parse(unit, &fields->unit))
        return cli_misuse(command, "--time-unit: %s is none of s, ms, us and ns",
                          cli_quote(unit).text);
    if (fields->json) {
        fields->key_name = key;
        fields->time_name = time;
        if (delimiter)
            return cli_misuse(command, "--delimiter does not go with --json-lines");
        return key || time ? CLI_GO_ON
                           : cli_misuse(command, "--json-lines goes with --key or --time");
    }
    if (delimiter && !key && !time)
        return cli_misuse(command, "--delimiter goes with --key or --time");
    if (delimiter)
        code = read_delimiter(command, delimiter, &fields->delimiter);
    if (code == CLI_GO_ON && key)
        code = read_field(command, "key", key, &fields->key);
    if (code == CLI_GO_ON && time)
        code = read_field(command, "time", time, &fields->time);
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

/* Both fields in one pass. */
static bool read_delimited(const seen_fields *fields, cli_text line, cli_text *key, cli_text *time,
                           seen_problem *problem)
{
    uint64_t last = fields->key > fields->time ? fields->key : fields->time;
    char *at = line.bytes, *end = line.bytes + line.len;
    for (uint64_t number = 1;; number++) {
        char *mark = at < end ? memchr(at, fields->delimiter, (size_t)(end - at)) : NULL;
        cli_text field = {at, (size_t)((mark ? mark : end) - at)};
        if (number == fields->key)
            *key = field;
        if (number == fields->time)
            *time = field;
        if (number == last)
            return true;
        if (!mark)
            return fail(problem, "there is no field %llu",
                        (unsigned long long)(fields->key > number ? fields->key : fields->time));
        at = mark + 1;
    }
}

static bool read_member(cli_text line, const char *name, cli_text *value, seen_problem *problem)
{
    size_t column;
    const char *wrong = cli_json_find(line, name, value, &column);
    if (!wrong)
        return true;
    fail(problem, "%s%s%s", wrong, column ? "" : " ", column ? "" : cli_quote(name).text);
    problem->column = column;
    return false;
}

/* A field as a word of a message. */
static cli_quoted quote(cli_text text)
{
    char word[sizeof((cli_quoted *)0)->text];
    size_t len = text.len < sizeof word - 1 ? text.len : sizeof word - 1;
    for (size_t i = 0; i < len; i++)
        word[i] = text.bytes[i] ? text.bytes[i] : '\x01'; /* a NUL would end it */
    word[len] = '\0';
    return cli_quote(word);
}

bool seen_fields_of(const seen_fields *fields, cli_text line, cli_text *key, uint64_t *time,
                    seen_problem *problem)
{
    cli_text when = {NULL, 0};
    *key = line;
    if (fields->json) {
        if ((fields->key_name && !read_member(line, fields->key_name, key, problem)) ||
            (fields->time_name && !read_member(line, fields->time_name, &when, problem)))
            return false;
        if (when.len >= 2 && when.bytes[0] == '"') {
            when.bytes++;
            when.len -= 2;
        }
    } else if ((fields->key || fields->time) &&
               !read_delimited(fields, line, key, &when, problem)) {
        return false;
    }
    if (!seen_fields_have_time(fields))
        return true;
    const char *wrong = seen_time_parse(when.bytes, when.len, fields->unit, time);
    return !wrong || fail(problem, "its time %s %s", quote(when).text, wrong);
}
