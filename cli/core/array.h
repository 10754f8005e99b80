/* Arrays that grow. */
#ifndef BLOOMERY_CLI_ARRAY_H
#define BLOOMERY_CLI_ARRAY_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for `wanted` elements of `each` bytes. `array` points to a pointer to them, *room is how
 * many fit. False if memory runs out: nothing has changed. */
static inline bool cli_array_reserve(void *array, size_t *room, size_t wanted, size_t each)
{
    enum { LEAST = 16 };
    void *elements, *grown;
    if (wanted <= *room)
        return true;
    size_t larger = wanted < LEAST ? LEAST : wanted < 2 * *room ? 2 * *room : wanted;
    memcpy(&elements, array, sizeof elements); /* a pointer to any type */
    grown = realloc(elements, larger * each);
    if (!grown)
        return false;
    memcpy(array, &grown, sizeof grown);
    *room = larger;
    return true; /* cppcheck-suppress memleak */
}

#endif
