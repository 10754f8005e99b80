/* A map from addresses to racks, on a cluster or a single server: map_example URL */
#include <bloomery_cluster.h>
#include <stdio.h>
#include <string.h>

static bryc_client *client;

static bool went_well(bry_status status)
{
    if (status != BRY_OK)
        fprintf(stderr, "%s: %s\n", bry_status_word(status), bryc_error(client));
    return status == BRY_OK;
}

static bryc_key text_key(const char *text)
{
    bryc_key key = {text, strlen(text)};
    return key;
}

static bool use_map(bryc_map *map)
{
    bryc_key keys[] = {text_key("10.0.0.1"), text_key("10.0.0.2"), text_key("10.9.9.9")};
    bry_map_value racks[] = {bry_map_value_number(7), bry_map_value_number(8)};
    bry_map_value moved[] = {bry_map_value_number(9), bry_map_value_number(9)};
    bry_map_value found[3];
    bry_answer answers[3];

    /* Many keys at once: one command per slab, all nodes at the same time. */
    if (!went_well(bryc_map_set_n(map, keys, racks, 2, NULL)) ||
        !went_well(bryc_map_get_n(map, keys, 3, found, answers)))
        return false;
    for (int i = 0; i < 3; i++) {
        if (answers[i] == BRY_PRESENT)
            printf("%s: rack %d\n", (const char *)keys[i].bytes, (int)found[i].number);
        else
            printf("%s: %s\n", (const char *)keys[i].bytes,
                   answers[i] == BRY_UNSURE ? "not known" : "absent");
    }

    /* Updating leaves keys absent that are absent. */
    if (!went_well(bryc_map_update_n(map, keys + 1, moved, 2, answers)))
        return false;
    printf("updated: %d %d\n", answers[0], answers[1]);

    /* Deleting tells what was there; info sums up all slabs. */
    bryc_map_info info;
    bry_map_stats stats;
    if (!went_well(bryc_map_del_n(map, keys, 3, answers)) ||
        !went_well(bryc_map_get_info(map, &info, &stats)))
        return false;
    printf("deleted: %d %d %d\n", answers[0], answers[1], answers[2]);
    printf("%d keys\n", (int)stats.items);
    return true;
}

int main(int argc, char **argv)
{
    bryc_map_options options = BRYC_MAP_OPTIONS;
    bryc_map *map = NULL;
    options.capacity = 2000000;
    options.value_bits = 12;
    bool done = argc == 2 && went_well(bryc_open(argv[1], NULL, &client)) &&
                went_well(bryc_map_create(client, bryc_url_name(client), &options, &map)) &&
                use_map(map);
    bryc_map_close(map);
    bryc_close(client);
    return done ? 0 : 1;
}
