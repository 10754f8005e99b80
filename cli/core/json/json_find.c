#include "cli/core/json/json_find.h"

#include <string.h>

static const char incomplete[] = "the object is incomplete";

typedef struct cursor {
    char *start, *at, *end;
    const char *problem;
} cursor;

static bool fail_find(cursor *c, const char *problem)
{
    if (!c->problem)
        c->problem = c->at == c->end ? incomplete : problem;
    return false;
}

static void skip_find_space(cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\t' || *c->at == '\r' || *c->at == '\n'))
        c->at++;
}

static bool take_find_byte(cursor *c, char wanted, const char *otherwise)
{
    skip_find_space(c);
    if (c->at == c->end || *c->at != wanted)
        return fail_find(c, otherwise);
    c->at++;
    return true;
}

/* Skips a string, from its opening quote past its closing one. */
static bool skip_string(cursor *c)
{
    for (c->at++; c->at < c->end; c->at++) {
        if (*c->at == '"') {
            c->at++;
            return true;
        }
        if (*c->at == '\\' && ++c->at == c->end)
            break;
    }
    return fail_find(c, incomplete);
}

/* Skips an object or an array. */
static bool skip_nested(cursor *c)
{
    size_t depth = 0;
    do {
        if (c->at == c->end)
            return fail_find(c, incomplete);
        if (*c->at == '"') {
            if (!skip_string(c))
                return false;
            continue;
        }
        depth += *c->at == '{' || *c->at == '[';
        depth -= *c->at == '}' || *c->at == ']';
        c->at++;
    } while (depth > 0);
    return true;
}

static bool skip_value(cursor *c)
{
    static const char ends[] = ",}] \t\r\n\":{[";
    if (c->at < c->end && *c->at == '"')
        return skip_string(c);
    if (c->at < c->end && (*c->at == '{' || *c->at == '['))
        return skip_nested(c);
    const char *start = c->at;
    while (c->at < c->end && !memchr(ends, *c->at, sizeof ends - 1))
        c->at++;
    return c->at > start || fail_find(c, "a value is expected here");
}

/* Advances to the member; *found is false if there is none. */
static bool find_member(cursor *c, const char *name, size_t name_len, cli_text *value, bool *found)
{
    if (!take_find_byte(c, '{', "an object is expected, in braces"))
        return false;
    skip_find_space(c);
    *found = false;
    if (c->at < c->end && *c->at == '}')
        return true;
    for (;;) {
        skip_find_space(c);
        char *quote = c->at;
        if (c->at == c->end || *c->at != '"')
            return fail_find(c, "the name of a member is expected, in quotes");
        if (!skip_string(c))
            return false;
        size_t len = (size_t)(c->at - quote) - 2;
        *found = len == name_len && memcmp(quote + 1, name, len) == 0;
        if (!take_find_byte(c, ':', "a colon is expected"))
            return false;
        skip_find_space(c);
        char *start = c->at;
        if (!skip_value(c))
            return false;
        *value = (cli_text){start, (size_t)(c->at - start)};
        if (*found)
            return true;
        skip_find_space(c);
        if (c->at < c->end && *c->at == '}')
            return true;
        if (!take_find_byte(c, ',', "a comma or a closing brace is expected"))
            return false;
    }
}

const char *cli_json_find(cli_text line, const char *name, cli_text *value, size_t *column)
{
    cursor c = {line.bytes, line.bytes, line.bytes + line.len, NULL};
    bool found;
    *column = 0;
    if (find_member(&c, name, strlen(name), value, &found))
        return found ? NULL : "there is no member";
    *column = (size_t)(c.at - c.start) + 1;
    return c.problem;
}
