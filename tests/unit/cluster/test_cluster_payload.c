/* Payloads of DUMP and RESTORE. Real ones are tested with servers; here are the strange ones. */
#include "clients/c/slab_payload.h"
#include "support/cmocka_all.h"

#include <stdlib.h>
#include <string.h>

TEST(checksum)
{
    assert_true(bryc__crc64("123456789", 9) == UINT64_C(0xe9c6d914c4b8d9ca));
    assert_true(bryc__crc64("", 0) == 0);
}

TEST(lzf)
{
    unsigned char out[300];
    /* Three bytes as they are, then a copy of six that begins three bytes ago. */
    static const unsigned char plain[] = {2, 'a', 'b', 'c', 4 << 5, 2};
    assert_int_equal(bryc__lzf_expand(plain, sizeof plain, out, sizeof out), 9);
    assert_memory_equal(out, "abcabcabc", 9);
    /* A long copy has its length in a byte of its own. */
    static const unsigned char lengthy[] = {0, 'x', 7 << 5, 255, 0};
    assert_int_equal(bryc__lzf_expand(lengthy, sizeof lengthy, out, sizeof out), 265);
    for (int i = 0; i < 265; i++)
        assert_int_equal(out[i], 'x');
    /* Invalid: cut short anywhere, too long for the room, from before the beginning. */
    for (size_t len = 1; len < sizeof lengthy; len++)
        if (len != 2)
            assert_int_equal(bryc__lzf_expand(lengthy, len, out, sizeof out), 0);
    assert_int_equal(bryc__lzf_expand(lengthy, sizeof lengthy, out, 264), 0);
    static const unsigned char before[] = {0, 'x', 1 << 5, 1};
    assert_int_equal(bryc__lzf_expand(before, sizeof before, out, sizeof out), 0);
}

/* ---- payloads ------------------------------------------------------------------------------ */

static void seal(unsigned char *payload, size_t len)
{
    uint64_t crc = bryc__crc64(payload, len - 8);
    for (int i = 0; i < 8; i++)
        payload[len - 8 + (size_t)i] = (unsigned char)(crc >> 8 * i);
}

static void check_round_trip(size_t len)
{
    char *frames = malloc(len + 1);
    size_t payload_len;
    for (size_t i = 0; i < len; i++)
        frames[i] = (char)(i * 31 >> 3);
    char *payload = bryc__payload_write(frames, len, &payload_len);
    bry_buffer back = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&back);
    assert_int_equal(bryc__payload_read(payload, payload_len, &sink), BRY_OK);
    assert_int_equal(back.len, len);
    if (len)
        assert_memory_equal(back.bytes, frames, len);
    bry_buffer_free(&back);
    free(payload);
    free(frames);
}

TEST(round_trips)
{
    static const size_t lens[] = {0, 1, 65535, 65536, 65537, 131072, 200000};
    for (size_t i = 0; i < sizeof lens / sizeof lens[0]; i++)
        check_round_trip(lens[i]);
}

/* Whatever is changed or cut off, nothing is read beyond the end, and the checksum tells. With a
 * valid checksum, the structure is checked. */
TEST(damage)
{
    size_t len;
    unsigned char *payload = (unsigned char *)bryc__payload_write("some frames", 11, &len);
    for (size_t cut = 0; cut < len; cut++) {
        unsigned char *part = malloc(cut ? cut : 1);
        memcpy(part, payload, cut);
        for (int sealed = 0; sealed < 2; sealed++) {
            bry_buffer back = BRY_BUFFER;
            bry_sink sink = bry_buffer_sink(&back);
            if (sealed && cut >= 8)
                seal(part, cut);
            assert_int_equal(bryc__payload_read(part, cut, &sink), BRY_E_BADDATA);
            bry_buffer_free(&back);
        }
        free(part);
    }
    for (size_t at = 0; at < len; at++) {
        for (int bit = 0; bit < 8; bit++) {
            bry_buffer back = BRY_BUFFER;
            bry_sink sink = bry_buffer_sink(&back);
            payload[at] ^= (unsigned char)(1 << bit);
            assert_int_equal(bryc__payload_read(payload, len, &sink), BRY_E_BADDATA);
            seal(payload, len);
            bryc__payload_read(payload, len, &sink); /* under the sanitizer: no access outside */
            payload[at] ^= (unsigned char)(1 << bit);
            seal(payload, len);
            bry_buffer_free(&back);
        }
    }
    free(payload);
}
