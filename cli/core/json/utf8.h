/* UTF-8, as required by JSON. */
#ifndef BLOOMERY_CLI_UTF8_H
#define BLOOMERY_CLI_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of the character that starts at s, of which `left` bytes may be read; 0 if it is invalid.
 * Overlong forms, surrogates and numbers above U+10FFFF are invalid. */
static inline size_t cli_utf8_character(const unsigned char *s, size_t left)
{
    size_t len = left == 0                     ? 0
                 : s[0] < 0x80                 ? 1
                 : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
                 : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
                 : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                                               : 0;
    if (len > left)
        return 0;
    for (size_t i = 1; i < len; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if (len > 1 && ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
                    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f)))
        return 0;
    return len;
}

static inline bool cli_utf8_is_valid(const void *bytes, size_t len)
{
    const unsigned char *s = bytes;
    for (size_t at = 0, step; at < len; at += step)
        if ((step = cli_utf8_character(s + at, len - at)) == 0)
            return false;
    return true;
}

#endif
