#include "clients/c/counters_record.h"

#include "clients/c/map_record.h"

#include <bloomery/counters.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define WINDOW_DEFAULT UINT64_C(600000)
#define SKEW_DEFAULT UINT64_C(1000)
#define ERROR_DEFAULT 1e-9
#define CAPACITY_DEFAULT UINT64_C(1000000)
#define PARTS_PER_PRIMARY 16u
#define PARTS_MOST UINT64_C(1048576)
#define NAME_MOST 65535u

static int compare_hot_names(const void *a, const void *b)
{
    const bryc_key *x = a, *y = b;
    int order = memcmp(x->bytes, y->bytes, x->len < y->len ? x->len : y->len);
    return order ? order : (x->len > y->len) - (x->len < y->len);
}

/* A copy of a name, in one block with it. */
static bool copy_name(const void *bytes, size_t len, bryc_key *to)
{
    char *copy = malloc(len + 1);
    if (!copy)
        return false;
    memcpy(copy, bytes, len);
    *to = (bryc_key){copy, len};
    return true;
}

bool bryc__counter_is_hot(const bryc__counter_record *record, bryc_key name)
{
    for (size_t i = 0; i < record->hot_count; i++)
        if (record->hot[i].len == name.len &&
            memcmp(record->hot[i].bytes, name.bytes, name.len) == 0)
            return true;
    return false;
}

void bryc__counter_record_free(bryc__counter_record *record)
{
    for (size_t i = 0; i < record->hot_count; i++)
        free((void *)(uintptr_t)record->hot[i].bytes);
    free(record->hot);
    free(record->text);
    *record = (bryc__counter_record){0};
}

/* Writes the text of the record. */
static bool write_counter_record(bryc__counter_record *record)
{
    size_t room = 400;
    for (size_t i = 0; i < record->hot_count; i++)
        room += 2 * record->hot[i].len + 1;
    record->text = malloc(room);
    if (!record->text)
        return false;
    int at =
        snprintf(record->text, room,
                 "bloomery-counters 1 parts=%" PRIu64 " epoch=%s window=%" PRIu64 " skew=%" PRIu64
                 " error=%s engine=%s capacity=%" PRIu64 " seed=%" PRIu64 " hot=%s",
                 record->parts, record->epoch, record->window, record->skew, record->error_text,
                 bry_engine_name(record->engine), record->capacity, record->seed,
                 record->hot_count ? "" : "-");
    char *to = record->text + at;
    for (size_t i = 0; i < record->hot_count; i++) {
        if (i)
            *to++ = ',';
        for (size_t j = 0; j < record->hot[i].len; j++, to += 2)
            snprintf(to, 3, "%02x", ((const unsigned char *)record->hot[i].bytes)[j]);
    }
    *to = '\0';
    return true;
}

static const char *plan_numbers(const bryc_counters_options *options, uint32_t primaries,
                                bryc__counter_record *record)
{
    unsigned char random[8];
    record->window = options->window_ms ? options->window_ms : WINDOW_DEFAULT;
    record->skew = options->skew_ms;
    if (record->skew == 0)
        record->skew =
            record->window / 4 + 1 < SKEW_DEFAULT ? record->window / 4 + 1 : SKEW_DEFAULT;
    record->error = options->error != 0 ? options->error : ERROR_DEFAULT;
    bryc__write_share(record->error, record->error_text, sizeof record->error_text);
    record->engine = options->engine == BRY_ENGINE_FBF ? BRY_ENGINE_FBF : BRY_ENGINE_COMPACT;
    record->capacity = options->capacity ? options->capacity : CAPACITY_DEFAULT;
    record->parts =
        options->parts ? options->parts : (uint64_t)PARTS_PER_PRIMARY * (primaries ? primaries : 1);
    record->seed = options->seed;
    if (record->window > BRY_SPAN_MAX || record->skew >= record->window ||
        record->parts > PARTS_MOST || record->capacity > BRY_CAPACITY_MAX ||
        !(record->error >= BRY_COUNTERS_ERROR_MIN && record->error <= BRY_ERROR_MAX) ||
        (options->engine != BRY_ENGINE_AUTO && options->engine != record->engine))
        return "window, skew, error, engine, parts or capacity are out of range";
    if (getrandom(random, sizeof random, 0) != sizeof random ||
        (!record->seed && getrandom(&record->seed, sizeof record->seed, 0) != sizeof record->seed))
        return "getrandom failed";
    record->seed += record->seed == 0;
    for (size_t i = 0; i < sizeof random; i++)
        snprintf(record->epoch + 2 * i, 3, "%02x", random[i]);
    return NULL;
}

const char *bryc__counter_record_plan(const bryc_counters_options *options, uint32_t primaries,
                                      bryc__counter_record *record)
{
    *record = (bryc__counter_record){0};
    const char *problem = plan_numbers(options, primaries, record);
    if (problem)
        return problem;
    record->hot = calloc(options->hot_count + 1, sizeof *record->hot);
    bool copied = record->hot != NULL;
    for (size_t i = 0; i < options->hot_count && copied; i++) {
        copied = options->hot[i].len <= NAME_MOST && options->hot[i].len > 0 &&
                 copy_name(options->hot[i].bytes, options->hot[i].len, &record->hot[i]);
        record->hot_count += copied;
    }
    if (copied && record->hot_count)
        qsort(record->hot, record->hot_count, sizeof record->hot[0], compare_hot_names);
    if (copied && write_counter_record(record))
        return NULL;
    bryc__counter_record_free(record);
    return "out of memory, or an invalid name of a hot counter";
}

/* ---- reading ------------------------------------------------------------------------------- */

/* "name=" at *text, then a value up to the next space, which is stored in `value`. */
static bool take_value(const char **text, const char *name, char *value, size_t room)
{
    size_t len = strlen(name);
    if (**text != ' ' || strncmp(*text + 1, name, len) != 0)
        return false;
    *text += 1 + len;
    size_t size = strcspn(*text, " ");
    if (size == 0 || size >= room)
        return false;
    memcpy(value, *text, size);
    value[size] = '\0';
    *text += size;
    return true;
}

static bool take_count(const char **text, const char *name, uint64_t *number)
{
    char value[24], *end;
    if (!take_value(text, name, value, sizeof value) || value[0] < '0' || value[0] > '9')
        return false;
    *number = strtoull(value, &end, 10);
    return *end == '\0';
}

/* "-", or names in hex with commas between them. */
static bool read_hot(const char *text, bryc__counter_record *record)
{
    static const char digits[] = "0123456789abcdef";
    if (strcmp(text, "-") == 0)
        return true;
    size_t most = strlen(text) / 2 + 1;
    record->hot = calloc(most, sizeof *record->hot);
    char *name = malloc(most);
    bool valid = record->hot && name;
    while (valid) {
        size_t len = strspn(text, digits);
        valid = len > 0 && len % 2 == 0;
        for (size_t i = 0; i < len / 2 && valid; i++)
            name[i] = (char)((strchr(digits, text[2 * i]) - digits) << 4 |
                             (strchr(digits, text[2 * i + 1]) - digits));
        valid = valid && copy_name(name, len / 2, &record->hot[record->hot_count]);
        record->hot_count += valid;
        text += len;
        if (*text == '\0')
            break;
        valid = valid && *text++ == ',';
    }
    free(name);
    return valid;
}

static bool read_counter_fields(const char *text, bryc__counter_record *record)
{
    char engine[16], epoch[24] = "";
    if (!take_count(&text, "parts=", &record->parts) ||
        !take_value(&text, "epoch=", epoch, sizeof epoch) ||
        !take_count(&text, "window=", &record->window) ||
        !take_count(&text, "skew=", &record->skew) ||
        !take_value(&text, "error=", record->error_text, sizeof record->error_text) ||
        !take_value(&text, "engine=", engine, sizeof engine) ||
        !take_count(&text, "capacity=", &record->capacity) ||
        !take_count(&text, "seed=", &record->seed) || strncmp(text, " hot=", 5) != 0)
        return false;
    record->error = strtod(record->error_text, NULL);
    memcpy(record->epoch, epoch, sizeof record->epoch);
    record->epoch[16] = '\0';
    return strlen(epoch) == 16 && strspn(epoch, "0123456789abcdef") == 16 && record->parts >= 1 &&
           record->parts <= PARTS_MOST && record->window > record->skew && record->error > 0 &&
           bry_engine_parse(engine, &record->engine) == BRY_OK && read_hot(text + 5, record);
}

const char *bryc__counter_record_read(const char *text, bryc__counter_record *record)
{
    static const char first[] = "bloomery-counters ";
    *record = (bryc__counter_record){0};
    if (strncmp(text, first, sizeof first - 1) != 0)
        return "the key is not the record of a table of counters";
    text += sizeof first - 1;
    record->text = strdup(text - (sizeof first - 1));
    if (record->text && text[0] == '1' && read_counter_fields(text + 1, record))
        return NULL;
    bryc__counter_record_free(record);
    return "the table was made by a newer Bloomery, or its record is damaged";
}

const char *bryc__counter_record_differs(const bryc__counter_record *record,
                                         const bryc__counter_record *planned,
                                         const bryc_counters_options *options)
{
    if (options->window_ms && planned->window != record->window)
        return "window";
    if (options->skew_ms && planned->skew != record->skew)
        return "skew";
    if (options->error > 0 && planned->error != record->error)
        return "error";
    if (options->engine != BRY_ENGINE_AUTO && planned->engine != record->engine)
        return "engine";
    if (options->capacity && planned->capacity != record->capacity)
        return "capacity";
    if (options->parts && planned->parts != record->parts)
        return "number of parts";
    if (options->seed && planned->seed != record->seed)
        return "seed";
    if (options->hot_count && strcmp(strrchr(planned->text, ' '), strrchr(record->text, ' ')) != 0)
        return "list of hot counters";
    return NULL;
}
