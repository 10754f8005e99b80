/* Structs of callers that were compiled with other headers: the rules of <bloomery/base.h>. */
#ifndef BLOOMERY_CLIENT_STRUCT_VERSION_H
#define BLOOMERY_CLIENT_STRUCT_VERSION_H

#include <bloomery/base.h>
#include <string.h>

/* Copies the caller's options, which begin with their size and may be NULL, over *ours, which has
 * `size` bytes and holds the defaults. False: the size is not possible, or an option that this
 * library does not know is set. */
static inline bool bryc__options_read(void *ours, size_t size, const void *theirs)
{
    size_t given;
    if (!theirs)
        return true;
    memcpy(&given, theirs, sizeof given);
    if (given < sizeof given || given > 4096 || given % sizeof given != 0)
        return false;
    for (size_t i = size; i < given; i++)
        if (((const unsigned char *)theirs)[i])
            return false;
    memcpy(ours, theirs, given < size ? given : size);
    memcpy(ours, &size, sizeof size);
    return true;
}

/* Copies what fits of *ours into the caller's struct, which has `room` bytes, and zeros after it. */
static inline void bryc__struct_write(void *theirs, size_t room, const void *ours, size_t size)
{
    size_t fits = room < size ? room : size;
    memcpy(theirs, ours, fits);
    memset((unsigned char *)theirs + fits, 0, room - fits);
}

#endif
