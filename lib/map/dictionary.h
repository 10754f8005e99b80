/*
 * The dictionary of a map of byte strings: value → code, and code → value. dictionary.c explains.
 */
#ifndef BRY_MAP_DICTIONARY_H
#define BRY_MAP_DICTIONARY_H

#include <bloomery/map.h>

#include "common/pieces.h"
#include "map/code_table.h"
#include "map/value_bytes.h"

/* A hash table with open addressing, of 2^bits codes. */
typedef struct bry__value_index {
    bry__pieces slots;
    unsigned bits; /* 0: there is none */
    uint64_t used; /* slots that are not empty */
    uint64_t which; /* a bit that tells it from the other one */
} bry__value_index;

typedef struct bry__dictionary {
    bry_allocator allocator;
    uint64_t seed, secret[2]; /* for hashing values */
    uint64_t most; /* maximum number of codes */
    bry__code_table table;
    bry__value_index index; /* value → code */
    bry__value_index other; /* the next one; or, if `moves`, the one before */
    bool moves; /* codes from `other` to `index` */
    uint64_t moving; /* the next code to move */
    bry__value_bytes bytes;
    uint64_t tidied; /* the next code that compaction examines */
} bry__dictionary;

/* Bytes per value, without its own: an entry and about two slots. */
#define BRY__DICTIONARY_EACH (sizeof(bry__code_entry) + 2 * sizeof(uint32_t))

void bry__dictionary_init(bry__dictionary *dictionary, uint64_t seed, uint64_t most,
                          const bry_allocator *allocator);
void bry__dictionary_free(bry__dictionary *dictionary);
/* BRY_E_NOMEM: *copy is unchanged. */
bry_status bry__dictionary_clone(const bry__dictionary *dictionary, const bry_allocator *allocator,
                                 bry__dictionary *copy);
void bry__dictionary_clear(bry__dictionary *dictionary);
uint64_t bry__dictionary_bytes(const bry__dictionary *dictionary);

/* ---- asking -------------------------------------------------------------------------------- */

static inline uint64_t bry__dictionary_count(const bry__dictionary *dictionary)
{
    return dictionary->table.codes - dictionary->table.free;
}

static inline bool bry__dictionary_has(const bry__dictionary *dictionary, uint64_t code)
{
    return code < dictionary->table.codes &&
           !bry__code_is_free(bry__code_entry_of(&dictionary->table, code));
}

/* The value of an assigned code; number is 0. */
bry_map_value bry__dictionary_value(const bry__dictionary *dictionary, uint32_t code);

/* The code of a value; false if it has none. */
bool bry__dictionary_find(const bry__dictionary *dictionary, const void *bytes, size_t len,
                          uint32_t *code);

/* ---- changing ------------------------------------------------------------------------------ */

/* The codes of values, none of which is too long, in order until one fails; *done is how many
 * succeeded. A value that has no code gets one: BRY_E_FULL, BRY_E_NOMEM. It is new until the
 * calling operation ends: with bry__dictionary_confirm() or, if keys are counted,
 * bry__dictionary_gain(); or with bry__dictionary_forget() if it failed. */
bry_status bry__dictionary_intern_n(bry__dictionary *dictionary, const bry_map_value *values,
                                    size_t n, uint32_t *codes, size_t *done);

/* Assigns the next codes to at most BRY__DICTIONARY_ROUND values, none of which is too long, until
 * one fails: BRY_E_MISMATCH if it has a code, BRY_E_FULL, BRY_E_NOMEM. */
#define BRY__DICTIONARY_ROUND 64u
bry_status bry__dictionary_append_n(bry__dictionary *dictionary, const bry_map_value *values,
                                    size_t n);
/* Leaves the next code free. BRY_E_FULL, BRY_E_NOMEM. */
bry_status bry__dictionary_append_free(bry__dictionary *dictionary);

/* Confirms, or takes back, the new ones among n codes that intern_n returned. There were `before`
 * codes. */
void bry__dictionary_confirm(bry__dictionary *dictionary, const uint32_t *codes, size_t n);
void bry__dictionary_forget(bry__dictionary *dictionary, uint64_t before, const uint32_t *codes,
                            size_t n);

/* Drops the values of all codes from this one on. */
void bry__dictionary_cut(bry__dictionary *dictionary, uint64_t codes);

/* ---- reference counts ---------------------------------------------------------------------- */

/* One key more uses the code, or one less: with the last one its value is freed, and a little of
 * the compaction is done. */
static inline void bry__dictionary_gain(bry__dictionary *dictionary, uint32_t code)
{
    bry__code_entry *entry = bry__code_entry_of(&dictionary->table, code);
    entry->uses += entry->uses < UINT32_MAX;
    bry__code_confirm(entry);
}
void bry__dictionary_lose(bry__dictionary *dictionary, uint32_t code);

static inline uint32_t bry__dictionary_uses(const bry__dictionary *dictionary, uint64_t code)
{
    return bry__code_entry_of(&dictionary->table, code)->uses;
}

/* Sets all counts to 0, for counting again. */
void bry__dictionary_reset_counts(bry__dictionary *dictionary);

/* Frees all values that no key uses, and all gaps as far as there is memory for it. */
void bry__dictionary_pack(bry__dictionary *dictionary);

#endif
