#include "cli/core/memory_limit.h"

#include "cli/core/output/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The header of a saved object (doc/format.md). What is wrong there needs no position: "not Bloomery
 * data", "the header is damaged". */
enum {
    HEADER_BYTES = 64, /* Its length. */
    AT_KIND = 12, /* Where it says what kind of object follows. */
};

static void *allocate_within_limit(void *opaque, size_t size)
{
    cli_memory *memory = opaque;
    if (size > memory->most - memory->used) {
        memory->refused = true;
        return NULL;
    }
    void *block = malloc(size);
    if (block)
        memory->used += size;
    return block;
}

static void free_within_limit(void *opaque, void *block, size_t size)
{
    cli_memory *memory = opaque;
    memory->used -= size;
    free(block);
}

void cli_memory_init(cli_memory *memory, uint64_t most)
{
    if (most == 0) {
        long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
        most = pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size / 4 * 3 : UINT64_MAX;
    }
    *memory = (cli_memory){.most = most};
    memory->allocator = (bry_allocator){allocate_within_limit, free_within_limit, memory};
}

bry_load cli_memory_load(const cli_memory *memory)
{
    bry_load load = BRY_LOAD;
    load.allocator = &memory->allocator;
    load.max_bytes = memory->most - memory->used;
    if (load.max_bytes == 0)
        load.max_bytes = 1; /* 0 would mean no limit */
    return load;
}

int cli_load_failed(bry_status status, const bry_load *load, const cli_memory *memory,
                    const char *path, const char *what)
{
    int problem = errno;
    cli_quotation name = cli_name(path);
    if (status == BRY_E_IO)
        return cli_fail("%s: %s", name.text, problem ? strerror(problem) : load->problem);
    if (status == BRY_E_LIMIT || (status == BRY_E_NOMEM && memory->refused))
        return cli_fail("%s: the %s needs more memory than --max-memory allows (%llu bytes)",
                        name.text, what, (unsigned long long)memory->most);
    if (status == BRY_E_BADDATA && load->offset == AT_KIND)
        return cli_fail("%s: %s, not %s %s", name.text, load->problem,
                        strchr("aeiou", *what) ? "an" : "a", what);
    if (status != BRY_E_BADDATA || load->offset < HEADER_BYTES)
        return cli_fail("%s: %s", name.text, load->problem);
    return cli_fail("%s: damaged at byte %llu: %s", name.text, (unsigned long long)load->offset,
                    load->problem);
}
