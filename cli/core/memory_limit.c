#include "cli/core/memory_limit.h"

#include "cli/core/output/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static void give_back(void *opaque, void *block, size_t size)
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
    memory->allocator = (bry_allocator){allocate_within_limit, give_back, memory};
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
    cli_quoted name = cli_quote(path);
    if (status == BRY_E_IO)
        return cli_fail(status, "%s: %s", name.text, problem ? strerror(problem) : load->problem);
    if (status == BRY_E_LIMIT || (status == BRY_E_NOMEM && memory->refused))
        return cli_fail(BRY_E_LIMIT, "%s: the %s needs more than --max-bytes allows, %llu",
                        name.text, what, (unsigned long long)memory->most);
    return cli_fail(status, "%s: %s (byte %llu)", name.text, load->problem,
                    (unsigned long long)load->offset);
}
