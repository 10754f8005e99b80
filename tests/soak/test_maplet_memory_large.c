/*
 * Eight million entries with 16-bit values at error 10⁻³: the bytes that are counted, and the memory
 * of the process as the kernel reports it, fresh, after half was deleted and inserted again, and
 * after nine of ten were deleted. Prints its figures. Also run with jemalloc.
 *
 *     test_maplet_memory_large [ENTRIES]
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "hash/derive.h"
#include "maplet/maplet.h"
#include "support/cmocka_all.h"

static uint64_t entries = 8000000;

static bry_hash numbered_hash(uint64_t i)
{
    return (bry_hash){.lo = 0, .hi = bry__mix64(bry__mix64(i * UINT64_C(0x9e3779b97f4a7c15)) + 1)};
}

/* Bytes of memory that the process has. */
static double resident(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long pages = 0;
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%*d %ld", &pages), 1); /* NOLINT(cert-err34-c) */
    fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static void open_empty(bry__maplet *maplet)
{
    bry__maplet_options options = {entries, 1e-3, 16, true};
    bry_allocator allocator = bry__allocator_or_default(NULL);
    assert_true(bry__maplet_init(maplet, &options, &allocator));
}

static void add_from(bry__maplet *maplet, uint64_t first, uint64_t n)
{
    for (uint64_t i = first; i < first + n; i++)
        assert_int_equal(bry__maplet_add(maplet, numbered_hash(i), (uint32_t)i & 0xffff), BRY_OK);
}

static void remove_from(bry__maplet *maplet, uint64_t first, uint64_t n)
{
    for (uint64_t i = first; i < first + n; i++)
        assert_int_equal(bry__maplet_del_value(maplet, numbered_hash(i), (uint32_t)i & 0xffff),
                         BRY_PRESENT);
}

TEST(counted_and_resident)
{
    bry__maplet maplet, rest;
    open_empty(&maplet); /* what the process needs anyway, such as the pages of its code */
    add_from(&maplet, 0, 1000);
    bry__maplet_free(&maplet);
    double before = resident();
    open_empty(&maplet);
    add_from(&maplet, 0, entries);
    double fresh = (double)bry__maplet_bytes(&maplet), grown = resident() - before;
    printf("fresh: %.3f bits per entry; resident: %.4f of that\n", 8 * fresh / (double)entries,
           grown / fresh);
    assert_true(8 * fresh / (double)entries <= 28.8);
    assert_true(grown <= 1.05 * fresh);

    remove_from(&maplet, 0, entries / 2);
    add_from(&maplet, entries, entries / 2);
    double again = (double)bry__maplet_bytes(&maplet);
    printf("half inserted again: %.4f of fresh; resident: %.4f of that\n", again / fresh,
           (resident() - before) / again);
    assert_true(again <= 1.1 * fresh);

    remove_from(&maplet, entries / 2, entries / 2);
    remove_from(&maplet, entries, entries * 2 / 5);
    open_empty(&rest);
    add_from(&rest, 0, bry__maplet_count(&maplet));
    double few = (double)bry__maplet_bytes(&maplet), alone = (double)bry__maplet_bytes(&rest);
    printf("nine of ten deleted: %.4f of a fresh one\n", few / alone);
    assert_true(few <= 1.3 * alone);
    bry__maplet_free(&rest);
    bry__maplet_free(&maplet);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        entries = strtoull(argv[1], NULL, 10);
    return run_all_tests(NULL, NULL);
}
