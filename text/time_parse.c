#include "text/time_parse.h"

#include "text/digit.h"

#include <string.h>

/* The last millisecond of the year 9999. A larger number must be in another unit. */
#define LAST_MS UINT64_C(253402300799999)
#define DAY_MS INT64_C(86400000)
#define MOST_EXPONENT 100000

static const char not_time[] = "is neither a number nor a time such as 2026-11-15T12:00:00Z";
static const char too_late[] = "is after the year 9999: is its unit s, ms, us or ns?";
static const char negative[] = "is negative: times are counted from 1970";
static const char too_early[] = "is before 1970";
static const char no_date[] = "is not a valid date";

bool text_parse_time_unit(const char *word, text_time_unit *unit)
{
    static const char *const words[] = {
        [TEXT_S] = "s", [TEXT_MS] = "ms", [TEXT_US] = "us", [TEXT_NS] = "ns"};
    for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(word, words[i]) == 0) {
            *unit = (text_time_unit)i;
            return true;
        }
    return false;
}

/* ---- numbers ------------------------------------------------------------------------------- */

/* The exponent, limited to where any time is out of range; false: there is none. */
static bool parse_exponent(const char *text, size_t len, int64_t *exponent)
{
    bool minus = len > 0 && text[0] == '-';
    size_t at = len > 0 && (text[0] == '-' || text[0] == '+'), first = at;
    *exponent = 0;
    for (; at < len && text_is_digit(text[at]); at++)
        if (*exponent < MOST_EXPONENT)
            *exponent = *exponent * 10 + (text[at] - '0');
    if (minus)
        *exponent = -*exponent;
    return at > first && at == len;
}

/* Exact: unit and exponent move the decimal point, and the digits before it are the number. */
static const char *parse_number(const char *text, size_t len, text_time_unit unit, uint64_t *ms)
{
    static const int moves[] = {[TEXT_S] = 3, [TEXT_MS] = 0, [TEXT_US] = -3, [TEXT_NS] = -6};
    bool minus = len > 0 && text[0] == '-';
    size_t first = minus, at = first, digits = 0;
    int64_t point = -1, exponent = 0;
    for (; at < len && (text_is_digit(text[at]) || (text[at] == '.' && point < 0)); at++) {
        if (text[at] == '.')
            point = (int64_t)digits;
        else
            digits++;
    }
    size_t end = at;
    if (digits == 0 || (at < len && ((text[at] != 'e' && text[at] != 'E') ||
                                     !parse_exponent(text + at + 1, len - at - 1, &exponent))))
        return not_time;
    if (minus)
        return negative;
    int64_t left = (point < 0 ? (int64_t)digits : point) + exponent + moves[unit];
    uint64_t whole = 0;
    for (at = first; left > 0; left--) {
        at += at < end && text[at] == '.';
        whole = whole * 10 + (at < end ? (uint64_t)(text[at++] - '0') : 0);
        if (whole > LAST_MS)
            return too_late;
    }
    *ms = whole;
    return NULL;
}

/* ---- dates --------------------------------------------------------------------------------- */

typedef struct cursor {
    const char *at, *end;
} cursor;

/* Exactly this many digits. */
static bool take_digits(cursor *c, unsigned count, int *number)
{
    if (c->end - c->at < (ptrdiff_t)count)
        return false;
    *number = 0;
    for (unsigned i = 0; i < count; i++, c->at++) {
        if (!text_is_digit(*c->at))
            return false;
        *number = *number * 10 + (*c->at - '0');
    }
    return true;
}

static bool take_byte(cursor *c, char wanted)
{
    if (c->at == c->end || *c->at != wanted)
        return false;
    c->at++;
    return true;
}

/* Days from 1970-01-01 on, in the Gregorian calendar: years begin in March, so that the leap day is
 * the last day. */
static int64_t days_to(int year, int month, int day)
{
    int64_t y = month > 2 ? year : year - 1, era = y / 400, of_era = y % 400;
    int64_t of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static bool is_day(int year, int month, int day)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (month < 1 || month > 12)
        return false;
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return day >= 1 && day <= days[month - 1] + (month == 2 && leap);
}

/* Z, ±hh, ±hhmm or ±hh:mm; nothing means Z. Returns the offset from UTC in minutes. */
static bool take_zone(cursor *c, int *ahead)
{
    *ahead = 0;
    if (c->at == c->end || take_byte(c, 'Z') || take_byte(c, 'z'))
        return true;
    bool minus = *c->at == '-';
    int hours, minutes = 0;
    if ((!take_byte(c, '+') && !take_byte(c, '-')) || !take_digits(c, 2, &hours))
        return false;
    bool colon = take_byte(c, ':');
    if ((colon || c->at < c->end) && !take_digits(c, 2, &minutes))
        return false;
    *ahead = (hours * 60 + minutes) * (minus ? -1 : 1);
    return hours < 24 && minutes < 60;
}

static const char *parse_date(const char *text, size_t len, uint64_t *ms)
{
    cursor c = {text, text + len};
    int year, month, day, hour = 0, minute = 0, second = 0, ahead = 0, digit, fraction = 0;
    if (!take_digits(&c, 4, &year) || !take_byte(&c, '-') || !take_digits(&c, 2, &month) ||
        !take_byte(&c, '-') || !take_digits(&c, 2, &day))
        return not_time;
    if (take_byte(&c, 'T') || take_byte(&c, 't') || take_byte(&c, ' ')) {
        if (!take_digits(&c, 2, &hour) || !take_byte(&c, ':') || !take_digits(&c, 2, &minute))
            return not_time;
        if (take_byte(&c, ':')) {
            if (!take_digits(&c, 2, &second))
                return not_time;
            if (take_byte(&c, '.') || take_byte(&c, ','))
                for (int worth = 100; c.at < c.end && text_is_digit(*c.at); worth /= 10)
                    if (take_digits(&c, 1, &digit))
                        fraction += worth * digit;
        }
        if (!take_zone(&c, &ahead))
            return not_time;
    }
    if (c.at < c.end)
        return not_time;
    /* A minute may have a 61st second, and a day ends at 24:00. */
    if (!is_day(year, month, day) || hour > 24 || minute > 59 || second > 60 ||
        (hour == 24 && (minute || second || fraction)))
        return no_date;
    int64_t total = days_to(year, month, day) * DAY_MS + hour * INT64_C(3600000) +
                    (minute - ahead) * INT64_C(60000) + second * INT64_C(1000) + fraction;
    if (total < 0)
        return too_early;
    if ((uint64_t)total > LAST_MS)
        return too_late;
    *ms = (uint64_t)total;
    return NULL;
}

const char *text_parse_time(const char *text, size_t len, text_time_unit unit, uint64_t *ms)
{
    bool date = len > 4 && text[4] == '-';
    return date ? parse_date(text, len, ms) : parse_number(text, len, unit, ms);
}
