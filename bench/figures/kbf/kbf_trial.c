#include "bench/figures/kbf/kbf_trial.h"

#include "bench/harness/bench_fail.h"
#include "bench/harness/keys.h"

#include <math.h>

/* 300 errors give a mean within 5.8 %, and five times that is well below a factor of 2, which the
 * tests must notice. */
#define ERRORS_TO_TEST 300
#define ERRORS_TO_SHOW 30

bry__kbf_shape kbf_shape_at(unsigned hashes, uint64_t keys, double rho)
{
    return (bry__kbf_shape){hashes, (uint64_t)ceil((double)keys / (rho * M_LN2))};
}

bool kbf_field_make(bry__gf *gf, uint32_t codes, const bry_allocator *allocator)
{
    bry_status status = bry__gf_init(gf, bry__gf_bits_for(codes), allocator);
    return status == BRY_OK ||
           bench_fail("a field for %u codes: %s", codes, bry_status_text(status));
}

static bry_hash trial_key(const kbf_trial *trial, uint64_t i)
{
    return bry_hash_key(trial->seed, &i, sizeof i);
}

static uint32_t trial_code(const kbf_trial *trial, uint64_t i)
{
    return (uint32_t)bry__scale(bench_random(trial->seed ^ i), trial->codes);
}

bool kbf_trial_make(kbf_trial *trial, const kbf_trial *setting, const bry__encoder *encoder,
                    const bry__kbf_shape *shape)
{
    *trial = *setting;
    trial->allocator = bry__allocator_or_default(NULL);
    bry_status status =
        bry__paper_kbf_init(&trial->kbf, encoder, shape->hashes, shape->segment, &trial->allocator);
    if (status != BRY_OK)
        return bench_fail("a table for %llu keys: %s", (unsigned long long)trial->keys,
                          bry_status_text(status));
    trial->kbf.gf = setting->kbf.gf;
    trial->kbf.masked = setting->kbf.masked;
    for (uint64_t i = 0; i < trial->keys; i++)
        bry__paper_kbf_insert(&trial->kbf, trial_key(trial, i), trial_code(trial, i));
    return true;
}

void kbf_trial_free(kbf_trial *trial)
{
    bry__paper_kbf_free(&trial->kbf, &trial->allocator);
}

bool kbf_trial_ask(const kbf_trial *trial, bry__paper_level level, double *missed)
{
    uint64_t unanswered = 0, wrong = 0;
    for (uint64_t i = 0; i < trial->keys; i++) {
        uint32_t code = trial->codes;
        bry_answer answer =
            bry__paper_kbf_get(&trial->kbf, trial_key(trial, i), level, trial->codes, &code);
        unanswered += answer != BRY_PRESENT;
        wrong += answer == BRY_PRESENT && code != trial_code(trial, i);
    }
    *missed = (double)unanswered / (double)trial->keys;
    return wrong == 0 ||
           bench_fail("decoding gives %llu keys a wrong value", (unsigned long long)wrong);
}

double kbf_trial_cells_from(const kbf_trial *trial, unsigned count)
{
    uint64_t cells = trial->kbf.hashes * trial->kbf.segment, found = 0;
    for (uint64_t i = 0; i < cells; i++)
        found += bry__cell_count(trial->kbf.cells[i]) >= count;
    return (double)found / (double)cells;
}

bool kbf_tells(const figure_run *run, double rate, double trials)
{
    double errors = rate * trials * run->repetitions;
    return errors >= (run->scale == FIGURE_SMALL ? ERRORS_TO_TEST : ERRORS_TO_SHOW);
}
