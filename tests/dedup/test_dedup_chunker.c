/* Content-defined chunks: sizes, and boundaries that depend on the content around them alone. */
#include "apps/dedup/base/chunker.h"

#include "support/cmocka_all.h"

#include <stdlib.h>
#include <string.h>

enum { BYTES = 8 << 20 };

static unsigned char *random_bytes(uint64_t seed, size_t len)
{
    unsigned char *bytes = malloc(len);
    assert_non_null(bytes);
    for (size_t i = 0; i < len; i += 8) {
        uint64_t word = seed += 0x9e3779b97f4a7c15u;
        word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
        word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
        memcpy(bytes + i, &word, 8);
    }
    return bytes;
}

/* The ends of all chunks; returns how many there are. */
static size_t cut_all(const dedup_chunker *chunker, const unsigned char *bytes, size_t len,
                      size_t *ends)
{
    size_t count = 0;
    for (size_t at = 0; at < len;) {
        size_t size = dedup_chunker_cut(chunker, bytes + at, len - at);
        assert_true(size > 0 && size <= chunker->most);
        at += size;
        assert_true(size >= chunker->least || at == len);
        ends[count++] = at;
    }
    return count;
}

TEST(sizes)
{
    unsigned char *bytes = random_bytes(1, BYTES);
    size_t *ends = malloc(BYTES / 512 * sizeof *ends);
    for (uint32_t average = 4096; average <= 65536; average *= 4) {
        dedup_chunker chunker;
        dedup_chunker_init(&chunker, average);
        assert_int_equal(chunker.least, average / 4);
        assert_int_equal(chunker.most, average * 16);
        double mean = (double)BYTES / (double)cut_all(&chunker, bytes, BYTES, ends);
        assert_true(mean > 1.05 * average && mean < 1.4 * average);
    }
    free(bytes);
    free(ends);
}

TEST(short_and_uniform_input)
{
    dedup_chunker chunker;
    dedup_chunker_init(&chunker, 4096);
    unsigned char *zeros = calloc(1, BYTES);
    assert_int_equal(dedup_chunker_cut(&chunker, zeros, 0), 0);
    assert_int_equal(dedup_chunker_cut(&chunker, zeros, 1), 1);
    assert_int_equal(dedup_chunker_cut(&chunker, zeros, 1024), 1024);
    /* Nothing to cut at: the longest chunk. */
    assert_int_equal(dedup_chunker_cut(&chunker, zeros, BYTES), 65536);
    free(zeros);
}

/* The number of ends in `b`, moved back by `shift`, that `a` does not have after `from`. */
static size_t different_ends(const size_t *a, size_t a_count, const size_t *b, size_t b_count,
                             size_t shift, size_t from)
{
    size_t different = 0, i = 0;
    for (size_t j = 0; j < b_count; j++) {
        if (b[j] < from + shift)
            continue;
        while (i < a_count && a[i] + shift < b[j])
            i++;
        different += i == a_count || a[i] + shift != b[j];
    }
    return different;
}

TEST(an_insertion_changes_few_chunks)
{
    enum { AT = 3 << 20, MORE = 77 };
    dedup_chunker chunker;
    dedup_chunker_init(&chunker, 4096);
    unsigned char *bytes = random_bytes(2, BYTES), *longer = malloc(BYTES + MORE);
    size_t *ends = malloc(BYTES / 512 * sizeof *ends), *after = malloc(BYTES / 512 * sizeof *after);
    memcpy(longer, bytes, AT);
    memset(longer + AT, 'x', MORE);
    memcpy(longer + AT + MORE, bytes + AT, BYTES - AT);
    size_t count = cut_all(&chunker, bytes, BYTES, ends);
    size_t more = cut_all(&chunker, longer, BYTES + MORE, after);
    size_t different = different_ends(ends, count, after, more, MORE, AT);
    assert_true(different < 8);
    for (size_t i = 0; ends[i] < AT; i++)
        assert_int_equal(ends[i], after[i]);
    free(bytes);
    free(longer);
    free(ends);
    free(after);
}

/* A cut is found in the same way whatever follows the longest chunk. */
TEST(a_cut_needs_the_longest_chunk_only)
{
    dedup_chunker chunker;
    dedup_chunker_init(&chunker, 4096);
    unsigned char *bytes = random_bytes(3, BYTES);
    for (size_t at = 0; at + 2 * chunker.most < BYTES; at += 50021)
        assert_int_equal(dedup_chunker_cut(&chunker, bytes + at, chunker.most),
                         dedup_chunker_cut(&chunker, bytes + at, BYTES - at));
    free(bytes);
}

/* The boundaries must never change: a repository would find no duplicates of its older chunks. */
TEST(boundaries_are_fixed)
{
    static const size_t expected[] = {1767,  7189,  8975,  12468, 17832, 30071,
                                      32890, 36652, 39447, 40633, 41972, 47040};
    dedup_chunker chunker;
    dedup_chunker_init(&chunker, 4096);
    unsigned char *bytes = random_bytes(4, 1 << 20);
    size_t *ends = calloc((1 << 20) / 512, sizeof *ends);
    cut_all(&chunker, bytes, 1 << 20, ends);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        assert_int_equal(ends[i], expected[i]);
    free(bytes);
    free(ends);
}
