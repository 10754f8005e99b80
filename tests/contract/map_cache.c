/*
 * A cache in front of a slow database: the plan ("free", "team", …) of each of millions of users.
 * It also remembers which users do not exist, so that looking them up again costs nothing. A wrong
 * answer, one in 10,000, is harmless here: the plan only decides which banner is shown.
 */
#include <bloomery/hash.h>
#include <bloomery/map.h>

#include <stdio.h>
#include <string.h>

/* The database: false if it cannot be reached; an empty plan if there is no such user. */
bool slow_database(const char *user, char *plan, size_t room);

/* Stored for a user who does not exist: an empty value, unlike any plan. */
static const bry_map_value no_user = {"", 0, 0};

static bool plan_of(bry_map *cache, const char *user, char *plan, size_t room)
{
    bry_hash hash = bry_hash_key(bry_map_seed(cache), user, strlen(user));
    bry_map_value value;
    if (bry_map_get(cache, hash, &value) == BRY_PRESENT) {
        /* The bytes belong to the cache and are not terminated: copy them before it changes. */
        snprintf(plan, room, "%.*s", (int)value.len, (const char *)value.bytes);
        return true;
    }
    if (!slow_database(user, plan, room))
        return false;
    bry_status status =
        bry_map_set(cache, hash, *plan ? bry_map_value_bytes(plan, strlen(plan)) : no_user, NULL);
    if (status == BRY_E_FULL)
        bry_map_clear(cache); /* it is only a cache: start again */
    else if (status != BRY_OK)
        fprintf(stderr, "not cached: %s\n", bry_status_text(status));
    return true;
}

/* The plan of a user has changed: update the cache if it has the user; otherwise the next look-up
 * will.
 */
static void plan_changed(bry_map *cache, const char *user, const char *plan)
{
    bry_hash hash = bry_hash_key(bry_map_seed(cache), user, strlen(user));
    if (bry_map_update(cache, hash, bry_map_value_bytes(plan, strlen(plan)), NULL) != BRY_OK)
        bry_map_del(cache, hash, NULL);
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "plans.map";
    bry_map_options options = BRY_MAP_OPTIONS;
    options.capacity = 5000000;
    options.error = 1e-4;
    options.values = 16;
    options.fixed = true; /* bounded memory */

    bry_map_shape shape = {0};
    bry_status status = bry_map_plan(&options, &shape);
    if (status == BRY_OK)
        printf("takes up to %.1f MB\n", (double)shape.bytes / 1e6);

    /* Uses the cache of the last run unless it is damaged or too large. */
    bry_map *cache = NULL;
    bry_load load = BRY_LOAD;
    load.max_bytes = 2 * shape.bytes;
    if (status == BRY_OK && bry_map_load_file(path, &load, &cache) != BRY_OK) {
        fprintf(stderr, "%s: %s; starting empty\n", path, load.problem);
        status = bry_map_create(&options, &cache);
    }
    if (status != BRY_OK) {
        fprintf(stderr, "%s\n", bry_status_text(status));
        return 3;
    }

    char plan[64];
    plan_changed(cache, "ada", "team");
    for (int i = 2; i < argc; i++)
        if (plan_of(cache, argv[i], plan, sizeof plan))
            printf("%s\t%s\n", argv[i], *plan ? plan : "(no such user)");

    bry_map_stats stats = {0};
    bry_map_get_stats(cache, &stats);
    printf("%llu users, %llu bytes, %.1g of strangers get a plan\n",
           (unsigned long long)stats.items, (unsigned long long)stats.bytes,
           stats.estimated.false_positive);
    status = bry_map_save_file(cache, path, NULL);
    if (status == BRY_E_IO)
        perror(path);
    bry_map_destroy(cache);
    return status == BRY_OK ? 0 : 3;
}
