#include "module/core/number_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENOUGH_DIGITS 17 /* for any double */

const char *number_text(double number, char out[NUMBER_SIZE])
{
    for (int digits = 1; digits <= ENOUGH_DIGITS; digits++) {
        snprintf(out, NUMBER_SIZE, "%.*g", digits, number);
        if (strtod(out, NULL) == number)
            break;
    }
    return out;
}

const char *number_rounded(double number, char out[NUMBER_SIZE])
{
    char text[16];
    snprintf(text, sizeof text, "%.3g", number);
    size_t whole = strcspn(text, "e");
    const char *point = memchr(text, '.', whole) ? "" : ".0";
    snprintf(out, NUMBER_SIZE, "%.*s%s%s", (int)whole, text, point, text + whole);
    return out;
}
