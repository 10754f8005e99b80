/* A map: the country of each address, in a few bytes per address. */
#include <bloomery/map.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const countries[] = {"de", "fr", "jp", "br", "ke"};
enum { ADDRESSES = 100000, COUNTRIES = 5 };

static int address(char *text, size_t size, int number)
{
    return snprintf(text, size, "10.%d.%d.%d", number >> 16, number >> 8 & 255, number & 255);
}

int main(void)
{
    bry_map_options options = BRY_MAP_OPTIONS;
    options.capacity = ADDRESSES;
    options.error = 0.001;
    options.seed = 1; /* the same in every run; random by default */

    bry_map *map = NULL;
    bry_status status = bry_map_create(&options, &map);
    char key[32];
    for (int i = 0; i < ADDRESSES && status == BRY_OK; i++) {
        int len = address(key, sizeof key, i);
        const char *country = countries[i % COUNTRIES];
        status = bry_map_set_key(map, key, (size_t)len,
                                 bry_map_value_bytes(country, strlen(country)), NULL);
    }
    if (status != BRY_OK) {
        fprintf(stderr, "%s: %s\n", bry_status_word(status), bry_status_text(status));
        bry_map_destroy(map);
        return 3;
    }
    bry_map_value value;
    if (bry_map_get_key(map, "10.0.0.7", 8, &value) == BRY_PRESENT)
        printf("10.0.0.7 is in %.*s\n", (int)value.len, (const char *)value.bytes);
    if (bry_map_get_key(map, "192.0.2.1", 9, &value) == BRY_ABSENT)
        printf("192.0.2.1 is unknown\n");
    bry_map_del_key(map, "10.0.0.7", 8, NULL);
    printf("%" PRIu64 " addresses in %.1f bytes each\n", bry_map_items(map),
           (double)bry_map_bytes(map) / (double)bry_map_items(map));
    bry_map_destroy(map);
    return 0;
}
