#include "cli/map/map_file.h"

#include "cli/core/files/saved_file.h"

int cli_map_load(const char *path, cli_memory *memory, bry_map **map, bry_buffer *note)
{
    bry_load load = cli_memory_load(memory);
    load.note = note;
    load.note_max = load.max_bytes;
    void *read;
    bry_status status = cli_load_object(path, BRY_JOB_MAP, &load, &read);
    if (status != BRY_OK)
        return cli_load_failed(status, &load, memory, path, "map");
    *map = read;
    return CLI_GO_ON;
}

int cli_map_open(const char *path, uint64_t max_bytes, cli_memory *memory, bry_map **map,
                 bry_buffer *note)
{
    cli_memory_init(memory, max_bytes);
    return cli_map_load(path, memory, map, note);
}

int cli_map_open_to_change(const char *path, uint64_t max_bytes, cli_memory *memory, bry_map **map,
                           bry_buffer *note)
{
    int code = cli_target_check(path, true, CLI_LOCK_WAIT);
    return code == CLI_GO_ON ? cli_map_open(path, max_bytes, memory, map, note) : code;
}

bry_map_options cli_map_options(const bry_map *map)
{
    bry_map_options options = BRY_MAP_OPTIONS;
    bry_map_options_like(map, &options);
    return options;
}

int cli_map_save(const bry_map *map, const char *path, const char *taken, const bry_buffer *note)
{
    return cli_target_save(path, taken, BRY_JOB_MAP, map, note);
}

int cli_map_refused(bry_status status, const bry_map *map, const cli_memory *memory,
                    const char *where)
{
    if (status == BRY_E_FULL) {
        bry_map_stats stats = {0};
        bry_map_get_stats(map, &stats);
        bry_map_options options = BRY_MAP_OPTIONS;
        bry_map_options_like(map, &options);
        bool at_capacity = options.fixed && stats.items >= stats.capacity;
        if (options.value_bits == 0 && stats.values_left == 0 && !at_capacity)
            return cli_fail("%s: the map has %llu values and cannot have more", where,
                            (unsigned long long)stats.values);
        bry_map_shape shape = {0};
        if (!options.fixed && bry_map_plan(&options, &shape) == BRY_OK &&
            stats.items >= shape.grows_to)
            return cli_fail("%s: the map has %llu keys and cannot have more%s", where,
                            (unsigned long long)stats.items,
                            shape.grows_to < BRY_CAPACITY_MAX
                                ? ": with its error they would need fingerprints of over 62 bits"
                                : "");
        if (!options.fixed)
            return cli_fail("%s: more keys would exceed the error of this merged map", where);
        return cli_fail("%s: the map has a fixed capacity of %llu keys and is full", where,
                        (unsigned long long)stats.capacity);
    }
    if (status == BRY_E_NOMEM && memory->refused)
        return cli_fail("%s: the map needs more memory than --max-memory allows (%llu bytes)",
                        where, (unsigned long long)memory->most);
    cli_fail("%s: %s", where, bry_status_text(status));
    return status == BRY_E_UNSURE ? CLI_UNSURE : CLI_FAILED;
}
