#include "text/number_parse.h"

#include "text/digit.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_DIGITS 40 /* more than any number needs; longer text is an error */
#define MOST_EXPONENT 1000

static const char negative[] = "is below zero";
static const char too_large[] = "is too large";
static const char too_long[] = "has too many digits";
static const char not_whole[] = "is not a whole number";
static const char not_count[] = "is not a count such as 5000, 64k, 10M, 1e6 or 2^20";
static const char not_bytes[] = "is not a size such as 4096, 64mb, 64MiB or 1gb";
static const char minutes_not_count[] = "ends in m, which means minutes: write M for millions";
static const char minutes_not_bytes[] =
    "ends in m, which means minutes: write mb (2^20 bytes) or M (10^6 bytes)";
static const char wrong_case[] =
    "has a unit in the wrong case: write k, M, G or T, or Ki, Mi, Gi or Ti";
static const char not_span[] = "is not a time such as 100ms, 60s, 5m, 1h or 7d";
static const char not_span_or_ms[] = "is not a time such as 60000 (milliseconds), 100ms, 60s, "
                                     "5min, 1h or 7d, its unit in lower case";
static const char not_plain[] = "is not a whole number, digits only";
static const char not_integer[] = "is not an integer";
static const char not_moment[] = "is not a whole number of milliseconds, digits only";
static const char no_unit[] = "needs a unit: ms, s, m, h or d";
static const char not_share[] = "is not a fraction such as 0.001, 0.1% or 1e-3";
static const char no_share[] = "is not above 0 and below 1";

/* A number as written: digits · 10^exponent, and the rest of the text. */
typedef struct written {
    bool minus;
    char digits[MOST_DIGITS + 1]; /* without leading zeros; "" is zero */
    int exponent;
    const char *rest, *end;
} written;

/* The byte at this position, or NUL at the end. */
static char byte_at(const char *at, const char *end)
{
    return at < end ? *at : '\0';
}

/* True at the minus of a number. */
static bool is_minus(const char *text, const char *end)
{
    char next = byte_at(text + 1, end);
    return byte_at(text, end) == '-' && (text_is_digit(next) || next == '.');
}

/* Reads an exponent, if there is one, and adds it. Returns what follows. */
static const char *read_exponent(const char *at, const char *end, int *exponent)
{
    char letter = byte_at(at, end), sign = byte_at(at + 1, end);
    const char *first = at + 1 + (sign == '-' || sign == '+');
    if ((letter != 'e' && letter != 'E') || !text_is_digit(byte_at(first, end)))
        return at;
    int read = 0;
    for (at = first; text_is_digit(byte_at(at, end)); at++)
        read = read > MOST_EXPONENT ? read : read * 10 + (*at - '0');
    *exponent += sign == '-' ? -read : read;
    return at;
}

/* Reads an optional minus, digits, an optional point, and an optional exponent. */
static const char *read_written(const char *text, size_t size, const char *otherwise,
                                written *number)
{
    const char *end = text + size;
    size_t len = 0;
    bool point = false, any = false;
    number->minus = is_minus(text, end);
    text += number->minus;
    number->exponent = 0;
    for (; text_is_digit(byte_at(text, end)) || (byte_at(text, end) == '.' && !point); text++) {
        if (*text == '.') {
            point = true;
            continue;
        }
        any = true;
        number->exponent -= point;
        if (len == 0 && *text == '0')
            continue;
        if (len == MOST_DIGITS)
            return point ? too_long : number->minus ? negative : too_large;
        number->digits[len++] = *text;
    }
    if (!any || number->exponent < -MOST_EXPONENT)
        return any ? too_long : otherwise;
    while (len > 0 && number->digits[len - 1] == '0') {
        len--;
        number->exponent++;
    }
    number->digits[len] = '\0';
    number->rest = read_exponent(text, end, &number->exponent);
    number->end = end;
    return NULL;
}

/* digits · 10^exponent · unit, exactly. */
static const char *whole_number(const written *number, uint64_t unit, uint64_t *value)
{
    uint64_t product = 0;
    if (number->minus)
        return negative;
    if (!*number->digits) {
        *value = 0;
        return NULL;
    }
    for (const char *digit = number->digits; *digit; digit++)
        if (__builtin_mul_overflow(product, 10, &product) ||
            __builtin_add_overflow(product, (uint64_t)(*digit - '0'), &product))
            return number->exponent < 0 ? not_whole : too_large;
    int exponent = number->exponent;
    for (; exponent < 0; exponent++) { /* the unit makes the fraction whole: 1.5k */
        if (product % 10 == 0)
            product /= 10;
        else if (unit % 10 == 0)
            unit /= 10;
        else if (product % 5 == 0 && unit % 2 == 0)
            product /= 5, unit /= 2;
        else if (product % 2 == 0 && unit % 5 == 0)
            product /= 2, unit /= 5;
        else
            return not_whole;
    }
    for (; exponent > 0; exponent--)
        if (__builtin_mul_overflow(product, 10, &product))
            return too_large;
    if (__builtin_mul_overflow(product, unit, &product))
        return too_large;
    *value = product;
    return NULL;
}

/* base^exponent, both written as plain digits. */
static const char *parse_power(const written *base, const char *otherwise, uint64_t *value)
{
    written exponent;
    uint64_t factor, times, product = 1;
    const char *from = base->rest + 1;
    if (!text_is_digit(byte_at(from, base->end)))
        return otherwise;
    const char *problem = read_written(from, (size_t)(base->end - from), otherwise, &exponent);
    if (!problem && exponent.rest != exponent.end)
        problem = otherwise;
    if (!problem)
        problem = whole_number(base, 1, &factor);
    if (!problem)
        problem = whole_number(&exponent, 1, &times);
    if (problem)
        return problem;
    if (factor < 2) {
        *value = times == 0 ? 1 : factor;
        return NULL;
    }
    for (; times > 0; times--)
        if (__builtin_mul_overflow(product, factor, &product))
            return too_large;
    *value = product;
    return NULL;
}

/*
 * The multiplier that the whole rest of the text names; 0: none. With a B the letters may be in any
 * case and all units are powers of 1024. Without one, only k may be in either case, because m is
 * minutes. `any_case`: as if all might.
 */
static uint64_t scale_of(const written *number, bool bytes, bool any_case)
{
    static const char letters[] = "kMGT";
    const char *rest = number->rest, *end = number->end;
    bool with_b = bytes && rest < end && (end[-1] == 'b' || end[-1] == 'B');
    end -= with_b;
    any_case |= with_b;
    if (rest == end)
        return 1;
    size_t power = 0;
    for (; letters[power] && *rest != letters[power]; power++)
        if ((any_case || letters[power] == 'k') && (*rest | 0x20) == (letters[power] | 0x20))
            break;
    rest++;
    bool with_i = rest < end && (*rest == 'i' || (any_case && *rest == 'I'));
    if (!letters[power] || rest + with_i != end)
        return 0;
    uint64_t scale = 1;
    for (size_t i = 0; i <= power; i++)
        scale *= with_b || with_i ? 1024 : 1000;
    return scale;
}

static const char *parse_scaled(const char *text, size_t len, bool bytes, uint64_t *value)
{
    const char *otherwise = bytes ? not_bytes : not_count;
    written number;
    const char *problem = read_written(text, len, otherwise, &number);
    if (problem)
        return problem;
    if (byte_at(number.rest, number.end) == '^')
        return parse_power(&number, otherwise, value);
    if (number.end - number.rest == 1 && *number.rest == 'm')
        return bytes ? minutes_not_bytes : minutes_not_count;
    uint64_t scale = scale_of(&number, bytes, false);
    if (!scale)
        return scale_of(&number, bytes, true) ? wrong_case : otherwise;
    return whole_number(&number, scale, value);
}

const char *text_parse_count(const char *text, size_t len, uint64_t *count)
{
    return parse_scaled(text, len, false, count);
}

const char *text_parse_bytes(const char *text, size_t len, uint64_t *bytes)
{
    return parse_scaled(text, len, true, bytes);
}

/* `bare`: a number without a unit is in milliseconds; otherwise it is refused. */
static const char *parse_span(const char *text, size_t len, const char *otherwise, bool bare,
                              uint64_t *milliseconds)
{
    static const struct {
        const char *name;
        uint64_t milliseconds;
    } units[] = {{"ms", 1},      {"s", 1000},    {"m", 60000},
                 {"min", 60000}, {"h", 3600000}, {"d", 86400000}};
    written number;
    const char *problem = read_written(text, len, otherwise, &number);
    if (problem)
        return problem;
    size_t left = (size_t)(number.end - number.rest);
    if (left == 0)
        return bare ? whole_number(&number, 1, milliseconds) : no_unit;
    if (bare && *number.rest == '^')
        return parse_power(&number, otherwise, milliseconds);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strlen(units[i].name) == left && memcmp(number.rest, units[i].name, left) == 0)
            return whole_number(&number, units[i].milliseconds, milliseconds);
    return otherwise;
}

const char *text_parse_span(const char *text, size_t len, uint64_t *milliseconds)
{
    return parse_span(text, len, not_span, false, milliseconds);
}

const char *text_parse_span_or_ms(const char *text, size_t len, uint64_t *milliseconds)
{
    return parse_span(text, len, not_span_or_ms, true, milliseconds);
}

const char *text_parse_share(const char *text, size_t len, double *share)
{
    written number;
    const char *problem = read_written(text, len, not_share, &number);
    if (problem)
        return problem;
    if (byte_at(number.rest, number.end) == '%') {
        number.exponent -= 2;
        number.rest++;
    }
    if (number.rest != number.end)
        return not_share;
    if (number.minus)
        return negative;
    /* Converted to text, so that 0.1% is the number nearest to 0.001, not 0.1 divided by 100. */
    char normal[MOST_DIGITS + 16];
    snprintf(normal, sizeof normal, "0%se%d", number.digits, number.exponent);
    double value = strtod(normal, NULL);
    if (!(value > 0 && value < 1))
        return no_share;
    *share = value;
    return NULL;
}

static const char *parse_digits(const char *text, size_t len, const char *otherwise,
                                uint64_t *value)
{
    uint64_t number = 0;
    bool minus = is_minus(text, text + len);
    text += minus;
    len -= minus;
    for (size_t i = 0; i < len; i++)
        if (!text_is_digit(text[i]))
            return otherwise;
    if (minus)
        return negative;
    for (size_t i = 0; i < len; i++)
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, (uint64_t)(text[i] - '0'), &number))
            return too_large;
    if (len == 0)
        return otherwise;
    *value = number;
    return NULL;
}

const char *text_parse_plain(const char *text, size_t len, uint64_t *number)
{
    return parse_digits(text, len, not_plain, number);
}

const char *text_parse_moment(const char *text, size_t len, uint64_t *milliseconds)
{
    return parse_digits(text, len, not_moment, milliseconds);
}

const char *text_parse_integer(const char *text, size_t len, int64_t *number)
{
    uint64_t size;
    bool minus = is_minus(text, text + len);
    const char *problem = parse_digits(text + minus, len - minus, not_integer, &size);
    if (problem)
        return problem;
    if (size > (uint64_t)INT64_MAX + minus)
        return too_large;
    *number = minus ? (int64_t)(0 - size) : (int64_t)size;
    return NULL;
}

bool text_is_out_of_range(const char *problem)
{
    return problem == negative || problem == too_large || problem == no_share;
}
