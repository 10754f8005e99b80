/* isdigit(), whatever the locale. */
#ifndef BLOOMERY_TEXT_DIGIT_H
#define BLOOMERY_TEXT_DIGIT_H

#include <stdbool.h>

static inline bool text_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

#endif
