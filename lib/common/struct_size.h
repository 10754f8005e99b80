/*
 * Structs of the interface that may grow: options, shapes, stats.
 *
 * Fields are only ever added at the end of such a struct, and the library knows the size that the
 * caller was compiled with: options begin with it, because the caller initializes them; for a
 * struct that the library fills it is an argument, which an inline function of the header adds (a
 * field could contain anything). Caller and library may therefore be of different versions, and
 * either may be the older one:
 *
 *                        the caller's struct is shorter      the caller's struct is longer
 *   read (options)       the other fields are 0: defaults    BRY_E_RANGE unless the rest is 0
 *   written (stats)      only its part is written            the rest is set to 0
 *   written (options)    BRY_E_RANGE if a field that is      the rest is set to 0
 *                        not 0 would be left out
 *
 * A new field must not be where an older struct had padding, which callers do not clear. So these
 * structs have no padding anywhere, which a test checks (-Wpadded). An engine's options, which are
 * a struct inside, cannot grow; they have reserved fields, which must be 0.
 */
#ifndef BRY_COMMON_STRUCT_SIZE_H
#define BRY_COMMON_STRUCT_SIZE_H

#include <bloomery/base.h>

/* Whether a struct can have this size in some version. Catches most structs that were not
 * initialized, whose size is whatever the stack held. */
bool bry__struct_size_possible(size_t size);

/*
 * Copies the caller's struct over *ours, which has `size` bytes and holds the defaults; its first
 * field becomes `size`. If the caller passes NULL, the defaults stay. BRY_E_RANGE:
 * struct_size is not possible, or the caller has set a field that this library does not know.
 */
bry_status bry__struct_read(void *ours, size_t size, const void *theirs);

/* Copies what fits of *ours, which has `size` bytes, into the caller's struct or element of an array,
 * which has `room` bytes. BRY_E_RANGE: `room` is not possible; nothing is written. */
bry_status bry__struct_write(void *theirs, size_t room, const void *ours, size_t size);

/* The same for options, whose struct_size becomes `room`. BRY_E_RANGE also if a field that is set
 * would be left out, because that would change their meaning. */
bry_status bry__options_write(void *theirs, size_t room, const void *ours, size_t size);

/* Whether all bytes are 0, such as those of reserved fields: one that is not means an option of a later
 * version. */
bool bry__all_zero(const void *bytes, size_t size);

/* Element i of an array whose elements have `step` bytes for the caller. */
static inline void *bry__element(void *array, size_t step, size_t i)
{
    return (unsigned char *)array + i * step;
}

static inline const void *bry__element_in(const void *array, size_t step, size_t i)
{
    return (const unsigned char *)array + i * step;
}

/*
 * Structs of the caller that are used where they are. All have the fields of the first release, up
 * to BRY__END_OF() of the last one; fields that were added later may be missing, and are used only
 * if the caller's struct has them.
 */
#define BRY__END_OF(type, field) (offsetof(type, field) + sizeof(((type *)0)->field))

/* Whether n elements of `step` bytes can be used as ours, which have `size` bytes and had `least` in
 * the first release: the step is possible, at least that, and what we do not know is 0. */
bool bry__elements_usable(const void *array, size_t step, size_t n, size_t least, size_t size);

#endif
