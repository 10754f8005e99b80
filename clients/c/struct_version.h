/* Structs of callers that were compiled with other headers: the rules of <bloomery/base.h>. */
#ifndef BLOOMERY_CLIENT_STRUCT_VERSION_H
#define BLOOMERY_CLIENT_STRUCT_VERSION_H

#include <bloomery/base.h>
#include <string.h>

/* Whether a struct can have this size in some version. */
static inline bool bryc__size_possible(size_t size)
{
    return size >= sizeof size && size <= 4096 && size % sizeof size == 0;
}

static inline bool bryc__all_zero(const void *bytes, size_t from, size_t to)
{
    for (; from < to; from++)
        if (((const unsigned char *)bytes)[from])
            return false;
    return true;
}

/* Copies the caller's options, which begin with their size and may be NULL, over *ours, which has
 * `size` bytes and holds the defaults. False: the size is not possible, or an option that this
 * library does not know is set. */
static inline bool bryc__options_read(void *ours, size_t size, const void *theirs)
{
    size_t given;
    if (!theirs)
        return true;
    memcpy(&given, theirs, sizeof given);
    if (!bryc__size_possible(given) || !bryc__all_zero(theirs, size, given))
        return false;
    memcpy(ours, theirs, given < size ? given : size);
    memcpy(ours, &size, sizeof size);
    return true;
}

/* Copies what fits of *ours into the caller's struct, which has `room` bytes, and zeros after it.
 * BRY_E_RANGE: `room` is not possible; nothing is written. */
static inline bry_status bryc__struct_write(void *theirs, size_t room, const void *ours,
                                            size_t size)
{
    if (!bryc__size_possible(room))
        return BRY_E_RANGE;
    size_t fits = room < size ? room : size;
    memcpy(theirs, ours, fits);
    memset((unsigned char *)theirs + fits, 0, room - fits);
    return BRY_OK;
}

/* The same for options, whose struct_size becomes `room`. BRY_E_RANGE also if a field that is set
 * would be left out. */
static inline bry_status bryc__options_write(void *theirs, size_t room, const void *ours,
                                             size_t size)
{
    if (!bryc__all_zero(ours, room, size))
        return BRY_E_RANGE;
    bry_status status = bryc__struct_write(theirs, room, ours, size);
    if (status == BRY_OK)
        memcpy(theirs, &room, sizeof room);
    return status;
}

#endif
