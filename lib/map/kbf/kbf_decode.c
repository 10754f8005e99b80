/*
 * Consistent decoding.
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
 * The papers trust the first cells that decode instead, at one of three levels
 * (papers/paper_kbf.h).
 */
#include "map/kbf/kbf_decode.h"

static bool kbf_decode_agrees(const bry__gf *gf, uint32_t cell, uint32_t encoding)
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
        if (!kbf_decode_agrees(gf, cells[i], encoding))
            return false;
    return true;
}

/* The code of element x for this key; false if x is 0 or the code is not assigned. */
static bool kbf_decode_assigned(const bry__kbf_question *question, uint32_t x, uint32_t *code)
{
    if (x == 0)
        return false;
    *code = bry__gf_unmask(question->gf, x, question->power) - 1;
    return *code < question->codes;
}

/* The first cell of that count whose content is not zero; 0 if there is none. */
static uint32_t kbf_decode_find(const bry__kbf_question *question, unsigned count)
{
    for (unsigned i = 0; i < question->n; i++) {
        uint32_t cell = question->cells[i];
        if (bry__cell_count(cell) == count && bry__cell_sum(cell) != 0)
            return cell;
    }
    return 0;
}

int bry__kbf_candidates(const bry__kbf_question *question, uint32_t found[2])
{
    const bry__gf *gf = question->gf;
    uint32_t x[2] = {0, 0}, cell = kbf_decode_find(question, 1);
    if (cell) {
        x[0] = bry__gf_decode(gf, bry__cell_sum(cell));
    } else {
        cell = kbf_decode_find(question, 2);
        if (!cell)
            return -1;
        bry__gf_decode_pair(gf, bry__cell_sum(cell), &x[0], &x[1]);
    }
    int kept = 0;
    for (int i = 0; i < 2; i++)
        if (kbf_decode_assigned(question, x[i], &found[kept]) &&
            bry__kbf_agree(gf, question->cells, question->n, bry__gf_encode(gf, x[i])))
            kept++;
    return kept;
}

bry_answer bry__kbf_decode(const bry__kbf_question *question, uint32_t *code)
{
    uint32_t found[2];
    int n = bry__kbf_candidates(question, found);
    if (n == 1)
        *code = found[0];
    return n == 0 ? BRY_ABSENT : n == 1 ? BRY_PRESENT : BRY_UNSURE;
}
