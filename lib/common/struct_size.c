#include "common/struct_size.h"

#include <string.h>

/* Upper limit on the size of a struct of the interface. */
enum { LARGEST = 4096 };

bool bry__struct_size_possible(size_t size)
{
    return size >= sizeof size && size <= LARGEST && size % sizeof size == 0;
}

bool bry__all_zero(const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    uint64_t any = 0, word;
    for (; size >= sizeof word; at += sizeof word, size -= sizeof word) {
        memcpy(&word, at, sizeof word);
        any |= word;
    }
    for (; size > 0; at++, size--)
        any |= *at;
    return any == 0;
}

/* Whether bytes from `from` to before `to` are 0; there may be none. */
static bool struct_rest_zero(const void *bytes, size_t from, size_t to)
{
    return from >= to || bry__all_zero((const unsigned char *)bytes + from, to - from);
}

static size_t struct_size_of(const void *theirs)
{
    size_t size;
    memcpy(&size, theirs, sizeof size);
    return size;
}

bry_status bry__struct_read(void *ours, size_t size, const void *theirs)
{
    if (!theirs)
        return BRY_OK;
    size_t given = struct_size_of(theirs);
    if (!bry__struct_size_possible(given) || !struct_rest_zero(theirs, size, given))
        return BRY_E_RANGE;
    memcpy(ours, theirs, given < size ? given : size);
    memcpy(ours, &size, sizeof size);
    return BRY_OK;
}

bry_status bry__struct_write(void *theirs, size_t room, const void *ours, size_t size)
{
    if (!bry__struct_size_possible(room))
        return BRY_E_RANGE;
    size_t fits = room < size ? room : size;
    memcpy(theirs, ours, fits);
    memset((unsigned char *)theirs + fits, 0, room - fits);
    return BRY_OK;
}

bry_status bry__options_write(void *theirs, size_t room, const void *ours, size_t size)
{
    if (!struct_rest_zero(ours, room, size))
        return BRY_E_RANGE;
    bry_status status = bry__struct_write(theirs, room, ours, size);
    if (status == BRY_OK)
        memcpy(theirs, &room, sizeof room); /* its struct_size */
    return status;
}

bool bry__elements_usable(const void *array, size_t step, size_t n, size_t least, size_t size)
{
    if (!bry__struct_size_possible(step) || step < least)
        return false;
    for (size_t i = 0; step > size && i < n; i++)
        if (!struct_rest_zero(bry__element_in(array, step, i), size, step))
            return false;
    return true;
}
