#include "cli/core/json/json_read.h"

#include "cli/core/json/utf8.h"

#include <string.h>

static const char cut_short[] = "the line ends too early";
static const char not_escape[] = "invalid escape sequence";
static const char not_value[] = "a string or a whole number is expected";

/* The rest of the line. Strings are decoded in place: decoding never makes them longer. */
typedef struct cursor {
    char *start, *at, *end;
    const char *problem; /* the first problem; `at` stays there */
} cursor;

static bool fail_json(cursor *c, char *at, const char *problem)
{
    if (!c->problem) {
        c->problem = at == c->end ? cut_short : problem;
        c->at = at;
    }
    return false;
}

static void skip_json_space(cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\t' || *c->at == '\r' || *c->at == '\n'))
        c->at++;
}

/* Skips the character `wanted`, or fails with `problem`. */
static bool take_json_byte(cursor *c, char wanted, const char *problem)
{
    skip_json_space(c);
    if (c->at == c->end || *c->at != wanted)
        return fail_json(c, c->at, problem);
    c->at++;
    return true;
}

/* Advances to the opening quote of a member's name. */
static bool find_name(cursor *c, char **quote)
{
    skip_json_space(c);
    *quote = c->at;
    return (c->at < c->end && *c->at == '"') ||
           fail_json(c, c->at, "the name of a member is expected, in quotes");
}

/* ---- one member ---------------------------------------------------------------------------- */

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
    return fail_json(c, c->at, cut_short);
}

/* Skips an object or an array. */
static bool skip_nested(cursor *c)
{
    size_t depth = 0;
    do {
        if (c->at == c->end)
            return fail_json(c, c->at, cut_short);
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
    return c->at > start || fail_json(c, c->at, "a value is expected here");
}

/* Advances to the member; *found is false if there is none. */
static bool find_member(cursor *c, const char *name, size_t name_len, cli_text *value, bool *found)
{
    if (!take_json_byte(c, '{', "an object is expected, in braces"))
        return false;
    skip_json_space(c);
    *found = false;
    if (c->at < c->end && *c->at == '}')
        return true;
    for (;;) {
        char *quote;
        if (!find_name(c, &quote) || !skip_string(c))
            return false;
        size_t len = (size_t)(c->at - quote) - 2;
        *found = len == name_len && memcmp(quote + 1, name, len) == 0;
        if (!take_json_byte(c, ':', "a colon is expected"))
            return false;
        skip_json_space(c);
        char *start = c->at;
        if (!skip_value(c))
            return false;
        *value = (cli_text){start, (size_t)(c->at - start)};
        if (*found)
            return true;
        skip_json_space(c);
        if (c->at < c->end && *c->at == '}')
            return true;
        if (!take_json_byte(c, ',', "a comma or a closing brace is expected"))
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

/* ---- all members --------------------------------------------------------------------------- */

/* The four digits of a \u escape that begins at `escape`. */
static bool read_unit(cursor *c, const char *digits, char *escape, uint32_t *unit)
{
    *unit = 0;
    for (int i = 0; i < 4; i++) {
        if (digits + i >= c->end)
            return fail_json(c, c->end, cut_short);
        char d = digits[i];
        int value = d >= '0' && d <= '9'   ? d - '0'
                    : d >= 'a' && d <= 'f' ? d - 'a' + 10
                    : d >= 'A' && d <= 'F' ? d - 'A' + 10
                                           : -1;
        if (value < 0)
            return fail_json(c, escape, not_escape);
        *unit = *unit << 4 | (uint32_t)value;
    }
    return true;
}

static char *put_character(char *out, uint32_t point)
{
    if (point < 0x80) {
        *out++ = (char)point;
    } else if (point < 0x800) {
        *out++ = (char)(0xc0 | point >> 6);
        *out++ = (char)(0x80 | (point & 0x3f));
    } else if (point < 0x10000) {
        *out++ = (char)(0xe0 | point >> 12);
        *out++ = (char)(0x80 | (point >> 6 & 0x3f));
        *out++ = (char)(0x80 | (point & 0x3f));
    } else {
        *out++ = (char)(0xf0 | point >> 18);
        *out++ = (char)(0x80 | (point >> 12 & 0x3f));
        *out++ = (char)(0x80 | (point >> 6 & 0x3f));
        *out++ = (char)(0x80 | (point & 0x3f));
    }
    return out;
}

/* \uXXXX, or two of them that are a surrogate pair. */
static char *read_point(cursor *c, char *out)
{
    static const char lone[] = "unpaired surrogate";
    char *escape = c->at;
    uint32_t point, low;
    if (!read_unit(c, c->at + 2, escape, &point))
        return NULL;
    c->at += 6;
    if (point >= 0xdc00 && point <= 0xdfff) {
        fail_json(c, escape, lone);
        return NULL;
    }
    if (point >= 0xd800 && point <= 0xdbff) {
        if (c->end - c->at < 2 || c->at[0] != '\\' || c->at[1] != 'u') {
            fail_json(c, escape, lone);
            return NULL;
        }
        if (!read_unit(c, c->at + 2, c->at, &low))
            return NULL;
        if (low < 0xdc00 || low > 0xdfff) {
            fail_json(c, escape, lone);
            return NULL;
        }
        c->at += 6;
        point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
    }
    return put_character(out, point);
}

static char *read_escape(cursor *c, char *out)
{
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    if (c->end - c->at < 2) {
        fail_json(c, c->end, cut_short);
        return NULL;
    }
    if (c->at[1] == 'u')
        return read_point(c, out);
    const char *letter = c->at[1] ? strchr(letters, c->at[1]) : NULL;
    if (!letter) {
        fail_json(c, c->at, not_escape);
        return NULL;
    }
    c->at += 2;
    *out = meanings[letter - letters];
    return out + 1;
}

/* A string whose opening quote is at c->at. */
static bool read_string(cursor *c, cli_text *text)
{
    char *out = ++c->at;
    text->bytes = out;
    while (c->at < c->end && *c->at != '"') {
        if (*c->at == '\\') {
            out = read_escape(c, out);
            if (!out)
                return false;
            continue;
        }
        if ((unsigned char)*c->at < 0x20)
            return fail_json(c, c->at, "control characters must be escaped");
        size_t len = cli_utf8_character((unsigned char *)c->at, (size_t)(c->end - c->at));
        if (len == 0)
            return fail_json(c, c->at, "invalid UTF-8");
        memmove(out, c->at, len);
        out += len;
        c->at += len;
    }
    if (c->at == c->end)
        return fail_json(c, c->at, cut_short);
    c->at++;
    text->len = (size_t)(out - text->bytes);
    return true;
}

/* Digits only: no sign, fraction or exponent. */
static bool read_whole_number(cursor *c, uint64_t *number)
{
    char *start = c->at;
    *number = 0;
    for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++)
        if (__builtin_mul_overflow(*number, 10, number) ||
            __builtin_add_overflow(*number, (uint64_t)(*c->at - '0'), number))
            return fail_json(c, start, "the number is too large");
    bool longer = c->at < c->end && (*c->at == '.' || *c->at == 'e' || *c->at == 'E');
    if (c->at == start || longer)
        return fail_json(c, start, not_value);
    if (*start == '0' && c->at - start > 1)
        return fail_json(c, start, "a number must not begin with 0");
    return true;
}

static bool read_json_member(cursor *c, cli_json_member *members, size_t count)
{
    cli_text name;
    char *name_at;
    if (!find_name(c, &name_at) || !read_string(c, &name))
        return false;
    cli_json_member *member = NULL;
    for (size_t i = 0; i < count && !member; i++)
        if (strlen(members[i].name) == name.len &&
            memcmp(members[i].name, name.bytes, name.len) == 0)
            member = &members[i];
    if (!member)
        return fail_json(c, name_at, "unknown member");
    if (member->type != CLI_JSON_MISSING)
        return fail_json(c, name_at, "duplicate member");
    if (!take_json_byte(c, ':', "a colon is expected"))
        return false;
    skip_json_space(c);
    member->column = (size_t)(c->at - c->start) + 1;
    bool is_string = c->at < c->end && *c->at == '"';
    member->type = is_string ? CLI_JSON_STRING : CLI_JSON_WHOLE;
    return is_string ? read_string(c, &member->text) : read_whole_number(c, &member->number);
}

static bool read_object(cursor *c, cli_json_member *members, size_t count)
{
    if (!take_json_byte(c, '{', "an object is expected, in braces"))
        return false;
    skip_json_space(c);
    bool empty = c->at < c->end && *c->at == '}';
    while (!empty) {
        if (!read_json_member(c, members, count))
            return false;
        skip_json_space(c);
        if (c->at == c->end || *c->at != ',')
            break;
        c->at++;
    }
    if (!take_json_byte(c, '}', "a comma or a closing brace is expected"))
        return false;
    skip_json_space(c);
    return c->at == c->end || fail_json(c, c->at, "unexpected text after the object");
}

const char *cli_json_line_read(cli_text line, cli_json_member *members, size_t count,
                               size_t *column)
{
    cursor c = {line.bytes, line.bytes, line.bytes + line.len, NULL};
    for (size_t i = 0; i < count; i++)
        members[i].type = CLI_JSON_MISSING;
    if (read_object(&c, members, count))
        return NULL;
    *column = (size_t)(c.at - c.start) + 1;
    return c.problem;
}
