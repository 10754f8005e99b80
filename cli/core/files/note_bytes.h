/*
 * Numbers in a note, little-endian: data that the program needs beside an object is saved with it
 * as its note (bry_save).
 */
#ifndef BLOOMERY_CLI_NOTE_BYTES_H
#define BLOOMERY_CLI_NOTE_BYTES_H

#include "cli/core/input/fields.h"

#include <bloomery/base.h>

static inline void cli_put(unsigned char *to, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        to[i] = (unsigned char)(value >> (8 * i));
}

static inline uint64_t cli_get(const unsigned char *from, int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)from[i] << (8 * i);
    return value;
}

/* Fields of a key: eight numbers of two bytes, padded with zeros. The delimiter is stored
 * separately. */
enum { CLI_FIELDS_BYTES = 2 * CLI_MOST_FIELDS };
void cli_put_fields(unsigned char *to, const cli_fields *fields);
cli_fields cli_get_fields(const unsigned char *from, char delimiter);

/* Sets problem and offset of the load to `problem` at byte `at` of the note; returns the status. The
 * offset is that in the file. */
bry_status cli_note_fail(bry_load *load, bry_status status, uint64_t at, const char *problem);

/* The same for a problem of the whole note; returns BRY_E_BADDATA. */
bry_status cli_note_refuse(bry_load *load, const char *problem);

#endif
