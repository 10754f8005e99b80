/* kBF, figure 5: the share of keys that cannot be decoded, by number of hashes and load. */
#include "bench/figures/figure.h"
#include "bench/figures/kbf/kbf_trial.h"

#define CODES 3000u

static bry__paper_setting setting_of(const bry__gf *gf, bry__paper_level level)
{
    return (bry__paper_setting){level, false, gf->order, CODES, 0.5};
}

/* The point of a level, if it has enough errors at this scale. */
static bool plot_level(const figure_run *run, const kbf_trial *trial, const bry__kbf_shape *shape,
                       const char *panel, double rho, bry__paper_level level)
{
    const bry__paper_setting setting = setting_of(trial->kbf.gf, level);
    double keys = (double)trial->keys, missed;
    double expected = bry__paper_errors_at(&setting, shape, keys).false_negative;
    if (!kbf_tells(run, expected, keys))
        return true;
    if (!kbf_trial_ask(trial, level, &missed))
        return false;
    figure_point(run, panel,
                 level == BRY__PAPER_PAIRS ? "measured: decode22" : "consistent decoding (ours)",
                 rho, missed);
    return true;
}

static bool measure_load(const figure_run *run, const bry__gf *gf, unsigned hashes, double rho)
{
    const uint64_t keys = FIGURE_SIZE(run, 40000, 400000, 4000000);
    const bry__encoder encoder = bry__algebraic_encoder(gf);
    const bry__kbf_shape shape = kbf_shape_at(hashes, keys, rho);
    const bry__paper_setting pairs = setting_of(gf, BRY__PAPER_PAIRS);
    char panel[16];
    snprintf(panel, sizeof panel, "k=%u", hashes);
    double corrected = bry__paper_errors_at(&pairs, &shape, (double)keys).false_negative;
    figure_point(run, panel, "formula as published", rho, bry__published_undecodable(hashes, rho));
    figure_point(run, panel, "corrected formula", rho, corrected);
    if (!kbf_tells(run, corrected, (double)keys))
        return true;
    const kbf_trial setting = {.seed = run->seed, .keys = keys, .codes = CODES, .kbf.gf = gf};
    kbf_trial trial;
    if (!kbf_trial_make(&trial, &setting, &encoder, &shape))
        return false;
    bool good = plot_level(run, &trial, &shape, panel, rho, BRY__PAPER_PAIRS) &&
                plot_level(run, &trial, &shape, panel, rho, BRY__PAPER_CONSISTENT);
    kbf_trial_free(&trial);
    return good;
}

static bool measure_decodability(const figure_run *run)
{
    static const unsigned hashes[] = {4, 7, 10};
    const unsigned steps = FIGURE_SIZE(run, 2u, 4u, 8u);
    bry_allocator allocator = bry__allocator_or_default(NULL);
    bry__gf gf;
    if (!kbf_field_make(&gf, CODES, &allocator))
        return false;
    bool good = true;
    for (unsigned i = 0; i < sizeof hashes / sizeof hashes[0]; i++)
        for (unsigned step = 0; good && step <= steps; step++)
            good = measure_load(run, &gf, hashes[i], 1 + 2.0 * step / steps);
    bry__gf_free(&gf, &allocator);
    return good;
}

FIGURE(kbf_05, "kbf-05", "Keys that cannot be decoded", {8, 4, 2}, measure_decodability);
