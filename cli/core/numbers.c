#include "cli/core/numbers.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_DIGITS 40 /* more than any number here needs; beyond, it is a mistake */
#define MOST_EXPONENT 1000

static const char negative[] = "is below zero";
static const char too_large[] = "is too large";
static const char too_long[] = "has more digits than make sense";
static const char not_whole[] = "is not a whole number";
static const char not_count[] = "is not a count such as 5000, 64k, 10M, 1e6 or 2^20";
static const char not_bytes[] = "is not a size such as 4096, 64k or 64MiB";
static const char not_span[] = "is not a time such as 100ms, 60s, 5m, 1h or 7d";
static const char no_unit[] = "needs a unit: ms, s, m, h or d";
static const char not_share[] = "is not a share such as 0.001, 0.1% or 1e-3";
static const char no_share[] = "is not above 0 and below 1";

/* A number as it was written: digits · 10^exponent, and whatever stands behind it. */
typedef struct written {
    char digits[MOST_DIGITS + 1]; /* without leading zeros; "" is zero */
    int exponent;
    const char *rest;
} written;

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Reads digits, with a point or not, and an exponent if there is one. */
static const char *read_written(const char *text, const char *otherwise, written *number)
{
    if (*text == '-' && (is_digit(text[1]) || text[1] == '.'))
        return negative;
    size_t len = 0;
    bool point = false, any = false;
    number->exponent = 0;
    for (; is_digit(*text) || (*text == '.' && !point); text++) {
        if (*text == '.') {
            point = true;
            continue;
        }
        any = true;
        number->exponent -= point;
        if (len == 0 && *text == '0')
            continue;
        if (len == MOST_DIGITS)
            return too_long;
        number->digits[len++] = *text;
    }
    if (!any || number->exponent < -MOST_EXPONENT)
        return any ? too_long : otherwise;
    while (len > 0 && number->digits[len - 1] == '0') {
        len--;
        number->exponent++;
    }
    number->digits[len] = '\0';

    if ((*text == 'e' || *text == 'E') &&
        (is_digit(text[1]) || ((text[1] == '-' || text[1] == '+') && is_digit(text[2])))) {
        bool minus = *++text == '-';
        if (!is_digit(*text))
            text++;
        int exponent = 0;
        for (; is_digit(*text); text++)
            exponent = exponent > MOST_EXPONENT ? exponent : exponent * 10 + (*text - '0');
        number->exponent += minus ? -exponent : exponent;
    }
    number->rest = text;
    return NULL;
}

/* digits · 10^exponent · unit, exactly. */
static const char *whole(const written *number, uint64_t unit, uint64_t *value)
{
    uint64_t product = 0;
    if (!*number->digits) {
        *value = 0;
        return NULL;
    }
    for (const char *digit = number->digits; *digit; digit++)
        if (__builtin_mul_overflow(product, 10, &product) ||
            __builtin_add_overflow(product, (uint64_t)(*digit - '0'), &product))
            return number->exponent < 0 ? not_whole : too_large;
    int exponent = number->exponent;
    for (; exponent < 0; exponent++) { /* the unit gives what the fraction takes: 1.5k */
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
static const char *power(const written *base, const char *otherwise, uint64_t *value)
{
    written exponent;
    uint64_t factor, times, product = 1;
    if (!is_digit(base->rest[1]))
        return otherwise;
    const char *problem = read_written(base->rest + 1, otherwise, &exponent);
    if (!problem && *exponent.rest)
        problem = otherwise;
    if (!problem)
        problem = whole(base, 1, &factor);
    if (!problem)
        problem = whole(&exponent, 1, &times);
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

/* The multiplier that `rest` names, all of it; 0 when it names none. */
static uint64_t scale_of(const char *rest, bool bytes)
{
    static const char letters[] = "kMGT";
    char letter = *rest == 'K' ? 'k' : *rest;
    const char *found = letter ? strchr(letters, letter) : NULL;
    uint64_t scale = 1;
    if (found) {
        rest++;
        bool binary = *rest == 'i';
        rest += binary;
        for (const char *at = letters; at <= found; at++)
            scale *= binary ? 1024 : 1000;
    }
    if (bytes && *rest == 'B')
        rest++;
    return *rest ? 0 : scale;
}

static const char *parse_scaled(const char *text, bool bytes, uint64_t *value)
{
    const char *otherwise = bytes ? not_bytes : not_count;
    written number;
    const char *problem = read_written(text, otherwise, &number);
    if (problem)
        return problem;
    if (*number.rest == '^')
        return power(&number, otherwise, value);
    uint64_t scale = scale_of(number.rest, bytes);
    return scale ? whole(&number, scale, value) : otherwise;
}

const char *cli_parse_count(const char *text, uint64_t *count)
{
    return parse_scaled(text, false, count);
}

const char *cli_parse_bytes(const char *text, uint64_t *bytes)
{
    return parse_scaled(text, true, bytes);
}

const char *cli_parse_span(const char *text, uint64_t *milliseconds)
{
    static const struct {
        const char *name;
        uint64_t milliseconds;
    } units[] = {{"ms", 1},      {"s", 1000},    {"m", 60000},
                 {"min", 60000}, {"h", 3600000}, {"d", 86400000}};
    written number;
    const char *problem = read_written(text, not_span, &number);
    if (problem)
        return problem;
    if (!*number.rest)
        return no_unit;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strcmp(number.rest, units[i].name) == 0)
            return whole(&number, units[i].milliseconds, milliseconds);
    return not_span;
}

const char *cli_parse_share(const char *text, double *share)
{
    written number;
    const char *problem = read_written(text, not_share, &number);
    if (problem)
        return problem;
    if (*number.rest == '%') {
        number.exponent -= 2;
        number.rest++;
    }
    if (*number.rest)
        return not_share;
    /* Back to text, so that 0.1% is the number nearest to 0.001, not 0.1 divided by 100. */
    char normal[MOST_DIGITS + 16];
    snprintf(normal, sizeof normal, "0%se%d", number.digits, number.exponent);
    double value = strtod(normal, NULL);
    if (!(value > 0 && value < 1))
        return no_share;
    *share = value;
    return NULL;
}

cli_size cli_say_bytes(uint64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double size = (double)bytes;
    int unit = 0;
    for (; size >= 1024; unit++)
        size /= 1024;
    cli_size said;
    int digits = unit == 0 || size >= 100 ? 0 : size >= 10 ? 1 : 2;
    snprintf(said.text, sizeof said.text, "%.*f %s", digits, size, units[unit]);
    return said;
}
