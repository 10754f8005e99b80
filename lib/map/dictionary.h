/*
 * The dictionary of a map of byte strings: value → code, and code → value. dictionary.c explains.
 */
#ifndef BRY_MAP_DICTIONARY_H
#define BRY_MAP_DICTIONARY_H

#include "map/map_engine.h"
#include "map/value_bytes.h"
#include "map/value_entries.h"

typedef struct bry__dictionary {
    bry_allocator allocator;
    const bry__map_engine *engine;
    uint64_t seed; /* for hashing values */
    void *secondary; /* value's hash → code */
    uint64_t most; /* maximum number of codes */
    uint64_t codes; /* 0 to codes - 1 are assigned or free */
    uint64_t free_count; /* the smallest free code is assigned next */
    bry__value_entries entries; /* for each code the place of its bytes, and its count of keys */
    bry__value_bytes bytes;
    uint64_t tidied; /* the next code that compaction examines */
} bry__dictionary;

/* Bytes allocated by an empty dictionary, and by one with all values of the options, not counting
 * the values' bytes. `options` are the map's. BRY_E_RANGE. */
bry_status bry__dictionary_plan(const bry__map_engine *engine, const bry_map_options *options,
                                uint64_t values, uint64_t *bytes_empty, uint64_t *bytes);

/* values: from the map's shape. BRY_E_NOMEM. */
bry_status bry__dictionary_init(bry__dictionary *dictionary, const bry__map_engine *engine,
                                const bry_map_options *options, uint64_t values,
                                const bry_allocator *allocator);
void bry__dictionary_free(bry__dictionary *dictionary);
bry_status bry__dictionary_clone(const bry__dictionary *dictionary, const bry_allocator *allocator,
                                 bry__dictionary *copy);
void bry__dictionary_clear(bry__dictionary *dictionary);

/* ---- asking -------------------------------------------------------------------------------- */

static inline uint64_t bry__dictionary_count(const bry__dictionary *dictionary)
{
    return dictionary->codes - dictionary->free_count;
}

bool bry__dictionary_has(const bry__dictionary *dictionary, uint64_t code);

/* The value of an assigned code; number is 0. */
bry_map_value bry__dictionary_value(const bry__dictionary *dictionary, uint32_t code);

/* The code of a value; false if it has none. */
bool bry__dictionary_find(const bry__dictionary *dictionary, const void *bytes, size_t len,
                          uint32_t *code);

/* Whether that is the value of this code, which need not be assigned. */
bool bry__dictionary_is(const bry__dictionary *dictionary, uint32_t code, const void *bytes,
                        size_t len);

/* ---- changing ------------------------------------------------------------------------------ */

/* The code of a value; assigns one if it has none. BRY_E_RANGE: too long. BRY_E_FULL: no code is
 * left. BRY_E_NOMEM. A code that it assigns is new until the calling operation ends: with
 * bry__dictionary_confirm() or, if keys are counted, bry__dictionary_gain(); or with
 * bry__dictionary_forget() if it failed. */
bry_status bry__dictionary_intern(bry__dictionary *dictionary, const void *bytes, size_t len,
                                  uint32_t *code);

/* The same of a value that has none and is not too long; append: as bry__dictionary_append(). The
 * caller adds it to the secondary. */
bry_status bry__dictionary_give_later(bry__dictionary *dictionary, const void *bytes, size_t len,
                                      bool append, uint32_t *code);

/* The codes of many values, none of which is too long, in order until one fails; *done is how many
 * succeeded (dictionary_batch.c). */
bry_status bry__dictionary_intern_n(bry__dictionary *dictionary, const bry_map_value *values,
                                    size_t n, uint32_t *codes, size_t *done);

/* Assigns the next code to a value that has none. Otherwise as bry__dictionary_intern(). */
bry_status bry__dictionary_append(bry__dictionary *dictionary, const void *bytes, size_t len);

/*
 * For loading: assigns the next codes to values that have none. `more` will follow, about; `spare`
 * bytes may be allocated for the time being. Between two calls the next code may be left free.
 * Values are found by bry__dictionary_find() after the end, which does nothing more if the status
 * is not BRY_OK. BRY_E_MISMATCH: a value has a code. Errors as for intern; then the dictionary can
 * only be freed.
 */
typedef struct bry__value_appender bry__value_appender;
bry__value_appender *
bry__dictionary_append_begin(bry__dictionary *dictionary); /* NULL: no memory */
bry_status bry__dictionary_append_n(bry__value_appender *appending, const bry_map_value *values,
                                    size_t n, size_t more, uint64_t spare);
bry_status bry__dictionary_append_free(bry__dictionary *dictionary);
bry_status bry__dictionary_append_end(bry__value_appender *appending, bry_status status);

/* Confirms, or takes back, the new ones among n codes that intern returned. There were `codes`
 * before. */
void bry__dictionary_confirm(bry__dictionary *dictionary, const uint32_t *codes, size_t n);
void bry__dictionary_forget(bry__dictionary *dictionary, uint64_t before, const uint32_t *codes,
                            size_t n);

/* Drops the values of all codes from this one on. */
void bry__dictionary_cut(bry__dictionary *dictionary, uint64_t codes);

/* ---- reference counts ---------------------------------------------------------------------- */

/* One key more uses the code, or one less: with the last one its value is freed, and a little of
 * the compaction is done. */
void bry__dictionary_gain(bry__dictionary *dictionary, uint32_t code);
void bry__dictionary_lose(bry__dictionary *dictionary, uint32_t code);

static inline uint32_t bry__dictionary_uses(const bry__dictionary *dictionary, uint64_t code)
{
    return *bry__value_uses(&dictionary->entries, code);
}

/* Sets all counts to 0, for counting again. */
void bry__dictionary_reset_counts(bry__dictionary *dictionary);

/* Frees all values that no key uses, and all gaps as far as there is memory for it. */
void bry__dictionary_pack(bry__dictionary *dictionary);

uint64_t bry__dictionary_bytes_secondary(const bry__dictionary *dictionary);
uint64_t bry__dictionary_bytes(const bry__dictionary *dictionary); /* without the secondary */

#endif
