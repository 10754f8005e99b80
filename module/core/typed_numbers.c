#include "module/core/typed_numbers.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST 40u /* more than any number here needs; beyond, it is a mistake */
#define MOST_EXPONENT 400

static const char negative[] = "is below zero";
static const char too_large[] = "is too large";
static const char too_long[] = "has more digits than make sense";
static const char not_whole[] = "is not a whole number";
static const char not_share[] = "is not a share such as 0.001, 0.1% or 1e-3";
static const char no_share[] = "is not above 0 and below 1";

typedef struct unit {
    const char *name;
    uint64_t times;
} unit;

/* A number as it was written, digits · 10^exponent, and the unit behind it in small letters. */
typedef struct written {
    uint64_t digits;
    int exponent;
    char text[LONGEST + 1];
    const char *rest;
} written;

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Copies the text, so that it ends; false when it is none that a number can be. */
static bool copy(const char *text, size_t len, written *number)
{
    if (len == 0 || len > LONGEST || memchr(text, 0, len))
        return false;
    for (size_t i = 0; i < len; i++)
        number->text[i] = (char)tolower((unsigned char)text[i]);
    number->text[len] = '\0';
    return true;
}

static const char *read_exponent(const char *at, int *exponent)
{
    bool signed_ = at[1] == '-' || at[1] == '+';
    if (*at != 'e' || !is_digit(at[1 + signed_]))
        return at;
    bool minus = at[1] == '-';
    int value = 0;
    for (at += 1 + signed_; is_digit(*at); at++)
        value = value > MOST_EXPONENT ? value : value * 10 + (*at - '0');
    *exponent += minus ? -value : value;
    return at;
}

static const char *read_written(const char *text, size_t len, const char *otherwise,
                                written *number)
{
    if (!copy(text, len, number))
        return otherwise;
    const char *at = number->text;
    if (*at == '-' && (is_digit(at[1]) || at[1] == '.'))
        return negative;
    bool point = false, any = false;
    number->digits = 0;
    number->exponent = 0;
    for (; is_digit(*at) || (*at == '.' && !point); at++) {
        if (*at == '.') {
            point = true;
            continue;
        }
        any = true;
        number->exponent -= point;
        if (__builtin_mul_overflow(number->digits, 10, &number->digits) ||
            __builtin_add_overflow(number->digits, (uint64_t)(*at - '0'), &number->digits))
            return too_large;
    }
    if (!any)
        return otherwise;
    number->rest = read_exponent(at, &number->exponent);
    return NULL;
}

/* digits · 10^exponent · times, exactly. */
static const char *whole(const written *number, uint64_t times, uint64_t *value)
{
    uint64_t product = number->digits;
    int exponent = product ? number->exponent : 0;
    for (; exponent < 0; exponent++) { /* the unit gives what the fraction takes: 1.5k */
        if (product % 10 == 0)
            product /= 10;
        else if (times % 10 == 0)
            times /= 10;
        else if (product % 5 == 0 && times % 2 == 0)
            product /= 5, times /= 2;
        else if (product % 2 == 0 && times % 5 == 0)
            product /= 2, times /= 5;
        else
            return not_whole;
    }
    for (; exponent > 0; exponent--)
        if (__builtin_mul_overflow(product, 10, &product))
            return too_large;
    if (__builtin_mul_overflow(product, times, &product))
        return too_large;
    *value = product;
    return NULL;
}

/* 2^20: both plain digits. */
static const char *power(const written *base, const char *otherwise, uint64_t *value)
{
    uint64_t product = 1;
    int times = 0;
    const char *at = base->rest + 1;
    if (base->exponent != 0 || base->digits < 2 || !is_digit(*at))
        return otherwise;
    for (; is_digit(*at); at++)
        times = times > 64 ? times : times * 10 + (*at - '0');
    if (*at)
        return otherwise;
    for (; times > 0; times--)
        if (__builtin_mul_overflow(product, base->digits, &product))
            return too_large;
    *value = product;
    return NULL;
}

static const char *parse(const char *text, size_t len, const unit *units, const char *otherwise,
                         uint64_t *value)
{
    written number;
    const char *problem = read_written(text, len, otherwise, &number);
    if (problem)
        return problem;
    if (*number.rest == '^')
        return power(&number, otherwise, value);
    for (; units->name; units++)
        if (strcmp(number.rest, units->name) == 0)
            return whole(&number, units->times, value);
    return otherwise;
}

const char *typed_count(const char *text, size_t len, uint64_t *count)
{
    static const unit units[] = {{"", 1}, {"k", 1000}, {"m", 1000000}, {"g", 1000000000}, {0}};
    return parse(text, len, units, "is not a count such as 5000, 64k, 10m or 1e6", count);
}

const char *typed_bytes(const char *text, size_t len, uint64_t *bytes)
{
    static const unit units[] = {{"", 1},           {"b", 1},         {"k", 1000},
                                 {"kb", 1024},      {"m", 1000000},   {"mb", 1u << 20},
                                 {"g", 1000000000}, {"gb", 1u << 30}, {0}};
    return parse(text, len, units, "is not a size such as 4096, 64mb or 1gb", bytes);
}

const char *typed_span(const char *text, size_t len, uint64_t *milliseconds)
{
    static const unit units[] = {{"", 1},        {"ms", 1},      {"s", 1000},     {"m", 60000},
                                 {"min", 60000}, {"h", 3600000}, {"d", 86400000}, {0}};
    static const char otherwise[] = "is not a time such as 60000 (milliseconds), 100ms, 60s, 5min, "
                                    "1h or 7d, its unit in small letters";
    for (size_t i = 0; i < len; i++)
        if (text[i] >= 'A' && text[i] <= 'Z' && text[i] != 'E') /* 1E3 */
            return otherwise;
    return parse(text, len, units, otherwise, milliseconds);
}

static const char *digits_alone(const char *text, size_t len, const char *otherwise,
                                uint64_t *value)
{
    uint64_t number = 0;
    if (len > 1 && text[0] == '-' && is_digit(text[1]))
        return negative;
    if (len == 0)
        return otherwise;
    for (size_t i = 0; i < len; i++)
        if (!is_digit(text[i]))
            return otherwise;
    for (size_t i = 0; i < len; i++)
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, (uint64_t)(text[i] - '0'), &number))
            return too_large;
    *value = number;
    return NULL;
}

const char *typed_plain(const char *text, size_t len, uint64_t *number)
{
    return digits_alone(text, len, "is not a whole number in digits alone", number);
}

const char *typed_moment(const char *text, size_t len, uint64_t *milliseconds)
{
    return digits_alone(text, len, "is not a whole number of milliseconds, in digits alone",
                        milliseconds);
}

/* Back to text, with the percent sign as an exponent, so that 0.1% is the number nearest to 0.001.
 */
const char *typed_share(const char *text, size_t len, double *share)
{
    written number;
    const char *problem = read_written(text, len, not_share, &number);
    if (problem)
        return problem == too_large ? too_long : problem;
    bool percent = strcmp(number.rest, "%") == 0;
    if (*number.rest && !percent)
        return not_share;
    char normal[40];
    snprintf(normal, sizeof normal, "%" PRIu64 "e%d", number.digits,
             number.exponent - (percent ? 2 : 0));
    double value = strtod(normal, NULL);
    if (!(value > 0 && value < 1))
        return no_share;
    *share = value;
    return NULL;
}
