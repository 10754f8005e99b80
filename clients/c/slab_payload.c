#include "clients/c/slab_payload.h"

#include <stdlib.h>
#include <string.h>

#define TYPE_MODULE 7 /* a module's value, in parts with opcodes */
#define OPCODE_END 0
#define OPCODE_NUMBER 2
#define OPCODE_STRING 5
#define COMPRESSED 0xc3
#define FOOTER 10u /* version, checksum */
#define VERSION 10u /* of Redis 7.0; newer servers read it */
#define PIECE ((size_t)1 << 16)

/* ---- checksum ------------------------------------------------------------------------------ */

uint64_t bryc__crc64(const void *bytes, size_t len)
{
    const unsigned char *at = bytes;
    uint64_t table[256], crc = 0;
    for (uint64_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int bit = 0; bit < 8; bit++)
            table[i] = table[i] >> 1 ^ (table[i] & 1 ? UINT64_C(0x95ac9329ac4bc9b5) : 0);
    }
    for (size_t i = 0; i < len; i++)
        crc = table[(crc ^ at[i]) & 255] ^ crc >> 8;
    return crc;
}

/* ---- LZF ----------------------------------------------------------------------------------- */

size_t bryc__lzf_expand(const unsigned char *from, size_t len, unsigned char *to, size_t room)
{
    size_t in = 0, out = 0;
    while (in < len) {
        size_t control = from[in++];
        if (control < 32) { /* control + 1 bytes as they are */
            size_t count = control + 1;
            if (count > len - in || count > room - out)
                return 0;
            memcpy(to + out, from + in, count);
            in += count;
            out += count;
            continue;
        }
        size_t count = control >> 5; /* a copy of earlier output */
        if (count == 7) {
            if (in == len)
                return 0;
            count += from[in++];
        }
        if (in == len)
            return 0;
        size_t back = ((control & 31) << 8 | from[in++]) + 1;
        count += 2;
        if (back > out || count > room - out)
            return 0;
        for (; count > 0; count--, out++)
            to[out] = to[out - back]; /* they may overlap */
    }
    return out;
}

/* ---- reading ------------------------------------------------------------------------------- */

typedef struct reader {
    const unsigned char *at, *end;
} reader;

static bool take_bytes(reader *from, uint64_t len, const unsigned char **bytes)
{
    if (len > (uint64_t)(from->end - from->at))
        return false;
    *bytes = from->at;
    from->at += len;
    return true;
}

/* A length as the server encodes it. *special: not a length, but how a string is encoded. */
static bool take_length(reader *from, uint64_t *number, bool *special)
{
    const unsigned char *bytes;
    if (!take_bytes(from, 1, &bytes))
        return false;
    unsigned first = bytes[0];
    *special = first >> 6 == 3;
    *number = first & 63;
    if (first >> 6 == 0)
        return true;
    if (*special) {
        *number = first;
        return true;
    }
    size_t more = first == 0x80 ? 4 : first == 0x81 ? 8 : first >> 6 == 1 ? 1 : 0;
    if (more == 0 || !take_bytes(from, more, &bytes))
        return false;
    if (more > 1)
        *number = 0;
    for (size_t i = 0; i < more; i++)
        *number = *number << 8 | bytes[i];
    return true;
}

static bool take_number(reader *from, uint64_t *number)
{
    bool special;
    return take_length(from, number, &special) && !special;
}

/* A string, plain or compressed, to the sink. */
static bry_status pass_string(reader *from, const bry_sink *sink)
{
    uint64_t len, room;
    bool special;
    const unsigned char *bytes;
    if (!take_length(from, &len, &special))
        return BRY_E_BADDATA;
    if (!special)
        return take_bytes(from, len, &bytes) ? sink->write(sink->opaque, bytes, (size_t)len)
                                             : BRY_E_BADDATA;
    if (len != COMPRESSED || !take_number(from, &len) || !take_number(from, &room) ||
        room > PIECE || !take_bytes(from, len, &bytes))
        return BRY_E_BADDATA;
    unsigned char *piece = calloc(1, PIECE);
    bry_status status = BRY_E_NOMEM;
    if (piece)
        status = bryc__lzf_expand(bytes, (size_t)len, piece, (size_t)room) == room
                     ? sink->write(sink->opaque, piece, (size_t)room)
                     : BRY_E_BADDATA;
    free(piece);
    return status;
}

bry_status bryc__payload_read(const void *payload, size_t len, const bry_sink *sink)
{
    const unsigned char *bytes = payload;
    reader from = {bytes, bytes + (len > FOOTER ? len - FOOTER : 0)};
    uint64_t identity, opcode, number, crc = 0;
    const unsigned char *type;
    if (len <= FOOTER || !take_bytes(&from, 1, &type) || *type != TYPE_MODULE ||
        !take_number(&from, &identity))
        return BRY_E_BADDATA;
    for (int i = 7; i >= 0; i--)
        crc = crc << 8 | bytes[len - 8 + (size_t)i];
    if (crc != bryc__crc64(payload, len - 8))
        return BRY_E_BADDATA;
    /* 1, if the map is complete; then 1 and a string, for each piece; then 0. */
    if (!take_number(&from, &opcode) || opcode != OPCODE_NUMBER || !take_number(&from, &number) ||
        number != 1)
        return BRY_E_BADDATA;
    for (;;) {
        if (!take_number(&from, &opcode) || opcode != OPCODE_NUMBER || !take_number(&from, &number))
            return BRY_E_BADDATA;
        if (number == 0)
            return take_number(&from, &opcode) && opcode == OPCODE_END && from.at == from.end
                       ? BRY_OK
                       : BRY_E_BADDATA;
        if (!take_number(&from, &opcode) || opcode != OPCODE_STRING)
            return BRY_E_BADDATA;
        bry_status status = pass_string(&from, sink);
        if (status != BRY_OK)
            return status;
    }
}

/* ---- writing ------------------------------------------------------------------------------- */

/* Nine characters of six bits and ten bits of version: how servers name a module's type. */
static uint64_t type_identity(void)
{
    static const char set[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    static const char name[] = "bloom-map";
    uint64_t identity = 0;
    for (size_t i = 0; i < sizeof name - 1; i++)
        identity = identity << 6 | (uint64_t)(strchr(set, name[i]) - set);
    return identity << 10 | 1;
}

static unsigned char *put_big(unsigned char *to, uint64_t number, int bytes)
{
    for (int i = bytes - 1; i >= 0; i--)
        *to++ = (unsigned char)(number >> 8 * i);
    return to;
}

static unsigned char *put_little(unsigned char *to, uint64_t number, int bytes)
{
    for (int i = 0; i < bytes; i++)
        *to++ = (unsigned char)(number >> 8 * i);
    return to;
}

char *bryc__payload_write(const void *frames, size_t len, size_t *payload_len)
{
    const char *from = frames;
    unsigned char *payload = malloc(len + (len / PIECE + 1) * 8 + 64), *at = payload;
    if (!payload)
        return NULL;
    *at++ = TYPE_MODULE;
    *at++ = 0x81;
    at = put_big(at, type_identity(), 8);
    *at++ = OPCODE_NUMBER;
    *at++ = 1;
    for (size_t done = 0; done < len || done == 0;) {
        size_t here = len - done < PIECE ? len - done : PIECE;
        *at++ = OPCODE_NUMBER;
        *at++ = 1;
        *at++ = OPCODE_STRING;
        *at++ = 0x80;
        at = put_big(at, here, 4);
        memcpy(at, from + done, here);
        at += here;
        done += here;
        if (len == 0)
            break;
    }
    *at++ = OPCODE_NUMBER;
    *at++ = 0;
    *at++ = OPCODE_END;
    at = put_little(at, VERSION, 2);
    at = put_little(at, bryc__crc64(payload, (size_t)(at - payload)), 8);
    *payload_len = (size_t)(at - payload);
    return (char *)payload;
}
