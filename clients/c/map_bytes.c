/* Encoding commands, without an allocation per argument. */
#include "clients/c/cluster_map.h"

#include <stdlib.h>
#include <string.h>

bool bryc__reserve(bryc__bytes *bytes, size_t more)
{
    if (more <= bytes->capacity - bytes->len)
        return true;
    size_t capacity = 2 * bytes->capacity + more + 4096;
    char *at = realloc(bytes->at, capacity);
    if (!at)
        return false;
    bytes->at = at;
    bytes->capacity = capacity;
    return true;
}

/* Decimal digits; returns their number. `to` has room for 20. */
static size_t put_digits(char *to, uint64_t number)
{
    char digits[20];
    size_t n = 0;
    do {
        digits[n++] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    for (size_t i = 0; i < n; i++)
        to[i] = digits[n - 1 - i];
    return n;
}

static char *put_header(char *to, char kind, uint64_t number)
{
    *to++ = kind;
    to += put_digits(to, number);
    *to++ = '\r';
    *to++ = '\n';
    return to;
}

bool bryc__put_argument(bryc__bytes *bytes, const void *argument, size_t len)
{
    if (!bryc__reserve(bytes, len + 32))
        return false;
    char *to = put_header(bytes->at + bytes->len, '$', len);
    if (len)
        memcpy(to, argument, len);
    to[len] = '\r';
    to[len + 1] = '\n';
    bytes->len = (size_t)(to + len + 2 - bytes->at);
    return true;
}

bool bryc__put_number(bryc__bytes *bytes, uint64_t number)
{
    char digits[20];
    return bryc__put_argument(bytes, digits, put_digits(digits, number));
}

bool bryc__put_count(bryc__bytes *bytes, uint64_t n)
{
    if (!bryc__reserve(bytes, 32))
        return false;
    bytes->len = (size_t)(put_header(bytes->at + bytes->len, '*', n) - bytes->at);
    return true;
}
