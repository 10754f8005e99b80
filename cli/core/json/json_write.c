#include "cli/core/json/json_write.h"

#include "cli/core/json/base64.h"
#include "cli/core/json/utf8.h"
#include "text/number_format.h"

#include <math.h>
#include <string.h>

static void write_string(FILE *out, const char *text, size_t text_len)
{
    fputc('"', out);
    const unsigned char *s = (const unsigned char *)text, *end = s + text_len;
    while (s < end) {
        size_t len = cli_utf8_character(s, (size_t)(end - s));
        if (len == 0)
            fputs("\\ufffd", out);
        else if (*s == '"' || *s == '\\')
            fprintf(out, "\\%c", *s);
        else if (*s < 0x20 || *s == 0x7f)
            fprintf(out, "\\u%04x", *s);
        else
            fwrite(s, 1, len, out);
        s += len ? len : 1;
    }
    fputc('"', out);
}

static void write_bytes(FILE *out, const void *bytes, size_t len)
{
    if (cli_utf8_is_valid(bytes, len)) {
        write_string(out, bytes, len);
        return;
    }
    fputc('"', out);
    cli_base64_write(out, bytes, len);
    fputc('"', out);
}

/* Writes what precedes a value: comma, newline, indentation, key. */
static void begin_json_value(cli_json *json, const char *key)
{
    if (json->depth > 0)
        fprintf(json->out, "%s\n%*s", json->any ? "," : "", (int)json->depth * 2, "");
    json->any = true;
    if (key) {
        write_string(json->out, key, strlen(key));
        fputs(": ", json->out);
    }
}

void cli_json_open(cli_json *json, const char *key, char bracket)
{
    begin_json_value(json, key);
    fputc(bracket, json->out);
    json->depth++;
    json->any = false;
}

void cli_json_close(cli_json *json, char bracket)
{
    json->depth--;
    if (json->any)
        fprintf(json->out, "\n%*s", (int)json->depth * 2, "");
    fputc(bracket, json->out);
    json->any = true; /* the closed value is a member of the enclosing one */
    if (json->depth == 0)
        fputc('\n', json->out);
}

void cli_json_text(cli_json *json, const char *key, const char *text)
{
    begin_json_value(json, key);
    if (text)
        write_string(json->out, text, strlen(text));
    else
        fputs("null", json->out);
}

void cli_json_bytes(cli_json *json, const char *key, const char *bytes, size_t len)
{
    char name[64];
    if (key)
        snprintf(name, sizeof name, "%s%s", key, cli_utf8_is_valid(bytes, len) ? "" : "_base64");
    begin_json_value(json, key ? name : NULL);
    write_bytes(json->out, bytes, len);
}

void cli_json_line_member(FILE *out, const char *name, const void *bytes, size_t len)
{
    fprintf(out, "\"%s%s\":", name, cli_utf8_is_valid(bytes, len) ? "" : "_base64");
    write_bytes(out, bytes, len);
}

void cli_json_count(cli_json *json, const char *key, uint64_t count)
{
    begin_json_value(json, key);
    fprintf(json->out, "%llu", (unsigned long long)count);
}

void cli_json_whole(cli_json *json, const char *key, int64_t number)
{
    begin_json_value(json, key);
    fprintf(json->out, "%lld", (long long)number);
}

void cli_json_number(cli_json *json, const char *key, double number)
{
    begin_json_value(json, key);
    if (!isfinite(number)) {
        fputs("null", json->out);
        return;
    }
    char text[TEXT_NUMBER_SIZE];
    fputs(text_number(number, text), json->out);
}

void cli_json_bool(cli_json *json, const char *key, bool value)
{
    begin_json_value(json, key);
    fputs(value ? "true" : "false", json->out);
}
