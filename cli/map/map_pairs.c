#include "cli/map/map_pairs.h"

#include "cli/core/json/base64.h"
#include "cli/core/json/json_read.h"

#include <stdlib.h>
#include <string.h>

#define BATCH_LEAST ((size_t)1 << 18)
#define BATCH ((size_t)1 << 21)

/* ---- values -------------------------------------------------------------------------------- */

static const char too_long[] = "the value is longer than 65535 bytes";
_Static_assert(BRY_MAP_VALUE_MAX == 65535, "the text above must match");

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
            return "the value is not a whole number, and the values of this map are integers";
        fits = fits && !__builtin_mul_overflow(number, 10, &number) &&
               !__builtin_add_overflow(number, (uint64_t)(text[i] - '0'), &number);
    }
    if (len == 0)
        return "the value is not a whole number, and the values of this map are integers";
    return number_value(value_bits, fits ? number : UINT64_MAX, value);
}

int cli_pair_delimiter(const char *text, bool json, char *delimiter)
{
    if (text && json)
        return cli_misuse("--delimiter cannot be combined with --json-lines");
    *delimiter = text ? *text : '\t';
    return CLI_GO_ON;
}

/* ---- reading ------------------------------------------------------------------------------- */

static const char *read_delimited_pair(const cli_pairs *pairs, cli_text line, cli_pair *pair)
{
    char *tab = line.len ? memchr(line.bytes, pairs->delimiter, line.len) : NULL;
    if (!tab)
        return pairs->delimiter == '\t' ? "there is no tab between key and value"
                                        : "there is no delimiter between key and value";
    pair->key = (cli_text){line.bytes, (size_t)(tab - line.bytes)};
    return cli_pair_value(pairs->value_bits, tab + 1, line.len - pair->key.len - 1, &pair->value);
}

enum { KEY, KEY_BASE64, VALUE, VALUE_BASE64, MEMBERS };

/* The string of a member, or of its base64 variant. */
static const char *read_bytes(cli_json_member *plain, cli_json_member *base64, cli_text *text,
                              size_t *column)
{
    cli_json_member *member = plain->type == CLI_JSON_MISSING ? base64 : plain;
    *column = member->column;
    if (member->type != CLI_JSON_STRING)
        return "not a string";
    *text = member->text;
    if (member == base64 && !cli_base64_read(text->bytes, &text->len))
        return "invalid base64";
    return NULL;
}

/* Whether both forms of a member are given, or neither. */
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
    *column = 0; /* the checks below concern the whole line */
    if (is_twofold(&members[KEY], &members[KEY_BASE64]))
        return "give either \"key\" or \"key_base64\"";
    if (is_twofold(&members[VALUE], &members[VALUE_BASE64]))
        return "give either \"value\" or \"value_base64\"";
    problem = read_bytes(&members[KEY], &members[KEY_BASE64], &pair->key, column);
    if (problem)
        return problem;
    const cli_json_member *value = &members[VALUE];
    if (pairs->value_bits) {
        *column = value->type == CLI_JSON_MISSING ? members[VALUE_BASE64].column : value->column;
        return value->type == CLI_JSON_WHOLE
                   ? number_value(pairs->value_bits, value->number, &pair->value)
                   : "the value is not a whole number, and the values of this map are integers";
    }
    cli_text text;
    problem = read_bytes(&members[VALUE], &members[VALUE_BASE64], &text, column);
    return problem ? problem : cli_pair_value(0, text.bytes, text.len, &pair->value);
}

int cli_pairs_next(cli_pairs *pairs, cli_pair *pair, bool *more)
{
    cli_text line;
    int code = cli_inputs_line(&pairs->inputs, &pairs->lines, &line);
    *more = line.bytes != NULL;
    if (code != CLI_GO_ON || !*more)
        return code;
    size_t column = 0;
    const char *problem = pairs->json ? read_json(pairs, line, pair, &column)
                                      : read_delimited_pair(pairs, line, pair);
    if (!problem)
        return CLI_GO_ON;
    cli_place place = cli_lines_place(&pairs->lines, pairs->lines.number);
    if (column)
        return cli_fail("%s, column %zu: %s", place.text, column, problem);
    return cli_fail("%s: %s", place.text, problem);
}

/* ---- putting in ---------------------------------------------------------------------------- */

bry_status cli_map_put(bry_map *map, cli_map_mode how, bry_hash hash, bry_map_value value)
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

/* Pairs of a batch that are from one input. */
typedef struct cli_pairs_part {
    size_t first; /* The first pair. */
    const char *name; /* The name of the input. */
    uint64_t line; /* The line of the first pair. */
} cli_pairs_part;

/*
 * Pairs are stored in batches, which is several times as fast as one by one; the larger the batch
 * relative to the map, the faster. Values are copied, because reading further lines moves the
 * current ones.
 */
typedef struct batch {
    cli_pairs_part *parts; /* where its pairs are from, in order */
    size_t part_count;
    size_t n, bytes, bytes_most;
    bry_hash *hashes;
    bry_map_value *values;
    char *text;
} batch;

static bool make_batch(batch *b)
{
    *b = (batch){.bytes_most = 16 * BATCH};
    b->hashes = malloc(BATCH * sizeof *b->hashes);
    b->values = malloc(BATCH * sizeof *b->values);
    b->text = malloc(b->bytes_most);
    return b->hashes && b->values && b->text;
}

static void free_batch(batch *b)
{
    free(b->parts);
    free(b->hashes);
    free(b->values);
    free(b->text);
}

/* Makes room for `len` bytes. */
static bool reserve_text(batch *b, size_t len)
{
    size_t most = 2 * b->bytes_most + len;
    char *text = malloc(most);
    if (!text)
        return false;
    if (b->bytes > 0)
        memcpy(text, b->text, b->bytes);
    for (size_t i = 0; i < b->n; i++)
        if (b->values[i].bytes)
            b->values[i].bytes = text + ((const char *)b->values[i].bytes - b->text);
    free(b->text);
    b->text = text;
    b->bytes_most = most;
    return true;
}

static bool add_to_batch(batch *b, uint64_t seed, const cli_pair *pair)
{
    size_t len = pair->value.len;
    if (len > b->bytes_most - b->bytes && !reserve_text(b, len))
        return false;
    char *text = b->text + b->bytes;
    if (len > 0) /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): then there is room */
        memcpy(text, pair->value.bytes, len);
    b->bytes += len;
    b->hashes[b->n] = bry_hash_key(seed, pair->key.bytes, pair->key.len);
    b->values[b->n++] = (bry_map_value){pair->value.bytes ? text : NULL, len, pair->value.number};
    return true;
}

/* Notes that the next pair is from another input than the one before, or the first of the batch. */
static bool begin_part(batch *b, const cli_lines *lines)
{
    cli_pairs_part *grown = realloc(b->parts, (b->part_count + 1) * sizeof *grown);
    if (!grown)
        return false;
    b->parts = grown;
    b->parts[b->part_count++] = (cli_pairs_part){b->n, lines->name, lines->number};
    return true;
}

static cli_place place_of_pair(const batch *b, size_t i)
{
    const cli_pairs_part *part = &b->parts[b->part_count - 1];
    while (part->first > i) /* NOLINT(clang-analyzer-core.NullDereference): a pair has its part */
        part--;
    const cli_lines lines = {.name = part->name};
    return cli_lines_place(&lines, part->line + (i - part->first));
}

/* Up to `most` pairs. */
static int fill_pair_batch(cli_pairs *pairs, uint64_t seed, size_t most, batch *b)
{
    bool more = true;
    size_t input = 0; /* of the pair before */
    b->n = b->bytes = b->part_count = 0;
    while (more && b->n < most) {
        cli_pair pair = {.key = {NULL, 0}};
        int code = cli_pairs_next(pairs, &pair, &more);
        if (code != CLI_GO_ON)
            return code;
        bool begins = more && pairs->inputs.next != input;
        input = pairs->inputs.next;
        if ((begins && !begin_part(b, &pairs->lines)) || (more && !add_to_batch(b, seed, &pair)))
            return cli_no_memory();
    }
    return CLI_GO_ON;
}

/* Stores a batch. A batch that fails changes nothing; then the pairs are stored one by one, to find
 * the one that fails. */
static int put_batch(bry_map *map, const cli_memory *memory, cli_map_mode how, const batch *b)
{
    /* kbf decides for each key; compact is never unsure, and faster in a batch. */
    if (cli_map_options(map).engine == BRY_ENGINE_COMPACT &&
        bry_map_set_n(map, b->hashes, b->values, b->n, NULL) == BRY_OK)
        return CLI_GO_ON;
    for (size_t i = 0; i < b->n; i++) {
        bry_status status = cli_map_put(map, how, b->hashes[i], b->values[i]);
        if (status != BRY_OK)
            return cli_map_refused(status, map, memory, place_of_pair(b, i).text);
    }
    return CLI_GO_ON;
}

int cli_map_put_all(bry_map *map, const cli_memory *memory, cli_map_mode how, cli_pairs *pairs)
{
    uint64_t seed = bry_map_seed(map), done = 0;
    cli_progress progress = cli_progress_start(pairs->inputs.bytes, false);
    pairs->lines.progress = &progress;
    batch now;
    int code = make_batch(&now) ? CLI_GO_ON : cli_no_memory();
    for (now.n = 1; code == CLI_GO_ON && now.n > 0; done += now.n) {
        size_t most = done < BATCH ? (size_t)done : BATCH;
        code = fill_pair_batch(pairs, seed, most < BATCH_LEAST ? BATCH_LEAST : most, &now);
        if (code == CLI_GO_ON && now.n > 0)
            code = put_batch(map, memory, how, &now);
        if (code == CLI_GO_ON)
            cli_progress_add(&progress, now.n);
    }
    free_batch(&now);
    cli_progress_end(&progress);
    pairs->lines.progress = NULL;
    return code;
}
