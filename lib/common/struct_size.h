/*
 * Structs of the interface that may grow: options, shapes, stats.
 *
 * Such a struct begins with its size as the caller was compiled with it, and fields are only ever
 * added at its end. Caller and library may therefore be of different versions, and either may be
 * the older one:
 *
 *                        the caller's struct is shorter      the caller's struct is longer
 *   read (options)       the other fields are 0: defaults    BRY_E_RANGE unless the rest is 0
 *   written (stats)      only its part is written            the rest is set to 0
 *   written (options)    BRY_E_RANGE if a field that is      the rest is set to 0
 *                        not 0 would be left out
 *
 * The rule has one trap: a new field must not be where the older struct had padding at its
 * end, which callers do not clear. So these structs have no padding at their end, and
 * tests/unit/common/test_struct_size.c checks it.
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

/* Copies what fits of *ours into the caller's struct, whose struct_size stays. BRY_E_RANGE:
 * struct_size is not possible; nothing is written. */
bry_status bry__struct_write(void *theirs, const void *ours, size_t size);

/* The same for options, whose meaning would change if a field that is set were left out:
 * BRY_E_RANGE then. */
bry_status bry__struct_write_whole(void *theirs, const void *ours, size_t size);

/* Element i of an array whose elements have `step` bytes for the caller. */
static inline void *bry__element(void *array, size_t step, size_t i)
{
    return (unsigned char *)array + i * step;
}

static inline const void *bry__element_in(const void *array, size_t step, size_t i)
{
    return (const unsigned char *)array + i * step;
}

/* Copies what fits of *ours into an element of `step` bytes. */
void bry__element_write(void *element, size_t step, const void *ours, size_t size);

/* Whether n elements of `step` bytes can be read as ours, which have `size`: the step is possible,
 * not shorter, and what follows in each of them is 0. */
bool bry__elements_readable(const void *array, size_t step, size_t n, size_t size);

#endif
