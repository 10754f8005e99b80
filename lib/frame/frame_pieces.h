/* A table in pieces as frames PIEC, in order: each piece that is not all zero, after its number,
 * u64. The object's own numbers say how many these are. */
#ifndef BRY_FRAME_FRAME_PIECES_H
#define BRY_FRAME_FRAME_PIECES_H

#include "common/pieces.h"
#include "frame/frame.h"

/* How many frames there will be. */
uint64_t bry__frame_pieces(const bry__pieces *table);

/* The table consists of words of `word` bytes, 1 or 4, which are stored little-endian. */
void bry__frame_write_pieces(bry__frame_writer *writer, const bry__pieces *table, size_t word);

/* Reads n of them into a table without pieces. Claims their memory. */
bry_status bry__frame_read_pieces(bry__frame_reader *reader, bry__pieces *table, size_t word,
                                  uint64_t n, const bry_allocator *allocator);

#endif
