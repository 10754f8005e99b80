#include "papers/paper_kbf.h"

#include "common/checked.h"
#include "hash/derive.h"
#include "map/kbf/kbf_cells.h"

static bool paper_kbf_bytes_of(unsigned hashes, uint64_t segment, size_t *bytes)
{
    uint64_t all;
    return bry__mul(hashes * sizeof(uint32_t), segment, &all) && bry__to_size(all, bytes);
}

bry_status bry__paper_kbf_init(bry__paper_kbf *kbf, const bry__encoder *encoder, unsigned hashes,
                               uint64_t segment, const bry_allocator *allocator)
{
    size_t bytes;
    if (encoder->bits > 29 || hashes < 1 || hashes > BRY__KBF_MAX_HASHES || segment < 1 ||
        !paper_kbf_bytes_of(hashes, segment, &bytes))
        return BRY_E_RANGE;
    uint32_t *cells = bry__alloc(allocator, bytes);
    if (!cells)
        return BRY_E_NOMEM;
    *kbf =
        (bry__paper_kbf){.encoder = *encoder, .hashes = hashes, .segment = segment, .cells = cells};
    return BRY_OK;
}

void bry__paper_kbf_free(bry__paper_kbf *kbf, const bry_allocator *allocator)
{
    bry__free(allocator, kbf->cells, (size_t)(kbf->hashes * kbf->segment) * sizeof *kbf->cells);
    kbf->cells = NULL;
}

static uint32_t *paper_kbf_cell_at(const bry__paper_kbf *kbf, bry_hash hash, unsigned i)
{
    return &kbf->cells[i * kbf->segment + bry__position(hash, i, kbf->segment)];
}

static uint32_t paper_kbf_power_of(const bry__paper_kbf *kbf, bry_hash hash)
{
    return kbf->masked ? bry__kbf_mask(kbf->gf, hash) : 0;
}

static uint32_t paper_kbf_encode(const bry__paper_kbf *kbf, bry_hash hash, uint32_t code)
{
    uint32_t index =
        kbf->masked ? bry__gf_mask(kbf->gf, code + 1, paper_kbf_power_of(kbf, hash)) - 1 : code;
    return kbf->encoder.encode(kbf->encoder.self, index);
}

/* Adds `by` to the counters, which stick at 7, and XORs `content` in. */
static void paper_kbf_change(bry__paper_kbf *kbf, bry_hash hash, int by, uint32_t content)
{
    for (unsigned i = 0; i < kbf->hashes; i++) {
        uint32_t *cell = paper_kbf_cell_at(kbf, hash, i);
        if (bry__cell_count(*cell) < BRY__KBF_STUCK)
            *cell += (uint32_t)by;
        *cell ^= content << 3;
    }
}

void bry__paper_kbf_insert(bry__paper_kbf *kbf, bry_hash hash, uint32_t code)
{
    paper_kbf_change(kbf, hash, 1, paper_kbf_encode(kbf, hash, code));
    kbf->items++;
}

/* ---- decoding ------------------------------------------------------------------------------ */

typedef struct question {
    const bry__encoder *encoder;
    uint32_t cells[BRY__KBF_MAX_HASHES];
    unsigned n;
} question;

/* The first content of that count that is neither zero nor `other`; 0 if there is none. */
static uint32_t paper_kbf_content_of(const question *of, unsigned count, uint32_t other)
{
    for (unsigned i = 0; i < of->n; i++) {
        uint32_t sum = bry__cell_sum(of->cells[i]);
        if (bry__cell_count(of->cells[i]) == count && sum != 0 && sum != other)
            return sum;
    }
    return 0;
}

static uint32_t paper_kbf_decode22(const bry__encoder *encoder, uint32_t v1, uint32_t v2)
{
    uint32_t a, b, c, d;
    if (!encoder->decode_pair(encoder->self, v1, &a, &b) ||
        !encoder->decode_pair(encoder->self, v2, &c, &d))
        return BRY__ENCODER_NONE;
    if (a == c || a == d)
        return a;
    return b == c || b == d ? b : BRY__ENCODER_NONE;
}

static uint32_t paper_kbf_decode23(const bry__encoder *encoder, uint32_t v2, uint32_t v3)
{
    const void *self = encoder->self;
    uint32_t a, b;
    if (encoder->decode(self, v2 ^ v3) != BRY__ENCODER_NONE ||
        !encoder->decode_pair(self, v2, &a, &b))
        return BRY__ENCODER_NONE;
    bool with_a = encoder->is_pair(self, v3 ^ encoder->encode(self, a));
    bool with_b = encoder->is_pair(self, v3 ^ encoder->encode(self, b));
    if (with_a == with_b)
        return BRY__ENCODER_NONE;
    return with_a ? a : b;
}

/* Whether the cell may hold this encoding, by the sets of the INFOCOM paper: for one key, the
 * content; for two, the pair; for three, all possible triples. */
static bool paper_kbf_in_set(const bry__encoder *encoder, uint32_t cell, uint32_t encoding)
{
    uint32_t rest = bry__cell_sum(cell) ^ encoding;
    switch (bry__cell_count(cell)) {
    case 1:
        return rest == 0;
    case 2: /* zero: two equal ones, so any is possible */
        return encoder->decode(encoder->self, rest) != BRY__ENCODER_NONE;
    case 3:
        return rest == 0 || encoder->is_pair(encoder->self, rest);
    default:
        return true;
    }
}

static uint32_t decode_sets(const question *of, uint32_t codes)
{
    const bry__encoder *encoder = of->encoder;
    bool any = false;
    for (unsigned i = 0; i < of->n; i++)
        any |= bry__cell_count(of->cells[i]) <= 3;
    uint32_t found = BRY__ENCODER_NONE;
    for (uint32_t a = 0; any && a < codes; a++) {
        uint32_t encoding = encoder->encode(encoder->self, a);
        unsigned i = 0;
        while (i < of->n && paper_kbf_in_set(encoder, of->cells[i], encoding))
            i++;
        if (i < of->n)
            continue;
        if (found != BRY__ENCODER_NONE)
            return BRY__ENCODER_NONE;
        found = a;
    }
    return found;
}

bry_answer bry__paper_kbf_get(const bry__paper_kbf *kbf, bry_hash hash, bry__paper_level level,
                              uint32_t codes, uint32_t *code)
{
    question of = {.encoder = &kbf->encoder, .n = kbf->hashes};
    for (unsigned i = 0; i < kbf->hashes; i++)
        if ((of.cells[i] = *paper_kbf_cell_at(kbf, hash, i)) == 0)
            return BRY_ABSENT;
    if (level == BRY__PAPER_CONSISTENT) {
        bry__kbf_question consistent = {kbf->gf, of.cells, of.n, paper_kbf_power_of(kbf, hash),
                                        codes};
        return bry__kbf_decode(&consistent, code);
    }
    const bry__encoder *encoder = of.encoder;
    uint32_t found = BRY__ENCODER_NONE, one = paper_kbf_content_of(&of, 1, 0);
    if (one) {
        found = encoder->decode(encoder->self, one);
    } else if (level == BRY__PAPER_SETS) {
        found = decode_sets(&of, codes < encoder->count ? codes : encoder->count);
    } else if (level >= BRY__PAPER_PAIRS) {
        uint32_t two = paper_kbf_content_of(&of, 2, 0),
                 other = two ? paper_kbf_content_of(&of, 2, two) : 0;
        uint32_t three = paper_kbf_content_of(&of, 3, 0);
        if (other)
            found = paper_kbf_decode22(encoder, two, other);
        else if (two && three && level >= BRY__PAPER_TRIPLES)
            found = paper_kbf_decode23(encoder, two, three);
    }
    if (kbf->masked && found != BRY__ENCODER_NONE)
        found = bry__gf_unmask(kbf->gf, found + 1, paper_kbf_power_of(kbf, hash)) - 1;
    if (found >= codes)
        return BRY_UNSURE;
    *code = found;
    return BRY_PRESENT;
}

bry_answer bry__paper_kbf_update(bry__paper_kbf *kbf, bry_hash hash, bry__paper_level level,
                                 uint32_t codes, uint32_t code)
{
    uint32_t old;
    bry_answer answer = bry__paper_kbf_get(kbf, hash, level, codes, &old);
    if (answer == BRY_PRESENT)
        paper_kbf_change(kbf, hash, 0,
                         paper_kbf_encode(kbf, hash, old) ^ paper_kbf_encode(kbf, hash, code));
    return answer;
}

bry_answer bry__paper_kbf_delete(bry__paper_kbf *kbf, bry_hash hash, bry__paper_level level,
                                 uint32_t codes)
{
    uint32_t old;
    bry_answer answer = bry__paper_kbf_get(kbf, hash, level, codes, &old);
    if (answer == BRY_PRESENT) {
        paper_kbf_change(kbf, hash, -1, paper_kbf_encode(kbf, hash, old));
        kbf->items--;
    }
    return answer;
}

void bry__paper_kbf_update_blindly(bry__paper_kbf *kbf, bry_hash hash, bry__paper_level level,
                                   uint32_t codes, uint32_t code)
{
    uint32_t old, change = paper_kbf_encode(kbf, hash, code);
    if (bry__paper_kbf_get(kbf, hash, level, codes, &old) == BRY_PRESENT)
        change ^= paper_kbf_encode(kbf, hash, old);
    for (unsigned i = 0; i < kbf->hashes; i++) {
        uint32_t *cell = paper_kbf_cell_at(kbf, hash, i);
        if (bry__cell_count(*cell) > 0)
            *cell ^= change << 3;
    }
}

void bry__paper_kbf_join(bry__paper_kbf *into, const bry__paper_kbf *from, unsigned shift)
{
    for (uint64_t i = 0; i < from->hashes * from->segment; i++) {
        uint32_t *to = &into->cells[i >> shift], add = from->cells[i];
        unsigned count = bry__cell_count(*to) + bry__cell_count(add);
        *to = (bry__cell_sum(*to) ^ bry__cell_sum(add)) << 3 |
              (count < BRY__KBF_STUCK ? count : BRY__KBF_STUCK);
    }
    into->items += from->items;
}
