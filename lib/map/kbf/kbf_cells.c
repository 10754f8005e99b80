/*
 * kbf: a Bloom filter whose cells hold codes.
 *
 *   cell      31 ........................ 3 2 1 0
 *             XOR of the keys' encodings    count      (empty: all zero)
 *
 *   table     segment 0 | segment 1 | … | segment k-1           `segment` cells each
 *
 *   hash  →   one cell in each segment:  i · segment + h_i · segment / 2^64
 *         →   mask: the code x of a key is stored as e(a·x), a ≠ 0 from the hash
 *
 * Insert counts one up and XORs the encoding in, in all k cells; taking out is the reverse; a
 * change of the code XORs both. A look-up that finds an empty cell knows that the key is absent;
 * otherwise kbf_decode.c decodes the cells.
 *
 * Why segments: the k cells of a key have to be distinct, or its encoding would cancel itself. Why
 * the high bits of the hash choose in a segment: position p among s cells is p / 2 among s / 2, so
 * folding a table in half is adding cells 2p and 2p + 1. Since segments are even then, this is cell
 * j and cell j ^ 1 of the whole table, for all segments in one sweep. A table is planned with
 * segments of a multiple of 2^j cells and can be folded j times.
 *
 * Why a mask: keys in one cell can be told apart only if their encodings differ. If many
 * keys have the same value their codes are the same, and cancel; times a factor that is random from
 * key to key, any values look evenly spread. The factor is a power of the element 2, so that
 * masking is adding logarithms. All of this is linear: the cells of two tables may be added, in any
 * order, as if the keys had been put into one.
 *
 * Counters stop at 7 and stay there. Contents are still XORed into a stuck cell, which costs
 * nothing and keeps the sum of tables independent of the order; but they are never read. Keys that
 * come and go for long leave more and more cells stuck: the counts by counter are kept along with
 * every change, and kbf_plan.c estimates the table's current error from them.
 *
 * Invariant, whatever is inserted or taken out, and checked in files: a cell of
 * count 0 holds 0, of 1 an encoding, of 2 zero or a pair, of 3 not zero. Taking out keeps it true
 * even for a pair that was never there, because it is refused unless every cell may hold the pair.
 *
 * The structure is from "kBF: a Bloom filter for key-value storage with an application on
 * approximate state machines" and its journal version, "kBF: Towards Approximate and Bloom Filter
 * based Key-Value Storage for Cloud Computing Systems" (Xiong, Yao, Cao, He and others);
 * doc/errata.md lists where this differs.
 */
#include "map/kbf/kbf_cells.h"

#include "hash/derive.h"

#include <string.h>

#define CELLS_SHIFT (BRY__KBF_PIECE_SHIFT - 2) /* cells of one piece, as a power of two */
#define BATCH 16u /* look-ups in flight: up to 32 cells each */

static size_t kbf_piece_of(uint64_t cell)
{
    return (size_t)(cell >> CELLS_SHIFT);
}

static size_t kbf_offset_of(uint64_t cell)
{
    return (size_t)cell & (((size_t)1 << CELLS_SHIFT) - 1);
}

/* Cells are in the machine's byte order; files convert them if that is not little-endian. */
static uint32_t *piece_cells(const bry__kbf *kbf, size_t piece)
{
    return (uint32_t *)(void *)kbf->cells.piece[piece];
}

static uint32_t kbf_read_cell(const bry__kbf *kbf, uint64_t cell)
{
    const uint32_t *cells = piece_cells(kbf, kbf_piece_of(cell));
    return cells ? cells[kbf_offset_of(cell)] : 0;
}

/* The key's cell in segment i. */
static uint64_t kbf_cell_of(const bry__kbf *kbf, bry_hash hash, unsigned i)
{
    return i * kbf->segment + bry__position(hash, i, kbf->segment);
}

/* The content to XOR into a cell for this pair. */
static uint32_t kbf_content(const bry__kbf *kbf, bry_hash hash, uint32_t code)
{
    uint32_t x = bry__gf_mask(kbf->gf, code + 1, bry__kbf_mask(kbf->gf, hash));
    return bry__gf_encode(kbf->gf, x);
}

bry_status bry__kbf_init(bry__kbf *kbf, const bry__kbf *like, const bry_allocator *allocator)
{
    bry__kbf made = {
        .gf = like->gf,
        .hashes = like->hashes,
        .segment = like->segment,
        .capacity = like->capacity,
        .error = like->error,
        .counts = {like->hashes * like->segment},
    };
    bry_status status = bry__pieces_init_of(&made.cells, made.counts[0] * sizeof(uint32_t),
                                            BRY__KBF_PIECE_SHIFT, allocator);
    if (status == BRY_OK)
        *kbf = made;
    return status;
}

void bry__kbf_free(bry__kbf *kbf, const bry_allocator *allocator)
{
    bry__pieces_free(&kbf->cells, allocator);
}

static void count_as_empty(bry__kbf *kbf)
{
    kbf->items = 0;
    for (unsigned c = 0; c <= BRY__KBF_STUCK; c++)
        kbf->counts[c] = c ? 0 : kbf->hashes * kbf->segment;
}

void bry__kbf_clear(bry__kbf *kbf, const bry_allocator *allocator)
{
    bry__pieces_clear(&kbf->cells, allocator);
    count_as_empty(kbf);
}

/* ---- asking -------------------------------------------------------------------------------- */

/* The contents of the key's cells; false as soon as one is empty. */
static bool read_cells(const bry__kbf *kbf, bry_hash hash, uint32_t *cells)
{
    for (unsigned i = 0; i < kbf->hashes; i++)
        if ((cells[i] = kbf_read_cell(kbf, kbf_cell_of(kbf, hash, i))) == 0)
            return false;
    return true;
}

static bry__kbf_question kbf_question_of(const bry__kbf *kbf, bry_hash hash, uint32_t codes,
                                         const uint32_t *cells)
{
    return (bry__kbf_question){
        .gf = kbf->gf,
        .cells = cells,
        .n = kbf->hashes,
        .power = bry__kbf_mask(kbf->gf, hash),
        .codes = codes,
    };
}

bry_answer bry__kbf_get(const bry__kbf *kbf, bry_hash hash, uint32_t codes, uint32_t *code)
{
    uint32_t cells[BRY__KBF_MAX_HASHES];
    if (!read_cells(kbf, hash, cells))
        return BRY_ABSENT;
    bry__kbf_question question = kbf_question_of(kbf, hash, codes, cells);
    return bry__kbf_decode(&question, code);
}

bool bry__kbf_may_hold(const bry__kbf *kbf, bry_hash hash, uint32_t code)
{
    uint32_t cells[BRY__KBF_MAX_HASHES];
    return read_cells(kbf, hash, cells) &&
           bry__kbf_agree(kbf->gf, cells, kbf->hashes, kbf_content(kbf, hash, code));
}

void bry__kbf_prefetch(const bry__kbf *kbf, bry_hash hash)
{
    for (unsigned i = 0; i < kbf->hashes; i++) {
        uint64_t cell = kbf_cell_of(kbf, hash, i);
        const uint32_t *cells = piece_cells(kbf, kbf_piece_of(cell));
        if (cells)
            __builtin_prefetch(cells + kbf_offset_of(cell), 1);
    }
}

void bry__kbf_get_n(const bry__kbf *kbf, const bry_hash *hashes, size_t n, uint32_t codes,
                    uint32_t *codes_out, uint8_t *answers)
{
    static const uint32_t nothing = 0; /* a cell of a piece that is not allocated */
    const uint32_t *at[BATCH][BRY__KBF_MAX_HASHES];
    uint32_t cells[BRY__KBF_MAX_HASHES];
    for (size_t done = 0; done < n; done += BATCH) {
        size_t here = n - done < BATCH ? n - done : BATCH;
        for (size_t j = 0; j < here; j++)
            for (unsigned i = 0; i < kbf->hashes; i++) {
                uint64_t cell = kbf_cell_of(kbf, hashes[done + j], i);
                const uint32_t *piece = piece_cells(kbf, kbf_piece_of(cell));
                at[j][i] = piece ? piece + kbf_offset_of(cell) : &nothing;
                __builtin_prefetch(at[j][i]);
            }
        for (size_t j = 0; j < here; j++) {
            unsigned i = 0;
            while (i < kbf->hashes && (cells[i] = *at[j][i]) != 0)
                i++;
            bry_answer answer = BRY_ABSENT;
            if (i == kbf->hashes) {
                bry__kbf_question question = kbf_question_of(kbf, hashes[done + j], codes, cells);
                answer = bry__kbf_decode(&question, &codes_out[done + j]);
            }
            answers[done + j] = (uint8_t)answer;
        }
    }
}

/* ---- changing ------------------------------------------------------------------------------ */

bry_status bry__kbf_reach(bry__kbf *kbf, const bry_hash *hashes, size_t n,
                          const bry_allocator *allocator)
{
    for (size_t j = 0; j < n && kbf->cells.present < kbf->cells.count; j++)
        for (unsigned i = 0; i < kbf->hashes; i++) {
            bry_status status = bry__piece_reach(
                &kbf->cells, kbf_piece_of(kbf_cell_of(kbf, hashes[j], i)), allocator);
            if (status != BRY_OK)
                return status;
        }
    return BRY_OK;
}

static uint32_t *kbf_cell_at(bry__kbf *kbf, bry_hash hash, unsigned i)
{
    uint64_t cell = kbf_cell_of(kbf, hash, i);
    return &piece_cells(kbf, kbf_piece_of(cell))[kbf_offset_of(cell)];
}

uint32_t bry__kbf_add(bry__kbf *kbf, bry_hash hash, uint32_t code)
{
    uint32_t add = kbf_content(kbf, hash, code) << 3, stuck = 0;
    for (unsigned i = 0; i < kbf->hashes; i++) {
        uint32_t *cell = kbf_cell_at(kbf, hash, i), count = bry__cell_count(*cell);
        if (count < BRY__KBF_STUCK) {
            kbf->counts[count]--;
            kbf->counts[count + 1]++;
            *cell += 1;
            stuck |= (uint32_t)(count + 1 == BRY__KBF_STUCK) << i;
        }
        *cell ^= add;
    }
    kbf->items++;
    return stuck;
}

void bry__kbf_add_n(bry__kbf *kbf, const bry_hash *hashes, const uint32_t *codes, size_t n)
{
    for (size_t done = 0; done < n; done += BATCH) {
        size_t here = n - done < BATCH ? n - done : BATCH;
        for (size_t j = 0; j < here; j++)
            bry__kbf_prefetch(kbf, hashes[done + j]);
        for (size_t j = 0; j < here; j++)
            bry__kbf_add(kbf, hashes[done + j], codes[done + j]);
    }
}

void bry__kbf_take(bry__kbf *kbf, bry_hash hash, uint32_t code, uint32_t unstick)
{
    uint32_t add = kbf_content(kbf, hash, code) << 3;
    for (unsigned i = 0; i < kbf->hashes; i++) {
        uint32_t *cell = kbf_cell_at(kbf, hash, i), count = bry__cell_count(*cell);
        if (count < BRY__KBF_STUCK || (unstick >> i & 1)) {
            kbf->counts[count]--;
            kbf->counts[count - 1]++;
            *cell -= 1;
        }
        *cell ^= add;
    }
    /* Deleting pairs that were never there may bring the items to 0 before the cells. */
    if (kbf->items > 0)
        kbf->items--;
}

void bry__kbf_replace(bry__kbf *kbf, bry_hash hash, uint32_t from, uint32_t to)
{
    uint32_t change = (kbf_content(kbf, hash, from) ^ kbf_content(kbf, hash, to)) << 3;
    for (unsigned i = 0; i < kbf->hashes; i++)
        *kbf_cell_at(kbf, hash, i) ^= change;
}

/* ---- whole tables -------------------------------------------------------------------------- */

static uint32_t kbf_add_cells(uint32_t a, uint32_t b)
{
    uint32_t count = bry__cell_count(a) + bry__cell_count(b);
    if (count > BRY__KBF_STUCK)
        count = BRY__KBF_STUCK;
    return ((a ^ b) & ~(uint32_t)7) | count;
}

/* The number of cells in a piece: only the last may have fewer. */
static size_t kbf_cells_in(const bry__kbf *kbf, size_t piece)
{
    return bry__piece_size(&kbf->cells, piece) / sizeof(uint32_t);
}

static uint64_t kbf_first_of(size_t piece)
{
    return (uint64_t)piece << CELLS_SHIFT;
}

bry_status bry__kbf_reach_for(bry__kbf *into, const bry__kbf *from, unsigned shift,
                              const bry_allocator *allocator)
{
    for (size_t i = 0; i < from->cells.count; i++) {
        if (!from->cells.piece[i])
            continue;
        uint64_t last = kbf_first_of(i) + kbf_cells_in(from, i) - 1;
        for (size_t to = kbf_piece_of(kbf_first_of(i) >> shift); to <= kbf_piece_of(last >> shift);
             to++) {
            bry_status status = bry__piece_reach(&into->cells, to, allocator);
            if (status != BRY_OK)
                return status;
        }
    }
    return BRY_OK;
}

bry_status bry__kbf_copy(bry__kbf *to, const bry__kbf *from, const bry_allocator *allocator)
{
    bry_status status = bry__pieces_copy(&to->cells, &from->cells, allocator);
    if (status != BRY_OK)
        return status;
    memcpy(to->counts, from->counts, sizeof to->counts);
    to->items = from->items;
    return BRY_OK;
}

bry_status bry__kbf_merge(bry__kbf *into, const bry__kbf *from, unsigned shift,
                          const bry_allocator *allocator)
{
    bry_status status = bry__kbf_reach_for(into, from, shift, allocator);
    if (status != BRY_OK)
        return status;
    for (size_t i = 0; i < from->cells.count; i++) {
        const uint32_t *cells = piece_cells(from, i);
        for (size_t j = 0; cells && j < kbf_cells_in(from, i); j++) {
            if (cells[j] == 0)
                continue;
            uint64_t cell = (kbf_first_of(i) + j) >> shift;
            uint32_t *to = &piece_cells(into, kbf_piece_of(cell))[kbf_offset_of(cell)];
            into->counts[bry__cell_count(*to)]--;
            *to = kbf_add_cells(*to, cells[j]);
            into->counts[bry__cell_count(*to)]++;
        }
    }
    into->items += from->items;
    return BRY_OK;
}

/* Whether `count` encodings can give this content. */
static bool kbf_possible(const bry__gf *gf, unsigned count, uint32_t sum)
{
    if (sum >> 2 * gf->bits)
        return false;
    switch (count) {
    case 0:
        return sum == 0;
    case 1:
        return bry__gf_decode(gf, sum) != 0;
    case 2:
        return bry__gf_is_two(gf, sum);
    case 3:
        return sum != 0;
    default:
        return true;
    }
}

const char *bry__kbf_check(bry__kbf *kbf)
{
    uint64_t items = kbf->items;
    count_as_empty(kbf);
    kbf->items = items;
    uint64_t cell = 0;
    for (unsigned segment = 0; segment < kbf->hashes; segment++) {
        uint64_t sum = 0, end = cell + kbf->segment;
        bool stuck = false;
        while (cell < end) {
            size_t piece = kbf_piece_of(cell);
            uint64_t stop = kbf_first_of(piece + 1) < end ? kbf_first_of(piece + 1) : end;
            const uint32_t *cells = piece_cells(kbf, piece);
            for (uint64_t at = cell; cells && at < stop; at++) {
                uint32_t content_of = cells[kbf_offset_of(at)];
                unsigned count = bry__cell_count(content_of);
                if (!kbf_possible(kbf->gf, count, bry__cell_sum(content_of)))
                    return "a cell's content does not match its counter";
                kbf->counts[0]--;
                kbf->counts[count]++;
                sum += count;
                stuck |= count == BRY__KBF_STUCK;
            }
            cell = stop;
        }
        if (!stuck && sum != items)
            return "the counters do not add up to the number of items";
    }
    return NULL;
}
