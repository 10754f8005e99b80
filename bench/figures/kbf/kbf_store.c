#include "bench/figures/kbf/kbf_store.h"

#include "bench/cases/map/map_candidates.h"
#include "bench/harness/bench_fail.h"

#include <stdlib.h>
#include <string.h>

#define INDEX_ERROR 1e-4 /* of the published filters of encodings and of pairs */

const char *const kbf_kind_names[KBF_KINDS] = {"published", "to the letter", "kbf (ours)",
                                               "kbf wide codes (ours)", "compact (ours)"};

/* ---- pairs --------------------------------------------------------------------------------- */

/* Distinct values: 3000 in the papers; fewer at smaller scales, since the search for encodings takes
 * seconds for 3000. */
static uint32_t kbf_values_at(const figure_run *run)
{
    return FIGURE_SIZE(run, 120, 1000, 3000);
}

bool kbf_pairs_make_bare(kbf_pairs *pairs, uint64_t count, uint32_t values)
{
    *pairs = (kbf_pairs){
        .count = count,
        .values = values,
        .hash = malloc(2 * count * sizeof *pairs->hash),
        .first = malloc(count * sizeof *pairs->first),
        .later = malloc(count * sizeof *pairs->later),
        .allocator = bry__allocator_or_default(NULL),
    };
    if (pairs->hash && pairs->first && pairs->later &&
        bry__greedy_search(&pairs->greedy, values, 0, &pairs->allocator) == BRY_OK &&
        bry__greedy_index(&pairs->greedy, INDEX_ERROR) == BRY_OK)
        return true;
    kbf_pairs_free(pairs);
    return bench_no_memory();
}

bool kbf_pairs_make(kbf_pairs *pairs, const figure_run *run, uint64_t count)
{
    if (!kbf_pairs_make_bare(pairs, count, kbf_values_at(run)))
        return false;
    kbf_workload *load = &pairs->load;
    if (!kbf_workload_make(load, count, count, pairs->values)) {
        kbf_pairs_free(pairs);
        return bench_no_memory();
    }
    for (uint64_t i = 0; i < 2 * count; i++)
        pairs->hash[i] = bry_hash_key(run->seed, load->key[i].bytes, load->key[i].len);
    for (uint64_t i = 0; i < count; i++) {
        pairs->first[i] = (uint32_t)(kbf_first_value(load, i) - load->value);
        pairs->later[i] = (uint32_t)(kbf_later_value(load, i) - load->value);
    }
    return true;
}

void kbf_pairs_free(kbf_pairs *pairs)
{
    if (pairs->greedy.code)
        bry__greedy_free(&pairs->greedy);
    kbf_workload_free(&pairs->load);
    free(pairs->hash);
    free(pairs->first);
    free(pairs->later);
    *pairs = (kbf_pairs){0};
}

/* ---- stores -------------------------------------------------------------------------------- */

static bool is_paper(const kbf_store *store)
{
    return store->kind == KBF_PUBLISHED || store->kind == KBF_LITERAL;
}

/* Values are the bytes of their numbers: the map gives them codes. */
static bry_map_value value_of_code(const uint32_t *code)
{
    return bry_map_value_bytes(code, sizeof *code);
}

static bool make_published(kbf_store *store, unsigned hashes, uint64_t segment)
{
    bry__encoder encoder = bry__greedy_encoder(&store->pairs->greedy);
    return bry__paper_kbf_init(&store->paper, &encoder, hashes, segment,
                               &store->pairs->allocator) == BRY_OK ||
           bench_no_memory();
}

bool kbf_store_make(kbf_store *store, kbf_kind kind, const kbf_pairs *pairs, const kbf_plan *plan)
{
    *store = (kbf_store){.kind = kind, .pairs = pairs};
    const map_settings settings = {
        .engine = kind == KBF_COMPACT ? BRY_ENGINE_COMPACT : BRY_ENGINE_KBF,
        .layout = BRY_MAP_PAPER,
        .decode = 4,
        .size = kind == KBF_COMPACT ? 1 : plan->size,
        .values = kind == KBF_WIDE ? BRY_MAP_KBF_VALUES_MAX : pairs->values,
    };
    bry_map_options options;
    bry_map_shape shape;
    bry_status status =
        map_options_for(&settings, plan->capacity, plan->p, false, &options, &shape);
    if (status != BRY_OK)
        return bench_fail("figures of kBF: a map of p = %g: %s", plan->p, bry_status_text(status));
    if (kind != KBF_COMPACT) {
        uint64_t segment = shape.kbf.cells / shape.kbf.hashes;
        if (plan->folds) /* twice an odd number */
            segment = (segment / 2 | 1) * 2;
        if (is_paper(store))
            return make_published(store, shape.kbf.hashes, segment);
        options.kbf.hashes = shape.kbf.hashes;
        options.kbf.cells = shape.kbf.hashes * segment;
    }
    options.capacity = plan->most;
    return bry_map_create(&options, &store->map) == BRY_OK || bench_no_memory();
}

bool kbf_store_make_like(kbf_store *store, const kbf_store *other)
{
    *store = (kbf_store){.kind = other->kind, .pairs = other->pairs};
    if (is_paper(other))
        return make_published(store, other->paper.hashes, other->paper.segment);
    return bry_map_create_like(other->map, NULL, &store->map) == BRY_OK || bench_no_memory();
}

void kbf_store_free(kbf_store *store)
{
    if (store->paper.cells)
        bry__paper_kbf_free(&store->paper, &store->pairs->allocator);
    bry_map_destroy(store->map);
    store->map = NULL;
}

bool kbf_store_fill(kbf_store *store, uint64_t from, uint64_t end)
{
    const kbf_pairs *pairs = store->pairs;
    for (uint64_t i = from; i < end; i++) {
        if (is_paper(store)) {
            bry__paper_kbf_insert(&store->paper, pairs->hash[i], pairs->first[i]);
            continue;
        }
        bry_status status =
            bry_map_add(store->map, pairs->hash[i], value_of_code(&pairs->first[i]));
        if (status != BRY_OK)
            return bench_fail("figures of kBF: pair %llu: %s", (unsigned long long)i,
                              bry_status_text(status));
    }
    return true;
}

void kbf_store_update(kbf_store *store, uint64_t from, uint64_t end)
{
    const kbf_pairs *pairs = store->pairs;
    for (uint64_t i = from; i < end; i++) {
        bry_hash hash = pairs->hash[i];
        const uint32_t *code = &pairs->later[i];
        if (store->kind == KBF_PUBLISHED)
            bry__paper_kbf_update(&store->paper, hash, BRY__PAPER_TRIPLES, pairs->values, *code);
        else if (store->kind == KBF_LITERAL)
            bry__paper_kbf_update_blindly(&store->paper, hash, BRY__PAPER_TRIPLES, pairs->values,
                                          *code);
        else
            (void)bry_map_update(store->map, hash, value_of_code(code), NULL);
    }
}

void kbf_store_delete(kbf_store *store, uint64_t from, uint64_t end)
{
    const kbf_pairs *pairs = store->pairs;
    for (uint64_t i = from; i < end; i++)
        if (is_paper(store))
            bry__paper_kbf_delete(&store->paper, pairs->hash[i], BRY__PAPER_TRIPLES, pairs->values);
        else
            (void)bry_map_del(store->map, pairs->hash[i], NULL);
}

bool kbf_store_join(kbf_store *into, const kbf_store *from)
{
    if (is_paper(into)) {
        bry__paper_kbf_join(&into->paper, &from->paper, 0);
        return true;
    }
    bry_status status = bry_map_merge(into->map, from->map);
    return status == BRY_OK || bench_fail("figures of kBF: merge: %s", bry_status_text(status));
}

static uint64_t cells_of_map(const bry_map *map)
{
    bry_map_stats stats = {0};
    uint64_t cells = 0;
    bry_map_get_stats(map, &stats);
    for (int i = 0; i < 8; i++)
        cells += stats.kbf.cells[i];
    return cells;
}

/* The library folds as often as the errors allow, here any, or the number of cells. */
static bool fold_map(bry_map *map)
{
    uint64_t before = cells_of_map(map);
    bry_status status = bry_map_compress(map, 1);
    if (status == BRY_OK && cells_of_map(map) != before / 2)
        status = BRY_E_BADDATA;
    return status == BRY_OK || bench_fail("figures of kBF: compress: %s", bry_status_text(status));
}

bool kbf_store_fold(kbf_store *store)
{
    if (!is_paper(store))
        return fold_map(store->map);
    kbf_store half = {.kind = store->kind, .pairs = store->pairs};
    if (!make_published(&half, store->paper.hashes, store->paper.segment / 2))
        return false;
    bry__paper_kbf_join(&half.paper, &store->paper, 1);
    kbf_store_free(store);
    *store = half;
    return true;
}

/* ---- answers ------------------------------------------------------------------------------- */

bool kbf_store_get(const kbf_store *store, uint64_t pair, uint32_t *value)
{
    bry_hash hash = store->pairs->hash[pair];
    if (is_paper(store))
        return bry__paper_kbf_get(&store->paper, hash, BRY__PAPER_TRIPLES, store->pairs->values,
                                  value) == BRY_PRESENT;
    bry_map_value found;
    if (bry_map_get(store->map, hash, &found) != BRY_PRESENT)
        return false;
    memcpy(value, found.bytes, sizeof *value);
    return true;
}

kbf_answers kbf_store_sample(const kbf_store *store, uint64_t from, uint64_t end, uint64_t stride,
                             const uint32_t *expected)
{
    kbf_answers answers = {0};
    for (uint64_t i = from; i < end; i += stride) {
        uint32_t code = 0;
        bool found = kbf_store_get(store, i, &code);
        answers.asked++;
        answers.found += found;
        answers.wrong += found && (!expected || code != expected[i]);
    }
    return answers;
}

kbf_answers kbf_store_ask(const kbf_store *store, uint64_t from, uint64_t end,
                          const uint32_t *expected)
{
    return kbf_store_sample(store, from, end, 1, expected);
}

double kbf_false_negatives(const kbf_answers *answers)
{
    return (double)(answers->asked - answers->found + answers->wrong) / (double)answers->asked;
}

double kbf_false_positives(const kbf_answers *answers)
{
    return (double)answers->found / (double)answers->asked;
}

bool kbf_only_right(const kbf_answers *answers)
{
    return answers->wrong == 0 ||
           bench_fail("figures of kBF: %llu wrong values", (unsigned long long)answers->wrong);
}

double kbf_store_bytes_per_key(const kbf_store *store, uint64_t keys)
{
    bry_map_stats stats = {0};
    uint64_t bytes;
    if (is_paper(store)) {
        bytes = store->paper.hashes * store->paper.segment * sizeof(uint32_t);
    } else if (store->kind == KBF_COMPACT) {
        bry_map_get_stats(store->map, &stats);
        bytes = stats.bytes_keys;
    } else {
        bytes = cells_of_map(store->map) * sizeof(uint32_t);
    }
    return (double)bytes / (double)keys;
}

void kbf_point(const figure_run *run, const char *panel, kbf_kind kind, double p, double x,
               double y)
{
    char series[64];
    snprintf(series, sizeof series, "%s p=%g", kbf_kind_names[kind], p);
    figure_point(run, panel, series, x, y);
}
