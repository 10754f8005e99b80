/* kBF, figure 4: the share of cells that cannot be decoded. */
#include "bench/figures/figure.h"
#include "bench/figures/kbf/kbf_trial.h"

#define CODES 255u
#define HASHES 10u /* p = 0.001 */

/* The paper stops at cells of three keys; consistent decoding uses cells of up to four. */
enum { PAPER_FROM = 3, OURS_FROM = 5 };

/* As P_n(ρ) is derived, without the limit of large n: the share of cells with `from` keys at
 * least. */
static double cells_from(const bry__kbf_shape *shape, double keys, unsigned from)
{
    bry__kbf_odds odds = bry__kbf_odds_at(shape, keys);
    double share = 0;
    for (unsigned count = from; count < 8; count++)
        share += odds.absent[count];
    return share;
}

static void plot_cells(const figure_run *run, const char *panel, double x, const kbf_trial *trial,
                       const bry__kbf_shape *shape, double rho)
{
    double keys = (double)trial->keys, cells = (double)shape->hashes * (double)shape->segment;
    figure_point(run, panel, "P(ρ) as published", x, bry__published_full_cells(rho));
    figure_point(run, panel, "exact for this n", x, cells_from(shape, keys, PAPER_FROM));
    figure_point(run, panel, "measured: three keys or more", x,
                 kbf_trial_cells_from(trial, PAPER_FROM));
    if (kbf_tells(run, cells_from(shape, keys, OURS_FROM), cells))
        figure_point(run, panel, "measured: not used by consistent decoding (ours)", x,
                     kbf_trial_cells_from(trial, OURS_FROM));
}

static bool measure_table(const figure_run *run, const bry__gf *gf, const char *panel,
                          uint64_t keys, double rho)
{
    const bry__encoder encoder = bry__algebraic_encoder(gf);
    const bry__kbf_shape shape = kbf_shape_at(HASHES, keys, rho);
    const kbf_trial setting = {.seed = run->seed, .keys = keys, .codes = CODES, .kbf.gf = gf};
    kbf_trial trial;
    if (!kbf_trial_make(&trial, &setting, &encoder, &shape))
        return false;
    bool by_n = rho == 1 && panel[0] == 'n';
    plot_cells(run, panel, by_n ? (double)keys : rho, &trial, &shape, rho);
    kbf_trial_free(&trial);
    return true;
}

static bool measure_full_cells(const figure_run *run)
{
    const uint64_t most = FIGURE_SIZE(run, UINT64_C(10000), UINT64_C(1000000), UINT64_C(10000000));
    bry_allocator allocator = bry__allocator_or_default(NULL);
    bry__gf gf;
    if (!kbf_field_make(&gf, CODES, &allocator))
        return false;
    bool good = true;
    for (uint64_t keys = 1000; good && keys <= most; keys *= 10)
        good = measure_table(run, &gf, "n", keys, 1);
    for (unsigned half = 1; good && half <= 6; half++)
        good = measure_table(run, &gf, "load", most > 100000 ? 100000 : most, half / 2.0);
    bry__gf_free(&gf, &allocator);
    return good;
}

FIGURE(kbf_04, "kbf-04", "Cells that cannot be decoded", {8, 4, 2}, measure_full_cells);
