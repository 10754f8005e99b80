/* A user's program in C: the installed headers and library alone. Exits 0 when all is well. */
#include <bloomery.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", BRY_VERSION_MAJOR, BRY_VERSION_MINOR,
             BRY_VERSION_PATCH);
    if (strncmp(bry_version(), version, strlen(version)) != 0) {
        fprintf(stderr, "header %s, library %s\n", version, bry_version());
        return 1;
    }

    bry_filter_options options = BRY_FILTER_OPTIONS;
    options.seed = 1;
    bry_filter *filter;
    if (bry_filter_create(&options, &filter) != BRY_OK)
        return 1;
    bry_hash here = bry_hash_key(bry_filter_seed(filter), "here", 4);
    bry_hash gone = bry_hash_key(bry_filter_seed(filter), "gone", 4);
    bool right = bry_filter_add(filter, here, NULL) == BRY_OK &&
                 bry_filter_has(filter, here) == BRY_PRESENT &&
                 bry_filter_has(filter, gone) == BRY_ABSENT;
    bry_filter_destroy(filter);
    return right ? 0 : 1;
}
