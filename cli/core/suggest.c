#include "cli/core/suggest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST = 40 };

static size_t least_of(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;
    return least < c ? least : c;
}

static bool same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/*
 * Insertions, deletions, replacements and exchanges of neighbours that make one word the other
 * (optimal string alignment). Row i has the distances of the first i bytes of `a` to the beginnings
 * of `b`; three rows are enough.
 */
static size_t edit_distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t rows[3][LONGEST + 1];
    for (size_t j = 0; j <= b_len; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_len; i++) {
        size_t *now = rows[i % 3];
        const size_t *before = rows[(i + 2) % 3], *earlier = rows[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= b_len; j++) {
            now[j] = least_of(before[j] + 1, now[j - 1] + 1,
                              before[j - 1] + (!same_letter(a[i - 1], b[j - 1])));
            if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) &&
                same_letter(a[i - 2], b[j - 1]) && earlier[j - 2] + 1 < now[j])
                now[j] = earlier[j - 2] + 1;
        }
    }
    return rows[a_len % 3][b_len];
}

bool cli_guess_try(cli_guess *guess, const char *known)
{
    size_t len = strlen(known), most = (guess->len + 2) / 4; /* one mistake in about four letters */
    if (len < 2 || len > LONGEST || guess->len > LONGEST)
        return false;
    size_t distance = edit_distance(guess->word, guess->len, known, len);
    if (distance > most || (guess->best && distance >= guess->distance))
        return false;
    guess->best = known;
    guess->distance = distance;
    return true;
}

cli_suggestion cli_suggest(const cli_guess *guess, const char *before)
{
    cli_suggestion suggestion = {""};
    if (guess->best)
        snprintf(suggestion.text, sizeof suggestion.text, "; did you mean \"%s%s\"?", before,
                 guess->best);
    return suggestion;
}
