#include "text/number_format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *text_number(double number, char out[TEXT_NUMBER_SIZE])
{
    /* 15 digits survive conversion to a double and back; 17 suffice for any double. */
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(out, TEXT_NUMBER_SIZE, "%.*g", digits, number);
        if (strtod(out, NULL) == number)
            break;
    }
    return out;
}

const char *text_rounded(double number, char out[TEXT_NUMBER_SIZE])
{
    snprintf(out, TEXT_NUMBER_SIZE, "%.6g", number);
    return out;
}

const char *text_with_point(double number, char out[TEXT_NUMBER_SIZE])
{
    char text[TEXT_NUMBER_SIZE - 4];
    snprintf(text, sizeof text, "%.6g", number);
    size_t whole = strcspn(text, "e");
    const char *point = memchr(text, '.', whole) ? "" : ".0";
    snprintf(out, TEXT_NUMBER_SIZE, "%.*s%s%s", (int)whole, text, point, text + whole);
    return out;
}

text_size text_size_of(uint64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double size = (double)bytes;
    int unit = 0;
    for (; size >= 1024; unit++)
        size /= 1024;
    int digits = unit == 0 || size >= 100 ? 0 : size >= 10 ? 1 : 2;
    text_size said;
    snprintf(said.text, sizeof said.text, "%.*f %s", digits, size, units[unit]);
    return said;
}

text_span text_span_of(uint64_t milliseconds)
{
    static const struct {
        const char *name;
        uint64_t milliseconds;
    } units[] = {{"d", 86400000}, {"h", 3600000}, {"min", 60000}, {"s", 1000}, {"ms", 1}};
    size_t i = 0;
    while (units[i].milliseconds > 1 &&
           (milliseconds == 0 || milliseconds % units[i].milliseconds != 0))
        i++;
    return (text_span){milliseconds / units[i].milliseconds, units[i].name};
}
