/*
 * The numbers of an object as a frame, or as a record in one. A table of rows says which fields of
 * a struct they are, in the order of the file: u32, u64 or double, little-endian, without gaps.
 *
 *     #define ROW(field) BRY__NUMBER(bry__kbf, field)
 *     static const bry__number numbers[] = {ROW(segment), ROW(capacity), …, BRY__NUMBERS_END};
 */
#ifndef BRY_FRAME_FRAME_NUMBERS_H
#define BRY_FRAME_FRAME_NUMBERS_H

#include "frame/frame.h"

#include <stddef.h>

typedef struct bry__number {
    uint16_t at; /* in the struct */
    uint16_t size; /* in the struct and in the file, 4 or 8; 0 after the last row */
} bry__number;

#define BRY__NUMBER(type, field)                                                                   \
    {                                                                                              \
        offsetof(type, field), sizeof(((type *)0)->field)                                          \
    }
#define BRY__NUMBERS_END                                                                           \
    {                                                                                              \
        0, 0                                                                                       \
    }

void bry__numbers_store(unsigned char *to, const bry__number *rows, const void *from);
void bry__numbers_load(const unsigned char *from, const bry__number *rows, void *to);

/* A frame of its own; at most BRY__NUMBERS_MOST bytes. */
#define BRY__NUMBERS_MOST 192u
void bry__frame_write_numbers(bry__frame_writer *writer, uint32_t type, const bry__number *rows,
                              const void *from);
bry_status bry__frame_read_numbers(bry__frame_reader *reader, uint32_t type,
                                   const bry__number *rows, void *to);

#endif
