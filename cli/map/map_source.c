#include "cli/map/map_source.h"

#include "cli/map/map_remote.h"

#include <fcntl.h>
#include <unistd.h>

#define ROUND 256u

static int get_from_file(cli_map_source *self, const cli_text *keys, size_t n,
                         bry_map_value *values, bry_answer *answers)
{
    bry_hash hashes[ROUND] = {{0}}; /* gcc does not see that the first `count` are initialised */
    for (size_t done = 0; done < n; done += ROUND) {
        size_t count = n - done < ROUND ? n - done : ROUND;
        for (size_t i = 0; i < count; i++)
            hashes[i] =
                bry_hash_key(bry_map_seed(self->map), keys[done + i].bytes, keys[done + i].len);
        bry_map_get_n(self->map, hashes, count, values + done, answers + done);
    }
    return CLI_GO_ON;
}

static void close_file_source(cli_map_source *self)
{
    bry_map_destroy(self->map);
}

/* Whether it is a directory with a record. */
static bool is_saved_dir(const char *path)
{
    int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return false;
    bool found = faccessat(dir, CLI_DIR_RECORD, F_OK, 0) == 0;
    close(dir);
    return found;
}

int cli_source_open(const char *path, uint64_t max_bytes, cli_memory *memory,
                    cli_map_source *source)
{
    *source = (cli_map_source){.get = get_from_file, .close = close_file_source};
    if (cli_map_is_remote(path))
        return max_bytes ? cli_misuse("map get", "--max-memory is for maps in files")
                         : cli_remote_source(path, source);
    if (is_saved_dir(path)) {
        cli_memory_init(memory, max_bytes);
        return cli_dir_source(path, memory, source);
    }
    int code = cli_map_open(path, max_bytes, memory, &source->map, NULL);
    if (code == CLI_GO_ON)
        source->value_bits = cli_map_options(source->map).value_bits;
    return code;
}
