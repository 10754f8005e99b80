/*
 * A filter in a few lines: plan, create, add, ask, and compare what was promised with what happens.
 */
#include <bloomery/filter.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { KEYS = 1000000, STRANGERS = 1000000, BATCH = 1000 };

static void check(bry_status status)
{
    if (status != BRY_OK) {
        fprintf(stderr, "%s: %s\n", bry_status_word(status), bry_status_text(status));
        exit(EXIT_FAILURE);
    }
}

/* The hashes of user:first, user:first+1 and so on. */
static void hash_batch(uint64_t seed, int first, bry_hash hashes[BATCH])
{
    for (int i = 0; i < BATCH; i++) {
        char key[32];
        int len = snprintf(key, sizeof key, "user:%d", first + i);
        hashes[i] = bry_hash_key(seed, key, (size_t)len);
    }
}

/* How many of the keys first … first + count - 1 the filter says it holds. */
static int count_present(const bry_filter *filter, int first, int count)
{
    bry_hash hashes[BATCH];
    uint8_t answers[BATCH];
    int present = 0;
    for (int done = 0; done < count; done += BATCH) {
        hash_batch(bry_filter_seed(filter), first + done, hashes);
        bry_filter_has_n(filter, hashes, BATCH, answers);
        for (int i = 0; i < BATCH; i++)
            present += answers[i] == BRY_PRESENT;
    }
    return present;
}

int main(void)
{
    bry_filter_options options = BRY_FILTER_OPTIONS;
    options.capacity = KEYS;
    options.error = 0.01;

    bry_filter_shape shape;
    check(bry_filter_plan(&options, &shape));
    printf("planned:  %" PRIu64 " keys in %" PRIu64 " bytes, %.2f bits a key, kernels: %s\n",
           shape.capacity, shape.bytes, 8.0 * (double)shape.bytes / KEYS, bry_isa());

    bry_filter *filter;
    check(bry_filter_create(&options, &filter));
    bry_hash hashes[BATCH];
    for (int first = 0; first < KEYS; first += BATCH) {
        hash_batch(bry_filter_seed(filter), first, hashes);
        check(bry_filter_add_n(filter, hashes, BATCH, NULL));
    }

    int found = count_present(filter, 0, KEYS);
    printf("added:    %d keys, of which it finds %d\n", KEYS, found);

    int wrong = count_present(filter, KEYS, STRANGERS);
    printf("promised: at most %.3f %% of strangers taken for members\n", 100 * options.error);
    printf("observed: %.3f %% (%d of %d)\n", 100.0 * wrong / STRANGERS, wrong, STRANGERS);

    bry_filter_destroy(filter);
    return found == KEYS ? EXIT_SUCCESS : EXIT_FAILURE;
}
