#include "support/failing_allocator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The header of each block, as large as malloc's alignment. */
typedef struct tag {
    uint64_t size;
    uint64_t mark;
} tag;

#define LIVE UINT64_C(0x6c6976656c697665)
#define DEAD UINT64_C(0x6465616464656164)

/*
 * Fills new blocks with fixed garbage, to expose reads of uninitialised memory. Only both ends of a
 * large block: every save and load takes a buffer of 300 KB and uses its beginning.
 */
static void fill_with_rubbish(unsigned char *block, size_t size)
{
    enum { END = 16384 };
    if (size <= 2 * END) {
        memset(block, 0xa5, size);
    } else {
        memset(block, 0xa5, END);
        memset(block + size - END, 0xa5, END);
    }
}

static void *give(void *opaque, size_t size)
{
    failing_allocator *memory = opaque;
    memory->calls++;
    if (memory->fail_at && (memory->calls == memory->fail_at ||
                            (memory->keep_failing && memory->calls > memory->fail_at)))
        return NULL;
    if (memory->limit && size > memory->limit - memory->now) {
        memory->over_limit++;
        return NULL;
    }
    tag *block = malloc(sizeof(tag) + size);
    if (!block)
        return NULL;
    *block = (tag){size, LIVE};
    fill_with_rubbish((unsigned char *)(block + 1), size);
    memory->now += size;
    memory->blocks++;
    if (memory->now > memory->peak)
        memory->peak = memory->now;
    return block + 1;
}

static void take_back(void *opaque, void *pointer, size_t size)
{
    failing_allocator *memory = opaque;
    tag *block = (tag *)pointer - 1;
    if (block->mark != LIVE || block->size != size) {
        fprintf(stderr, "free of %zu bytes: %s\n", size,
                block->mark != LIVE ? "not a live block" : "not the size that was asked for");
        abort();
    }
    block->mark = DEAD;
    memory->now -= size;
    memory->blocks--;
    free(block);
}

void failing_allocator_init(failing_allocator *memory)
{
    *memory = (failing_allocator){.allocator = {give, take_back, memory}};
}

void failing_allocator_restart(failing_allocator *memory)
{
    memory->calls = 0;
    memory->peak = memory->now;
}
