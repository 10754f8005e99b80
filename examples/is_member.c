/* A filter, start to end: plan, add a million keys, save, load, query; promised and observed. */
#include <bloomery/filter.h>
#include <inttypes.h>
#include <stdio.h>

enum { KEYS = 1000000 };

/* Writes key `number` and returns its length. */
static size_t make_key(char key[32], int number)
{
    return (size_t)snprintf(key, 32, "user:%d", number);
}

static int count_present(const bry_filter *filter, int first)
{
    int present = 0;
    char key[32];
    for (int i = first; i < first + KEYS; i++)
        present += bry_filter_has_key(filter, key, make_key(key, i)) == BRY_PRESENT;
    return present;
}

int main(void)
{
    const char *path = "is_member.bloomery";
    bry_filter_options options = BRY_FILTER_OPTIONS;
    options.capacity = KEYS;
    options.fixed = 1; /* there will be no more: the fastest engine */
    options.error = 0.01;

    bry_filter_shape shape;
    bry_status status = bry_filter_plan(&options, &shape);
    if (status == BRY_OK)
        printf("planned:  %" PRIu64 " keys in %" PRIu64 " bytes, %.1f bits per key\n",
               shape.capacity, shape.bytes, 8.0 * (double)shape.bytes / KEYS);

    bry_filter *filter = NULL, *loaded = NULL;
    char key[32];
    if (status == BRY_OK)
        status = bry_filter_create(&options, &filter);
    for (int i = 0; i < KEYS && status == BRY_OK; i++)
        status = bry_filter_add_key(filter, key, make_key(key, i), NULL);
    if (status == BRY_OK)
        status = bry_filter_save_file(filter, path, NULL);
    if (status == BRY_OK)
        status = bry_filter_load_file(path, NULL, &loaded);
    if (status == BRY_OK) {
        printf("added:    %d keys, saved to a file and loaded from it\n", KEYS);
        printf("found:    %d of them\n", count_present(loaded, 0));
        printf("promised: at most %.1f %% of other keys are reported as present\n",
               100 * options.error);
        printf("observed: %.1f %%\n", 100.0 * count_present(loaded, KEYS) / KEYS);
    } else {
        fprintf(stderr, "%s: %s\n", bry_status_word(status), bry_status_text(status));
    }
    bry_filter_destroy(loaded);
    bry_filter_destroy(filter);
    remove(path);
    return status == BRY_OK ? 0 : 3;
}
