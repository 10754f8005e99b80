/*
 * A section of a file in front of the library's frames: what the program has to know beside the
 * object, little-endian, with a checksum of all of it behind.
 */
#ifndef BLOOMERY_CLI_SECTION_H
#define BLOOMERY_CLI_SECTION_H

#include "fields.h"

#include <bloomery/base.h>

enum { CLI_SECTION_SUM = 16 }; /* bytes of the hash of all before, scheme 1, seed 0 */

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

/* Fields of a key: eight numbers of two bytes, zeros where there are fewer. Their delimiter is kept
 * elsewhere. */
enum { CLI_FIELDS_BYTES = 2 * CLI_MOST_FIELDS };
void cli_put_fields(unsigned char *to, const cli_fields *fields);
cli_fields cli_get_fields(const unsigned char *from, char delimiter);

/* Sends what is in the buffer, and its checksum. */
bry_status cli_section_write(const bry_buffer *buffer, const bry_sink *sink);

/* Stores where and why a section was not read; returns the status. */
bry_status cli_section_fail(bry_load *load, bry_status status, uint64_t offset,
                            const char *problem);

/* Exactly len bytes behind those in the buffer, which grows with what has come, so that a false
 * length costs nothing; `too_long` is said of more than load->max_bytes. */
bry_status cli_section_read(const bry_source *source, bry_load *load, bry_buffer *buffer,
                            uint64_t len, const char *too_long);

/* Whether the last bytes in the buffer, which has at least so many, are the checksum of the rest.
 */
bool cli_section_is_whole(const bry_buffer *buffer);

#endif
