#include "cli/core/json/base64.h"

#include <stdint.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void cli_base64_write(FILE *out, const void *bytes, size_t len)
{
    const unsigned char *from = bytes;
    for (size_t at = 0; at < len; at += 3) {
        size_t left = len - at;
        uint32_t three = (uint32_t)from[at] << 16 | (left > 1 ? (uint32_t)from[at + 1] << 8 : 0) |
                         (left > 2 ? from[at + 2] : 0);
        fputc(alphabet[three >> 18], out);
        fputc(alphabet[three >> 12 & 63], out);
        fputc(left > 1 ? alphabet[three >> 6 & 63] : '=', out);
        fputc(left > 2 ? alphabet[three & 63] : '=', out);
    }
}

/* -1: not in the alphabet. */
static int base64_digit(char c)
{
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '+'             ? 62
           : c == '/'             ? 63
                                  : -1;
}

bool cli_base64_read(char *text, size_t *len)
{
    size_t letters = *len, out = 0;
    if (letters % 4 != 0)
        return false;
    for (unsigned i = 0; i < 2 && letters > 0 && text[letters - 1] == '='; i++)
        letters--;
    uint32_t bits = 0;
    unsigned held = 0;
    for (size_t i = 0; i < letters; i++) {
        int value = base64_digit(text[i]);
        if (value < 0)
            return false;
        bits = (bits << 6 | (uint32_t)value) & 0xfff;
        held += 6;
        if (held >= 8) {
            held -= 8;
            text[out++] = (char)(bits >> held);
        }
    }
    if (held == 6 || (bits & ((1u << held) - 1)) != 0)
        return false;
    *len = out;
    return true;
}
