/*
 * Half a billion entries with 12-bit values at error 10⁻³, built and queried within 3 GiB of
 * memory: the peak of the process as the kernel reports it. Prints its figures.
 *
 *     test_maplet_large [ENTRIES]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "cli/core/steady_clock.h"
#include "hash/derive.h"
#include "maplet/maplet.h"
#include "support/band.h"
#include "support/cmocka_all.h"

enum { VALUE_BITS = 12, BATCH = 4096, ASKED = 1 << 24 };

static uint64_t entries = 500000000;

static bry_hash hash_of(uint64_t i)
{
    uint64_t spread = i * UINT64_C(0x9e3779b97f4a7c15);
    return (bry_hash){.lo = 0, .hi = bry__mix64(bry__mix64(spread) + 1)};
}

static uint32_t value_of(uint64_t i)
{
    return (uint32_t)bry__mix64(i + 12345) & ((1u << VALUE_BITS) - 1);
}

static uint64_t peak_bytes(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return (uint64_t)usage.ru_maxrss * 1024;
}

static void build(bry__maplet *maplet)
{
    bry__maplet_options options = {entries, 1e-3, VALUE_BITS, true};
    bry_allocator allocator = bry__allocator_or_default(NULL);
    assert_true(bry__maplet_init(maplet, &options, &allocator));
    for (uint64_t i = 0; i < entries; i++)
        assert_true(bry__maplet_add(maplet, hash_of(i), value_of(i)) == BRY_OK);
}

/* The number of keys first, first + step, … that are found; *wrong counts those with another
 * value. */
static uint64_t ask(const bry__maplet *maplet, uint64_t first, uint64_t step, uint64_t *wrong)
{
    static bry_hash hashes[BATCH];
    static uint32_t values[BATCH];
    static uint8_t answers[BATCH];
    uint64_t found = 0;
    for (uint64_t done = 0; done < ASKED; done += BATCH) {
        for (unsigned i = 0; i < BATCH; i++)
            hashes[i] = hash_of(first + (done + i) * step);
        bry__maplet_get_n(maplet, hashes, BATCH, values, answers);
        for (unsigned i = 0; i < BATCH; i++) {
            found += answers[i] == BRY_PRESENT;
            *wrong += answers[i] == BRY_PRESENT && values[i] != value_of(first + (done + i) * step);
        }
    }
    return found;
}

TEST(half_a_billion)
{
    assert_true(entries >= ASKED);
    bry__maplet maplet;
    double start = cli_clock_seconds(CLOCK_MONOTONIC);
    build(&maplet);
    double built = cli_clock_seconds(CLOCK_MONOTONIC);
    uint64_t wrong = 0, unused = 0;
    uint64_t hits = ask(&maplet, 0, entries / ASKED, &wrong);
    double hit = cli_clock_seconds(CLOCK_MONOTONIC);
    uint64_t false_positives = ask(&maplet, entries, 1, &unused);
    double missed = cli_clock_seconds(CLOCK_MONOTONIC);
    printf("%" PRIu64 " entries: %.2f bits an entry, peak %.3f GiB, insert %.0f ns, hit %.0f ns, "
           "miss %.0f ns (in batches), false positives %.3e, wrong values %.3e, at most %u moved\n",
           entries, 8.0 * (double)bry__maplet_bytes(&maplet) / (double)entries,
           (double)peak_bytes() / (1 << 30), 1e9 * (built - start) / (double)entries,
           1e9 * (hit - built) / ASKED, 1e9 * (missed - hit) / ASKED,
           (double)false_positives / ASKED, (double)wrong / ASKED, maplet.table[0].max_step);
    assert_int_equal(hits, ASKED);
    band_assert(false_positives, ASKED, bry__maplet_error_now(&maplet));
    /* Of two keys with the same fingerprint, at most one is answered with the other's value. */
    assert_true((double)wrong <= ASKED * 1e-3);
    assert_true(peak_bytes() <= (uint64_t)3 << 30);
    assert_true(maplet.table[0].max_step <= 8192);
    bry__maplet_free(&maplet);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        entries = strtoull(argv[1], NULL, 10);
    return run_all_tests(NULL, NULL);
}
