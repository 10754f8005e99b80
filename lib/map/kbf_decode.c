/*
 * Decoding. Level 4, consistent decoding, is the default:
 *
 *   1. Take a cell of one key, else one of two: the key's own encoding, if the key is there, is the
 *      content, or one of the two that the content splits into. So there are one or two candidates,
 *      each of which has to unmask to an assigned code.
 *   2. Keep those that every other cell could hold:
 *        one key     the content is the candidate
 *        two         the rest (content ⊕ candidate) is an encoding
 *        three       the rest is two encodings: zero or a pair
 *        four        the rest is three encodings, which never give zero
 *        more, stuck anything
 *   3. One left: the value. Two: unsure. None: the key is not there, for its own code would have
 *      passed every test.
 *
 * An encoding has 2t bits for 2^t elements, so a wrong candidate passes a cell of two about once in
 * 2^t times, and one of three every other time. That is what makes false positives vanish: an
 * absent key has to find cells that are all in use *and* agree with each other.
 *
 * Levels 1 to 3 are Algorithms 6 and 7 of "kBF: Towards Approximate and Bloom Filter based
 * Key-Value Storage for Cloud Computing Systems", with one correction: an empty cell is looked for
 * first, among all cells. They trust the first cells that decode.
 */
#include "map/kbf_decode.h"

static bool agrees(const bry__gf *gf, uint32_t cell, uint32_t encoding)
{
    uint32_t rest = bry__cell_sum(cell) ^ encoding;
    switch (bry__cell_count(cell)) {
    case 0:
        return false;
    case 1:
        return rest == 0;
    case 2:
        return bry__gf_decode(gf, rest) != 0;
    case 3:
        return bry__gf_is_two(gf, rest);
    case 4:
        return rest != 0;
    default:
        return true;
    }
}

bool bry__kbf_agree(const bry__gf *gf, const uint32_t *cells, unsigned n, uint32_t encoding)
{
    for (unsigned i = 0; i < n; i++)
        if (!agrees(gf, cells[i], encoding))
            return false;
    return true;
}

/* The code that element x is for this key; false when x is 0 or the code is not assigned. */
static bool assigned(const bry__kbf_question *question, uint32_t x, uint32_t *code)
{
    if (x == 0)
        return false;
    *code = bry__gf_unmask(question->gf, x, question->power) - 1;
    return *code < question->codes;
}

/* The first cell of that count whose content is neither zero nor `other`; 0 when there is none. */
static uint32_t find(const bry__kbf_question *question, unsigned count, uint32_t other)
{
    for (unsigned i = 0; i < question->n; i++) {
        uint32_t cell = question->cells[i];
        if (bry__cell_count(cell) == count && bry__cell_sum(cell) != 0 && cell != other)
            return cell;
    }
    return 0;
}

int bry__kbf_candidates(const bry__kbf_question *question, uint32_t found[2])
{
    const bry__gf *gf = question->gf;
    uint32_t x[2] = {0, 0}, cell = find(question, 1, 0);
    if (cell) {
        x[0] = bry__gf_decode(gf, bry__cell_sum(cell));
    } else {
        cell = find(question, 2, 0);
        if (!cell)
            return -1;
        bry__gf_decode_pair(gf, bry__cell_sum(cell), &x[0], &x[1]);
    }
    int kept = 0;
    for (int i = 0; i < 2; i++)
        if (assigned(question, x[i], &found[kept]) &&
            bry__kbf_agree(gf, question->cells, question->n, bry__gf_encode(gf, x[i])))
            kept++;
    return kept;
}

/* The one element that two different pairs share, or 0. */
static uint32_t shared_by_pairs(const bry__gf *gf, uint32_t v1, uint32_t v2)
{
    uint32_t a, b, c, d;
    if (!bry__gf_decode_pair(gf, v1, &a, &b) || !bry__gf_decode_pair(gf, v2, &c, &d))
        return 0;
    if (a == c || a == d)
        return a;
    return b == c || b == d ? b : 0;
}

/* The one element of pair v2 that triple v3 may contain while it cannot contain the other, or 0. */
static uint32_t shared_with_triple(const bry__gf *gf, uint32_t v2, uint32_t v3)
{
    uint32_t a, b, x, y;
    if (bry__gf_decode(gf, v2 ^ v3) || !bry__gf_decode_pair(gf, v2, &a, &b))
        return 0;
    bool with_a = bry__gf_decode_pair(gf, v3 ^ bry__gf_encode(gf, a), &x, &y);
    bool with_b = bry__gf_decode_pair(gf, v3 ^ bry__gf_encode(gf, b), &x, &y);
    if (with_a == with_b)
        return 0;
    return with_a ? a : b;
}

bry_answer bry__kbf_decode(const bry__kbf_question *question, unsigned level, uint32_t *code)
{
    uint32_t found[2];
    if (level >= 4) {
        int n = bry__kbf_candidates(question, found);
        if (n == 1)
            *code = found[0];
        return n == 0 ? BRY_ABSENT : n == 1 ? BRY_PRESENT : BRY_UNSURE;
    }
    const bry__gf *gf = question->gf;
    uint32_t x = 0, one = find(question, 1, 0);
    if (one) {
        x = bry__gf_decode(gf, bry__cell_sum(one));
    } else if (level >= 2) {
        uint32_t two = find(question, 2, 0), other = two ? find(question, 2, two) : 0;
        uint32_t three = level >= 3 && !other ? find(question, 3, 0) : 0;
        if (other)
            x = shared_by_pairs(gf, bry__cell_sum(two), bry__cell_sum(other));
        else if (two && three)
            x = shared_with_triple(gf, bry__cell_sum(two), bry__cell_sum(three));
    }
    if (!assigned(question, x, found))
        return BRY_UNSURE;
    *code = found[0];
    return BRY_PRESENT;
}
