/* kBF, figures 17 and 18: decoding options in half of the cells, their errors and their memory. */
#include "bench/figures/figure.h"
#include "bench/figures/kbf/kbf_trial.h"

#include "bench/harness/bench_fail.h"
#include "common/sizing.h"
#include "papers/greedy.h"

#include <math.h>

#define INDEX_ERROR 1e-4 /* of the filters of encodings and of pairs */
#define PAPER_PAIRS 10000000.0
#define PAPER_VALUES 3000u
#define HALF 0.5 /* of the cells for p */

/* Codes by search; algebraic ones of the smallest field; and of the largest, masked, where a wrong
 * code is seldom an assigned one. */
typedef enum code_kind { GREEDY, DENSE, WIDE, CODE_KINDS } code_kind;

typedef struct encoders {
    bry_allocator allocator;
    bry__gf dense, wide;
    bry__greedy greedy;
    uint32_t codes;
} encoders;

typedef struct decoder_row {
    const char *name;
    bry__paper_level level;
    code_kind kind;
} decoder_row;

static const decoder_row options[] = {
    {"decode22 (option 1)", BRY__PAPER_PAIRS, GREEDY},
    {"decode23 too (option 2)", BRY__PAPER_TRIPLES, GREEDY},
    {"decode23 too with algebraic codes", BRY__PAPER_TRIPLES, DENSE},
    {"sets as in the INFOCOM paper", BRY__PAPER_SETS, GREEDY},
    {"consistent decoding (ours)", BRY__PAPER_CONSISTENT, DENSE},
    {"consistent decoding of wide codes (ours)", BRY__PAPER_CONSISTENT, WIDE},
};
enum { OPTIONS = sizeof options / sizeof options[0] };

static bool make_encoders(encoders *made, uint32_t codes)
{
    *made = (encoders){.allocator = bry__allocator_or_default(NULL), .codes = codes};
    if (!kbf_field_make(&made->dense, codes, &made->allocator))
        return false;
    if (!kbf_field_make(&made->wide, BRY_MAP_KBF_VALUES_MAX, &made->allocator)) {
        bry__gf_free(&made->dense, &made->allocator);
        return false;
    }
    bry_status status = bry__greedy_search(&made->greedy, codes, 0, &made->allocator);
    if (status == BRY_OK) {
        status = bry__greedy_index(&made->greedy, INDEX_ERROR);
        if (status != BRY_OK)
            bry__greedy_free(&made->greedy);
    }
    if (status == BRY_OK)
        return true;
    bry__gf_free(&made->wide, &made->allocator);
    bry__gf_free(&made->dense, &made->allocator);
    return bench_fail("search for %u encodings: %s", codes, bry_status_text(status));
}

static void free_encoders(encoders *made)
{
    bry__greedy_free(&made->greedy);
    bry__gf_free(&made->wide, &made->allocator);
    bry__gf_free(&made->dense, &made->allocator);
}

static const bry__gf *field_of(const encoders *of, code_kind kind)
{
    return kind == WIDE ? &of->wide : &of->dense;
}

/* The paper's number of hashes for p, and a share of its cells. */
static bry__kbf_shape shape_for(double keys, double p, double share)
{
    unsigned hashes = bry__bloom_hashes_for_error(p);
    return (bry__kbf_shape){hashes, (uint64_t)ceil(bry__bloom_bits(keys, p) * share / hashes)};
}

/* ---- figure 17 ----------------------------------------------------------------------------- */

static double predict(const encoders *of, const decoder_row *option, const bry__kbf_shape *shape,
                      double keys)
{
    const bry__paper_setting setting = {
        .level = option->level,
        .masked = option->kind == WIDE,
        .order = field_of(of, option->kind)->order,
        .codes = of->codes,
        .pairs = option->kind == GREEDY ? bry__greedy_pair_share(of->codes) : 0.5,
    };
    return bry__paper_errors_at(&setting, shape, keys).false_negative;
}

static bool ask_option(const figure_run *run, const kbf_trial *trial, const decoder_row *option,
                       double expected, double p)
{
    double missed;
    if (!kbf_tells(run, expected, (double)trial->keys) && run->scale == FIGURE_SMALL)
        return true;
    if (!kbf_trial_ask(trial, option->level, &missed))
        return false;
    figure_point(run, "measured", option->name, p, missed);
    return true;
}

/* All options with codes of this kind, which are in the cells. */
static bool measure_codes(const figure_run *run, const encoders *of, uint64_t keys, double p,
                          code_kind kind)
{
    const bry__kbf_shape shape = shape_for((double)keys, p, HALF);
    const bry__gf *gf = field_of(of, kind);
    const bry__encoder encoder =
        kind == GREEDY ? bry__greedy_encoder(&of->greedy) : bry__algebraic_encoder(gf);
    const kbf_trial setting = {.seed = run->seed,
                               .keys = keys,
                               .codes = of->codes,
                               .kbf.gf = gf,
                               .kbf.masked = kind == WIDE};
    kbf_trial trial;
    if (!kbf_trial_make(&trial, &setting, &encoder, &shape))
        return false;
    bool good = true;
    for (unsigned i = 0; good && i < OPTIONS; i++) {
        if (options[i].kind != kind)
            continue;
        double expected = predict(of, &options[i], &shape, (double)keys);
        figure_point(run, "predicted", options[i].name, p, expected);
        good = ask_option(run, &trial, &options[i], expected, p);
    }
    kbf_trial_free(&trial);
    return good;
}

static bool measure_options(const figure_run *run, const encoders *of, uint64_t keys, double p)
{
    bool good = true;
    for (code_kind kind = GREEDY; good && kind < CODE_KINDS; kind++)
        good = measure_codes(run, of, keys, p, kind);
    return good;
}

/* ---- figure 18 ----------------------------------------------------------------------------- */

/* Bytes per pair without the bytes of the values: the table, the secondary kBF from values to
 * encodings, the encodings, and the filters for decoding. */
static double option_bytes(double p, bool pairs)
{
    const bry__kbf_shape main = shape_for(PAPER_PAIRS, p, HALF);
    const bry__kbf_shape second = shape_for(PAPER_VALUES, p, 1);
    double cells =
        (double)main.hashes * (double)main.segment + (double)second.hashes * (double)second.segment;
    double bytes = 4 * (cells + PAPER_VALUES) +
                   (double)bry__greedy_index_bytes(PAPER_VALUES, INDEX_ERROR, pairs);
    return bytes / PAPER_PAIRS;
}

static bool plot_ours(const figure_run *run, double p, bry_engine engine, const char *name)
{
    const bry_map_options planned = {
        .struct_size = sizeof planned,
        .engine = engine,
        .fixed = true,
        .capacity = (uint64_t)PAPER_PAIRS,
        .error = p,
        .values = PAPER_VALUES,
    };
    bry_map_shape shape = {0};
    bry_status status = bry_map_plan(&planned, &shape);
    if (status != BRY_OK)
        return bench_fail("a map of error %g: %s", p, bry_status_text(status));
    figure_point(run, "memory", name, p, (double)shape.bytes / PAPER_PAIRS);
    return true;
}

static bool plot_memory(const figure_run *run, double p)
{
    figure_point(run, "memory", options[0].name, p, option_bytes(p, false));
    figure_point(run, "memory", options[1].name, p, option_bytes(p, true));
    return plot_ours(run, p, BRY_ENGINE_KBF, "kbf (ours)") &&
           plot_ours(run, p, BRY_ENGINE_COMPACT, "compact (ours)");
}

/* The paper's are 10^-3 to 10^-5. Tests take larger ones, with which few keys give enough
 * errors. */
static const double errors_of_paper[] = {1e-3, 1e-4, 1e-5};
static const double errors_of_small[] = {0.03, 0.01};

static bool measure_decoding_options(const figure_run *run)
{
    const uint64_t keys = FIGURE_SIZE(run, UINT64_C(15000), UINT64_C(200000), UINT64_C(10000000));
    const bool small = run->scale == FIGURE_SMALL;
    encoders made;
    if (!make_encoders(&made, FIGURE_SIZE(run, 300, 3000, 3000)))
        return false;
    bool good = true;
    for (unsigned i = 0; good && i < (small ? 2 : 3); i++) {
        double p = small ? errors_of_small[i] : errors_of_paper[i];
        good = measure_options(run, &made, keys, p) && plot_memory(run, p);
    }
    free_encoders(&made);
    return good;
}

FIGURE(kbf_17, "kbf-17", "Decoding options", {8, 2, 1}, measure_decoding_options);
