#include "map_pairs.h"

#include "base64.h"
#include "fields.h"
#include "json_line.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define BATCH 256u

/* ---- values -------------------------------------------------------------------------------- */

static const char too_long[] = "the value is longer than 65535 bytes";
_Static_assert(BRY_MAP_VALUE_MAX == 65535, "the text above says so");

static const char *number_value(uint32_t value_bits, uint64_t number, bry_map_value *value)
{
    if (number >> value_bits != 0)
        return "the value has more bits than the values of this map";
    *value = bry_map_value_number(number);
    return NULL;
}

const char *cli_pair_value(uint32_t value_bits, const char *text, size_t len, bry_map_value *value)
{
    if (value_bits == 0) {
        *value = bry_map_value_bytes(text, len);
        return len > BRY_MAP_VALUE_MAX ? too_long : NULL;
    }
    uint64_t number = 0;
    bool fits = true;
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9')
            return "the value is not a whole number, as this map takes them";
        fits = fits && !__builtin_mul_overflow(number, 10, &number) &&
               !__builtin_add_overflow(number, (uint64_t)(text[i] - '0'), &number);
    }
    if (len == 0)
        return "the value is not a whole number, as this map takes them";
    return number_value(value_bits, fits ? number : UINT64_MAX, value);
}

int cli_pair_delimiter(const char *command, const char *text, bool json, char *delimiter)
{
    if (text && json)
        return cli_misuse(command, "--delimiter does not go with --json-lines");
    return cli_delimiter_read(command, text, delimiter);
}

/* ---- reading ------------------------------------------------------------------------------- */

static const char *read_delimited(const cli_pairs *pairs, cli_text line, cli_pair *pair)
{
    char *tab = line.len ? memchr(line.bytes, pairs->delimiter, line.len) : NULL;
    if (!tab)
        return pairs->delimiter == '\t' ? "there is no tab between key and value"
                                        : "there is no delimiter between key and value";
    pair->key = (cli_text){line.bytes, (size_t)(tab - line.bytes)};
    return cli_pair_value(pairs->value_bits, tab + 1, line.len - pair->key.len - 1, &pair->value);
}

enum { KEY, KEY_BASE64, VALUE, VALUE_BASE64, MEMBERS };

/* The string of a member, or of its twin in base64. */
static const char *read_bytes(cli_json_member *plain, cli_json_member *base64, cli_text *text,
                              size_t *column)
{
    cli_json_member *member = plain->type == CLI_JSON_MISSING ? base64 : plain;
    *column = member->column;
    if (member->type != CLI_JSON_STRING)
        return "a string is expected here";
    *text = member->text;
    if (member == base64 && !cli_base64_read(text->bytes, &text->len))
        return "this is not base64";
    return NULL;
}

/* Both forms of a member, or neither. */
static bool is_twofold(const cli_json_member *plain, const cli_json_member *base64)
{
    return (plain->type == CLI_JSON_MISSING) == (base64->type == CLI_JSON_MISSING);
}

static const char *read_json(const cli_pairs *pairs, cli_text line, cli_pair *pair, size_t *column)
{
    cli_json_member members[MEMBERS] = {
        {.name = "key"}, {.name = "key_base64"}, {.name = "value"}, {.name = "value_base64"}};
    const char *problem = cli_json_line_read(line, members, MEMBERS, column);
    if (problem)
        return problem;
    *column = 0; /* what follows may be about the line as a whole */
    if (is_twofold(&members[KEY], &members[KEY_BASE64]))
        return "it takes one of \"key\" and \"key_base64\"";
    if (is_twofold(&members[VALUE], &members[VALUE_BASE64]))
        return "it takes one of \"value\" and \"value_base64\"";
    problem = read_bytes(&members[KEY], &members[KEY_BASE64], &pair->key, column);
    if (problem)
        return problem;
    const cli_json_member *value = &members[VALUE];
    if (pairs->value_bits) {
        *column = value->type == CLI_JSON_MISSING ? members[VALUE_BASE64].column : value->column;
        return value->type == CLI_JSON_WHOLE
                   ? number_value(pairs->value_bits, value->number, &pair->value)
                   : "the value is not a whole number, as this map takes them";
    }
    cli_text text;
    problem = read_bytes(&members[VALUE], &members[VALUE_BASE64], &text, column);
    return problem ? problem : cli_pair_value(0, text.bytes, text.len, &pair->value);
}

int cli_lines_failed(const cli_lines *lines, bry_status status)
{
    int problem = errno;
    cli_place place = cli_lines_place(lines, lines->number + 1);
    if (status == BRY_E_IO)
        return cli_fail(status, "%s: %s",
                        lines->name ? cli_quote(lines->name).text : "standard input",
                        strerror(problem));
    if (status == BRY_E_LIMIT)
        return cli_fail(status, "%s: it is longer than %zu bytes", place.text, CLI_LINE_MAX);
    return cli_fail(status, "%s: %s", place.text, bry_status_text(status));
}

int cli_pairs_next(cli_pairs *pairs, cli_pair *pair, bool *more)
{
    cli_text line;
    bry_status status = cli_lines_next(&pairs->lines, &line);
    if (status != BRY_OK)
        return cli_lines_failed(&pairs->lines, status);
    *more = line.bytes != NULL;
    if (!*more)
        return CLI_GO_ON;
    size_t column = 0;
    const char *problem =
        pairs->json ? read_json(pairs, line, pair, &column) : read_delimited(pairs, line, pair);
    if (!problem)
        return CLI_GO_ON;
    if (column)
        return cli_fail(BRY_E_BADDATA, "line %" PRIu64 ", column %zu: %s", pairs->lines.number,
                        column, problem);
    return cli_fail(BRY_E_BADDATA, "line %" PRIu64 ": %s", pairs->lines.number, problem);
}

/* ---- putting in ---------------------------------------------------------------------------- */

bry_status cli_map_put(bry_map *map, cli_map_how how, bry_hash hash, bry_map_value value)
{
    if (how == CLI_MAP_SET)
        return bry_map_set(map, hash, value, NULL);
    if (how == CLI_MAP_FILL && bry_map_get(map, hash, NULL) == BRY_PRESENT) {
        bry_status status = bry_map_set(map, hash, value, NULL);
        if (status != BRY_E_UNSURE)
            return status;
    }
    return bry_map_add(map, hash, value);
}

typedef struct batch {
    uint64_t first_line;
    size_t n;
    bry_hash hashes[BATCH];
    bry_map_value values[BATCH]; /* in the buffer of the lines */
} batch;

/* As many pairs as are there without reading on, since that would move the ones before. */
static int fill(cli_pairs *pairs, uint64_t seed, batch *b)
{
    bool more = true;
    b->n = 0;
    b->first_line = pairs->lines.number + 1;
    do {
        cli_pair pair = {.key = {NULL, 0}};
        int code = cli_pairs_next(pairs, &pair, &more);
        if (code != CLI_GO_ON)
            return code;
        if (more) {
            b->hashes[b->n] = bry_hash_key(seed, pair.key.bytes, pair.key.len);
            b->values[b->n++] = pair.value;
        }
    } while (more && b->n < BATCH && cli_lines_ready(&pairs->lines));
    return CLI_GO_ON;
}

int cli_map_put_all(bry_map *map, const cli_memory *memory, cli_map_how how, cli_pairs *pairs)
{
    uint64_t seed = bry_map_seed(map);
    /* kbf decides key by key; compact never is unsure, and hides latency in a batch. */
    bool batches = cli_map_options(map).engine == BRY_ENGINE_COMPACT;
    cli_progress progress = cli_progress_start(cli_bytes_left(pairs->lines.fd), false);
    pairs->lines.progress = &progress;
    batch now;
    int code;
    while ((code = fill(pairs, seed, &now)) == CLI_GO_ON && now.n > 0) {
        /* One that fails changed nothing: then each on its own, to find out which it is. */
        bool done = batches && bry_map_set_n(map, now.hashes, now.values, now.n, NULL) == BRY_OK;
        bry_status status = BRY_OK;
        for (size_t i = 0; i < now.n && !done && status == BRY_OK; i++) {
            status = cli_map_put(map, how, now.hashes[i], now.values[i]);
            if (status != BRY_OK) {
                char where[40];
                snprintf(where, sizeof where, "line %" PRIu64, now.first_line + i);
                cli_progress_end(&progress);
                return cli_map_refused(status, map, memory, where);
            }
        }
        cli_progress_add(&progress, now.n);
    }
    cli_progress_end(&progress);
    pairs->lines.progress = NULL;
    return code;
}
