#include "cli/core/input/fields.h"

#include "cli/core/args.h"
#include "cli/core/output/output.h"
#include "text/number_parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char not_fields[] = "is not a field from 1 to 65535, or several such as 1,3";

/* Reads one number, up to a comma or the end. NULL, or what is wrong with it. */
static const char *read_field_number(const char *text, size_t len, uint16_t *number)
{
    uint64_t read = 0;
    if (text_parse_count(text, len, &read) || read < 1 || read > UINT16_MAX)
        return not_fields;
    *number = (uint16_t)read;
    return NULL;
}

int cli_fields_read(cli_fields *fields, const char *option, const char *text)
{
    fields->count = 0;
    for (const char *at = text;; at++) {
        size_t len = strcspn(at, ",");
        const char *problem = fields->count == CLI_MOST_FIELDS
                                  ? "has more than 8 fields"
                                  : read_field_number(at, len, &fields->number[fields->count]);
        if (problem)
            return cli_misuse("--%s: %s %s", option, cli_quote(text).text, problem);
        fields->count++;
        at += len;
        if (!*at)
            return CLI_GO_ON;
    }
}

int cli_field_read(uint16_t *number, const char *option, const char *text)
{
    cli_fields one = {0};
    int code = cli_fields_read(&one, option, text);
    if (code == CLI_GO_ON && one.count > 1)
        code = cli_misuse("--%s: %s is more than one field", option, cli_quote(text).text);
    *number = one.number[0];
    return code;
}

cli_fields_name cli_fields_say(const cli_fields *fields)
{
    cli_fields_name name = {""};
    size_t len = 0;
    for (unsigned i = 0; i < fields->count; i++)
        len += (size_t)snprintf(name.text + len, sizeof name.text - len, "%s%u", i ? "," : "",
                                fields->number[i]);
    return name;
}

unsigned cli_fields_find(char delimiter, const uint16_t *number, size_t n, cli_text line,
                         cli_text *parts)
{
    unsigned last = 0;
    for (size_t i = 0; i < n; i++)
        last = number[i] > last ? number[i] : last;
    char *at = line.bytes, *end = line.bytes + line.len;
    for (unsigned here = 1; here <= last; here++) {
        char *mark = at < end ? memchr(at, delimiter, (size_t)(end - at)) : NULL;
        for (size_t i = 0; i < n; i++)
            if (number[i] == here)
                parts[i] = (cli_text){at, (size_t)((mark ? mark : end) - at)};
        if (mark) {
            at = mark + 1;
            continue;
        }
        for (size_t i = 0; i < n; i++)
            if (number[i] > here)
                return number[i];
    }
    return 0;
}

bool cli_join(cli_scratch *scratch, const cli_text *parts, size_t n, char between, cli_text *joined)
{
    size_t len = n - 1;
    *joined = parts[0];
    if (n == 1)
        return true;
    for (size_t i = 0; i < n; i++)
        len += parts[i].len;
    if (len > scratch->capacity) {
        char *grown = realloc(scratch->bytes, len);
        if (!grown)
            return false;
        *scratch = (cli_scratch){grown, len};
    }
    char *at = scratch->bytes;
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            *at++ = between;
        if (parts[i].len)
            memcpy(at, parts[i].bytes, parts[i].len);
        at += parts[i].len;
    }
    *joined = (cli_text){scratch->bytes, len};
    return true;
}
