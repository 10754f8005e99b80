#include "map_file.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- memory -------------------------------------------------------------------------------- */

static void *take(void *opaque, size_t size)
{
    cli_map_memory *memory = opaque;
    if (size > memory->most - memory->used) {
        memory->refused = true;
        return NULL;
    }
    void *block = malloc(size);
    if (block)
        memory->used += size;
    return block;
}

static void give_back(void *opaque, void *block, size_t size)
{
    cli_map_memory *memory = opaque;
    memory->used -= size;
    free(block);
}

void cli_map_memory_init(cli_map_memory *memory, uint64_t most)
{
    if (most == 0) {
        long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
        most = pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size / 4 * 3 : UINT64_MAX;
    }
    *memory = (cli_map_memory){.most = most};
    memory->allocator = (bry_allocator){take, give_back, memory};
}

/* ---- loading ------------------------------------------------------------------------------- */

int cli_map_load(const char *path, cli_map_memory *memory, bry_map **map)
{
    bry_load load = BRY_LOAD;
    load.allocator = &memory->allocator;
    load.max_bytes = memory->most - memory->used;
    if (load.max_bytes == 0)
        load.max_bytes = 1; /* 0 would be no ceiling */
    errno = 0;
    bry_status status = bry_map_load_file(path, &load, map);
    cli_quoted name = cli_quote(path);
    if (status == BRY_OK)
        return CLI_GO_ON;
    if (status == BRY_E_IO)
        return cli_fail(status, "%s: %s", name.text, errno ? strerror(errno) : load.problem);
    if (status == BRY_E_LIMIT || (status == BRY_E_NOMEM && memory->refused))
        return cli_fail(BRY_E_LIMIT, "%s: the map needs more than --max-bytes allows, %llu",
                        name.text, (unsigned long long)memory->most);
    return cli_fail(status, "%s: %s (byte %llu)", name.text, load.problem,
                    (unsigned long long)load.offset);
}

int cli_map_open(const char *path, uint64_t max_bytes, cli_map_memory *memory, bry_map **map)
{
    cli_map_memory_init(memory, max_bytes);
    return cli_map_load(path, memory, map);
}

/* ---- saving -------------------------------------------------------------------------------- */

int cli_map_check_target(const char *path, bool replace)
{
    cli_quoted name = cli_quote(path);
    struct stat facts;
    if (!replace && lstat(path, &facts) == 0)
        return cli_fail(BRY_E_IO, "%s: it exists; --force replaces it", name.text);
    if (stat(path, &facts) == 0) {
        if (!S_ISREG(facts.st_mode))
            return cli_fail(BRY_E_IO, "%s: %s", name.text,
                            S_ISDIR(facts.st_mode) ? strerror(EISDIR) : "it is not a file");
    } else if (errno != ENOENT) {
        return cli_fail(BRY_E_IO, "%s: %s", name.text, strerror(errno));
    } else if (lstat(path, &facts) == 0) {
        return cli_fail(BRY_E_IO, "%s: it is a link that leads nowhere", name.text);
    }
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    if (!folder)
        return cli_fail(BRY_E_NOMEM, "%s", bry_status_text(BRY_E_NOMEM));
    errno = 0;
    int problem = !*path ? ENOENT : access(folder, W_OK | X_OK) == 0 ? 0 : errno;
    free(folder);
    return problem == 0 ? CLI_GO_ON : cli_fail(BRY_E_IO, "%s: %s", name.text, strerror(problem));
}

int cli_map_save(const bry_map *map, const char *path)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    enum { ENDS = sizeof ends / sizeof ends[0] };
    sigset_t wait, before;
    sigemptyset(&wait);
    for (int i = 0; i < ENDS; i++)
        sigaddset(&wait, ends[i]);
    sigprocmask(SIG_BLOCK, &wait, &before);
    signal(SIGXFSZ, SIG_IGN); /* a limit on file sizes is a failed write like any other */
    errno = 0;
    bry_status status = bry_map_save_file(map, path);
    int problem = errno;
    for (int i = 0; i < ENDS && status == BRY_OK; i++)
        signal(ends[i], SIG_IGN);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (status == BRY_OK)
        return CLI_YES;
    bool known = status == BRY_E_IO && problem;
    return cli_fail(status, "%s: %s", cli_quote(path).text,
                    known ? strerror(problem) : bry_status_text(status));
}

/* ---- refusals ------------------------------------------------------------------------------ */

int cli_map_refused(bry_status status, const bry_map *map, const cli_map_memory *memory,
                    const char *where)
{
    if (status == BRY_E_FULL) {
        bry_map_stats stats;
        bry_map_get_stats(map, &stats);
        bry_map_options options = bry_map_options_like(map);
        bool at_capacity = options.fixed && stats.items >= stats.capacity;
        if (options.value_bits == 0 && stats.values_left == 0 && !at_capacity)
            return cli_fail(status,
                            "%s: no code is left for a new value; the map knows %llu values", where,
                            (unsigned long long)stats.values);
        if (!options.fixed)
            return cli_fail(status,
                            "%s: the keys would be more than the map's error allows; joined maps "
                            "cannot be given longer fingerprints",
                            where);
        return cli_fail(status, "%s: the map has a fixed capacity of %llu keys, which it holds",
                        where, (unsigned long long)stats.capacity);
    }
    if (status == BRY_E_NOMEM && memory->refused)
        return cli_fail(BRY_E_LIMIT, "%s: the map needs more than --max-bytes allows, %llu", where,
                        (unsigned long long)memory->most);
    cli_fail(status, "%s: %s", where, bry_status_text(status));
    return status == BRY_E_UNSURE ? CLI_UNSURE : CLI_FAILED;
}
