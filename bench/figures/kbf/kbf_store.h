/*
 * What the figures of the kBF papers are measured with: pairs of their workload, and a store of
 * them, which is kBF as published, the library's kbf of the same size, or compact.
 */
#ifndef BLOOMERY_BENCH_KBF_STORE_H
#define BLOOMERY_BENCH_KBF_STORE_H

#include "bench/figures/figure.h"
#include "bench/harness/kbf_workload.h"
#include "papers/greedy.h"
#include "papers/paper_kbf.h"

#include <bloomery/map.h>

/* ---- pairs --------------------------------------------------------------------------------- */

typedef struct kbf_pairs {
    uint64_t count; /* of the keys, and of the absent keys */
    uint32_t values;
    kbf_workload load; /* the keys and values, unless made bare */
    bry_hash *hash; /* of the keys of all pairs, then of the absent ones */
    uint32_t *first, *later; /* the number of a pair's value, and of the one it is updated to */
    bry__greedy greedy; /* an encoding of each value, as published */
    bry_allocator allocator;
} kbf_pairs;

/* Another seed gives the keys other hashes. False, after a message, if memory runs out; then there
 * is nothing to free. */
bool kbf_pairs_make(kbf_pairs *pairs, const figure_run *run, uint64_t count);
/* The same without keys: the caller sets hashes and values. */
bool kbf_pairs_make_bare(kbf_pairs *pairs, uint64_t count, uint32_t values);
void kbf_pairs_free(kbf_pairs *pairs);

/* ---- stores -------------------------------------------------------------------------------- */

typedef enum kbf_kind {
    KBF_PUBLISHED, /* greedy encodings, cells of three decoded (Algorithm 7) */
    KBF_LITERAL, /* the same, and updates to the letter (Algorithm 5) */
    KBF_OURS, /* the library's kbf in a table of the same size: masked codes, consistent decoding */
    KBF_WIDE, /* the same with 16,383 codes, most of them unassigned, which a wrong one has to avoid */
    KBF_COMPACT, /* the library's compact, planned for the same error */
    KBF_KINDS
} kbf_kind;

/* Beginnings of the names of series: "published", "kbf (ours)". */
extern const char *const kbf_kind_names[KBF_KINDS];

typedef struct kbf_store {
    kbf_kind kind;
    const kbf_pairs *pairs;
    bry__paper_kbf paper; /* of the first two kinds */
    bry_map *map; /* of the others */
} kbf_store;

/* What a store is made for. */
typedef struct kbf_plan {
    double p;
    uint64_t capacity; /* keys that m cells are for, at p */
    double size; /* cells, as a share of m; compact ignores it */
    uint64_t most; /* keys that it will hold; more than the capacity is an overload */
    bool folds; /* the number of cells allows one COMPRESS and no more */
} kbf_plan;

/* False, after a message, if memory runs out. */
bool kbf_store_make(kbf_store *store, kbf_kind kind, const kbf_pairs *pairs, const kbf_plan *plan);
/* An empty store that can be joined with the other. */
bool kbf_store_make_like(kbf_store *store, const kbf_store *other);
void kbf_store_free(kbf_store *store);

/* Adds pairs `from` to `end` - 1; false after a message. */
bool kbf_store_fill(kbf_store *store, uint64_t from, uint64_t end);

/* Updates, and deletes, the keys of these pairs. A key that cannot be decoded stays as it is, but
 * for KBF_LITERAL. */
void kbf_store_update(kbf_store *store, uint64_t from, uint64_t end);
void kbf_store_delete(kbf_store *store, uint64_t from, uint64_t end);

/* JOIN and COMPRESS; false after a message. */
bool kbf_store_join(kbf_store *into, const kbf_store *from);
bool kbf_store_fold(kbf_store *store);

/* The value of a pair's key; false: absent or unsure. */
bool kbf_store_get(const kbf_store *store, uint64_t pair, uint32_t *value);

typedef struct kbf_answers {
    uint64_t asked, found, wrong; /* found: some value; wrong: of these, another than expected */
} kbf_answers;

/* Looks up the keys from `from` to `end` - 1; `expected` are the values of all pairs, or NULL for
 * keys that should be absent. */
kbf_answers kbf_store_ask(const kbf_store *store, uint64_t from, uint64_t end,
                          const uint32_t *expected);
/* The same for every `stride`-th of them. */
kbf_answers kbf_store_sample(const kbf_store *store, uint64_t from, uint64_t end, uint64_t stride,
                             const uint32_t *expected);

/* Of present keys without a right answer; of absent keys with any. */
double kbf_false_negatives(const kbf_answers *answers);
double kbf_false_positives(const kbf_answers *answers);

/* Whether every value found was the right one; otherwise a message. */
bool kbf_only_right(const kbf_answers *answers);

/* Of the cells or entries, without values and tables for codes. */
double kbf_store_bytes_per_key(const kbf_store *store, uint64_t keys);

/* ---- series -------------------------------------------------------------------------------- */

/* A kind, and for which of the errors of a figure it is measured: from number `first` to `end` - 1,
 * or to the last one of the scale if `end` is 0. */
typedef struct kbf_lines {
    kbf_kind kind;
    unsigned first, end;
} kbf_lines;

/* A point of the series "KIND p=P". */
void kbf_point(const figure_run *run, const char *panel, kbf_kind kind, double p, double x,
               double y);

#endif
