/*
 * What DUMP returns and RESTORE takes, for a map of the module: a type, the module's identity, the
 * frames of the map (doc/format.md) in strings of 64 KiB, a version and a checksum. The server may
 * have compressed the strings.
 */
#ifndef BLOOMERY_CLUSTER_SLAB_PAYLOAD_H
#define BLOOMERY_CLUSTER_SLAB_PAYLOAD_H

#include <bloomery/base.h>

/* Writes the frames in a payload to the sink. BRY_E_BADDATA: it is not the payload of a map; or
 * what the sink returned. */
bry_status bryc__payload_read(const void *payload, size_t len, const bry_sink *sink);

/* Makes a payload of frames. The caller frees it. NULL if memory runs out. */
char *bryc__payload_write(const void *frames, size_t len, size_t *payload_len);

/* Decompresses LZF. Returns the length, or 0 if the input is invalid or does not fit. */
size_t bryc__lzf_expand(const unsigned char *from, size_t len, unsigned char *to, size_t room);

/* CRC-64 of Jones, as the server computes it. */
uint64_t bryc__crc64(const void *bytes, size_t len);

#endif
