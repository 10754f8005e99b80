#include "clients/c/map_record.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define CAPACITY_DEFAULT UINT64_C(1000000)
#define ERROR_DEFAULT 0.001
#define VALUES_DEFAULT 1000u
#define SLAB_PAIRS 1e6
#define SLAB_BYTES 16e6
#define SLABS_PER_PRIMARY 32u
#define SLABS_MOST (1u << 24)
#define SLAB_LEAST 64u
#define CODE_BITS_LEAST 8u
#define CODE_BITS_MOST 24u

bool bryc__name_is_valid(const char *name)
{
    size_t len = strlen(name);
    for (size_t i = 0; i < len; i++)
        if (name[i] == '{' || name[i] == '}' || (unsigned char)name[i] < 32 || name[i] == 127)
            return false;
    return len >= 1 && len <= BRYC__NAME_MAX;
}

/* The shortest text that is read back as the same number. */
void bryc__write_share(double share, char *text, size_t room)
{
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, room, "%.*g", digits, share);
        if (strtod(text, NULL) == share)
            return;
    }
}

static void record_write(bryc__record *record)
{
    char pick[2 * BRYC__SECRET + 16] = "crc32", error[32];
    if (record->keyed) {
        int at = snprintf(pick, sizeof pick, "hmac-sha256:");
        for (size_t i = 0; i < BRYC__SECRET; i++)
            snprintf(pick + at + 2 * i, 3, "%02x", record->secret[i]);
    }
    bryc__write_share(record->error, error, sizeof error);
    snprintf(record->text, sizeof record->text,
             "bloomery-map 1 slabs=%" PRIu64 " epoch=%s pick=%s values=%s:%u engine=%s "
             "capacity=%" PRIu64 " error=%s seed=%" PRIu64,
             record->slabs, record->epoch, pick, record->codes ? "codes" : "raw", record->bits,
             bry_engine_name(record->engine), record->capacity, error, record->seed);
}

bry_map_options bryc__record_slab(const bryc__record *record)
{
    bry_map_options options = BRY_MAP_OPTIONS;
    double pairs = (double)record->capacity / (double)record->slabs;
    options.engine = record->engine;
    options.capacity = (uint64_t)ceil(pairs + 4 * sqrt(pairs));
    if (options.capacity < SLAB_LEAST)
        options.capacity = SLAB_LEAST;
    options.error = record->error;
    options.value_bits = record->bits;
    options.seed = record->seed;
    return options;
}

/* ---- planning ------------------------------------------------------------------------------ */

static uint32_t code_bits(uint64_t values, bool kbf)
{
    uint32_t bits = CODE_BITS_LEAST, most = kbf ? BRY_MAP_KBF_VALUE_BITS_MAX : CODE_BITS_MOST;
    while (bits < most && values > UINT64_C(1) << bits >> 2)
        bits++;
    return bits;
}

/* Slabs of 10^6 pairs and 16 MB at most; kbf takes about 7 bytes per pair and decimal of the
 * error. */
static uint64_t plan_slab_count(const bryc__record *record, uint32_t primaries)
{
    double pairs = SLAB_PAIRS;
    if (record->engine == BRY_ENGINE_KBF)
        pairs = fmin(pairs, SLAB_BYTES / (7 * (1 + log10(1 / record->error))));
    uint64_t slabs = (uint64_t)ceil((double)record->capacity / pairs);
    uint64_t least = (uint64_t)SLABS_PER_PRIMARY * (primaries ? primaries : 1);
    return slabs < least ? least : slabs;
}

const char *bryc__record_new_epoch(bryc__record *record)
{
    unsigned char random[8];
    if (getrandom(random, sizeof random, 0) != sizeof random)
        return "getrandom failed";
    for (size_t i = 0; i < sizeof random; i++)
        snprintf(record->epoch + 2 * i, 3, "%02x", random[i]);
    record_write(record);
    return NULL;
}

const char *bryc__record_plan(const bryc_map_options *options, uint32_t primaries,
                              bryc__record *record)
{
    bool kbf = options->engine == BRY_ENGINE_KBF;
    *record = (bryc__record){.slabs = options->slabs,
                             .keyed = options->keyed == 1,
                             .codes = options->value_bits == 0,
                             .bits = options->value_bits,
                             .engine = kbf ? BRY_ENGINE_KBF : BRY_ENGINE_COMPACT,
                             .capacity = options->capacity ? options->capacity : CAPACITY_DEFAULT,
                             .error = options->error != 0 ? options->error : ERROR_DEFAULT,
                             .seed = options->seed};
    if (record->codes)
        record->bits = code_bits(options->values ? options->values : VALUES_DEFAULT, kbf);
    if (!kbf && options->engine != BRY_ENGINE_AUTO && options->engine != BRY_ENGINE_COMPACT)
        return "the engine is neither compact nor kbf";
    if (options->keyed > 2)
        return "keyed is 0 to 2";
    if (options->value_bits && options->values)
        return "values are either integers or byte strings";
    if (record->capacity > BRY_CAPACITY_MAX)
        return "capacity is 1 to 2^40";
    if (!(record->error >= BRY_MAP_ERROR_MIN && record->error <= BRY_ERROR_MAX))
        return "error is 1e-09 to 0.5";
    if (record->bits > (kbf ? BRY_MAP_KBF_VALUE_BITS_MAX : BRY_MAP_VALUE_BITS_MAX))
        return "value_bits is 1 to 32 (kbf: 13)";
    if (options->values > UINT64_C(1) << (kbf ? BRY_MAP_KBF_VALUE_BITS_MAX : CODE_BITS_MOST))
        return "values is 1 to 2^24 (kbf: 2^13)";
    if (record->slabs == 0)
        record->slabs = plan_slab_count(record, primaries);
    if (record->slabs > SLABS_MOST)
        return "slabs is 1 to 2^24";
    if (getrandom(record->secret, sizeof record->secret, 0) != sizeof record->secret ||
        (!record->seed && getrandom(&record->seed, sizeof record->seed, 0) != sizeof record->seed))
        return "getrandom failed";
    record->seed += record->seed == 0;
    bry_map_options slab = bryc__record_slab(record);
    bry_map_shape shape;
    if (bry_map_plan(&slab, &shape) != BRY_OK)
        return "there is no plan for this capacity, error and number of slabs";
    return bryc__record_new_epoch(record);
}

/* ---- reading ------------------------------------------------------------------------------- */

static bool read_number(const char *text, uint64_t *number)
{
    char *end;
    errno = 0;
    if (text[0] < '0' || text[0] > '9')
        return false;
    *number = strtoull(text, &end, 10);
    return *end == '\0' && errno == 0;
}

static bool is_hex(const char *text, size_t len)
{
    return strlen(text) == len && strspn(text, "0123456789abcdef") == len;
}

static bool read_pick(const char *text, bryc__record *record)
{
    static const char keyed[] = "hmac-sha256:";
    if (strcmp(text, "crc32") == 0)
        return true;
    if (strncmp(text, keyed, sizeof keyed - 1) != 0 ||
        !is_hex(text + sizeof keyed - 1, 2 * sizeof record->secret))
        return false;
    record->keyed = true;
    for (size_t i = 0; i < sizeof record->secret; i++) {
        char pair[3] = {text[sizeof keyed - 1 + 2 * i], text[sizeof keyed + 2 * i], 0};
        record->secret[i] = (unsigned char)strtoul(pair, NULL, 16);
    }
    return true;
}

static bool read_values(const char *text, bryc__record *record)
{
    uint64_t bits;
    record->codes = strncmp(text, "codes:", 6) == 0;
    if (!record->codes && strncmp(text, "raw:", 4) != 0)
        return false;
    if (!read_number(text + (record->codes ? 6 : 4), &bits) || bits < 1 ||
        bits > BRY_MAP_VALUE_BITS_MAX)
        return false;
    record->bits = (uint32_t)bits;
    return true;
}

/* Field number i of the line, whose value is `text`. */
static bool read_field(size_t i, const char *text, bryc__record *record)
{
    char *end;
    switch (i) {
    case 0:
        return read_number(text, &record->slabs) && record->slabs >= 1 &&
               record->slabs <= SLABS_MOST;
    case 1:
        snprintf(record->epoch, sizeof record->epoch, "%s", text);
        return is_hex(text, sizeof record->epoch - 1);
    case 2:
        return read_pick(text, record);
    case 3:
        return read_values(text, record);
    case 4:
        return bry_engine_parse(text, &record->engine) == BRY_OK &&
               (record->engine == BRY_ENGINE_COMPACT || record->engine == BRY_ENGINE_KBF);
    case 5:
        return read_number(text, &record->capacity) && record->capacity >= 1;
    case 6:
        record->error = strtod(text, &end);
        return end != text && *end == '\0' && record->error > 0 && record->error < 1;
    default:
        return read_number(text, &record->seed) && record->seed >= 1;
    }
}

const char *bryc__record_read(const char *text, size_t len, bryc__record *record)
{
    static const char *const names[] = {
        "slabs=", "epoch=", "pick=", "values=", "engine=", "capacity=", "error=", "seed="};
    static const char first[] = "bloomery-map ";
    enum { FIELDS = sizeof names / sizeof names[0] };
    char copy[BRYC__RECORD_MAX], *rest, *word;
    *record = (bryc__record){0};
    if (len >= sizeof copy || len < sizeof first || strncmp(text, first, sizeof first - 1) != 0)
        return "the key is not the record of a map";
    memcpy(copy, text, len);
    copy[len] = '\0';
    memcpy(record->text, copy, len + 1);
    word = strtok_r(copy + sizeof first - 1, " ", &rest);
    if (!word || strcmp(word, "1") != 0)
        return "the map was made by a newer Bloomery";
    for (size_t i = 0; i < FIELDS; i++) {
        word = strtok_r(NULL, " ", &rest);
        if (!word || strncmp(word, names[i], strlen(names[i])) != 0 ||
            !read_field(i, word + strlen(names[i]), record))
            return "the map was made by a newer Bloomery, or its record is damaged";
    }
    return strtok_r(NULL, " ", &rest) ? "the map was made by a newer Bloomery" : NULL;
}

const char *bryc__record_differs(const bryc__record *record, const bryc_map_options *options,
                                 char *message, size_t room)
{
    char has[32], wanted[32];
    bool kbf = record->engine == BRY_ENGINE_KBF;
    bryc__write_share(record->error, has, sizeof has);
    bryc__write_share(options->error, wanted, sizeof wanted);
    if (options->capacity && options->capacity != record->capacity)
        snprintf(message, room, "capacity %" PRIu64 ", not %" PRIu64, record->capacity,
                 options->capacity);
    else if (options->error > 0 && options->error != record->error)
        snprintf(message, room, "error %s, not %s", has, wanted);
    else if (options->engine != BRY_ENGINE_AUTO && options->engine != record->engine)
        snprintf(message, room, "engine %s, not %s", bry_engine_name(record->engine),
                 bry_engine_name(options->engine));
    else if (options->value_bits && (record->codes || options->value_bits != record->bits))
        snprintf(message, room, "values %s of %u bits, not integers of %u bits",
                 record->codes ? "that are byte strings, with codes" : "that are integers",
                 record->bits, options->value_bits);
    else if (options->values && (!record->codes || code_bits(options->values, kbf) != record->bits))
        snprintf(message, room, "values %s of %u bits, not byte strings with codes of %u bits",
                 record->codes ? "that are byte strings, with codes" : "that are integers",
                 record->bits, code_bits(options->values, kbf));
    else if (options->slabs && options->slabs != record->slabs)
        snprintf(message, room, "%" PRIu64 " slabs, not %" PRIu64, record->slabs, options->slabs);
    else if (options->seed && options->seed != record->seed)
        snprintf(message, room, "another seed");
    else if (options->keyed && (options->keyed == 1) != record->keyed)
        snprintf(message, room, "slabs chosen %s a key", record->keyed ? "with" : "without");
    else
        return NULL;
    return message;
}
