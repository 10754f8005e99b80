/* The memory limit for all objects of a command, and the messages if one does not load. */
#ifndef BLOOMERY_CLI_MEMORY_LIMIT_H
#define BLOOMERY_CLI_MEMORY_LIMIT_H

#include <bloomery/base.h>

/* Must not move while an object exists that was created with its allocator. */
typedef struct cli_memory {
    uint64_t most; /* The limit, in bytes. */
    uint64_t used; /* Bytes that are allocated. */
    bool refused; /* an allocation beyond the limit was refused */
    bry_allocator allocator;
} cli_memory;

/* most 0: three quarters of the memory of the machine. */
void cli_memory_init(cli_memory *memory, uint64_t most);

/* The row of --max-memory for a table of options; `what` names the objects. */
#define CLI_MAX_MEMORY(what, value)                                                                \
    {                                                                                              \
        "max-memory", CLI_BYTES, "B", "memory for " what " (default 3/4 of the machine's)",        \
            (value)                                                                                \
    }

/* For loading an object into the remaining memory. */
bry_load cli_memory_load(const cli_memory *memory);

/* Reports why the file at `path` was not loaded, errno as the load has left it; `what` names the
 * object. Returns an exit code. */
int cli_load_failed(bry_status status, const bry_load *load, const cli_memory *memory,
                    const char *path, const char *what);

#endif
