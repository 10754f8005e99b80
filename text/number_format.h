/* Numbers as people and programs read them. */
#ifndef BLOOMERY_TEXT_NUMBER_FORMAT_H
#define BLOOMERY_TEXT_NUMBER_FORMAT_H

#include <stdint.h>

#define TEXT_NUMBER_SIZE 32

/* The shortest decimal that reads back as the same number: 0.0005, 1e-09. Returns `out`. */
const char *text_number(double number, char out[TEXT_NUMBER_SIZE]);

/* Six significant digits, for people: 0.00075, 1e-09. Returns `out`. */
const char *text_rounded(double number, char out[TEXT_NUMBER_SIZE]);

/* The same, and always with a point: 0.00075, 1.0e-09. Clients parse a value of INFO as a
 * floating-point number only if it has a point. Returns `out`. */
const char *text_with_point(double number, char out[TEXT_NUMBER_SIZE]);

/* Bytes, to three digits: "280 B", "11.8 MiB". */
typedef struct text_size {
    char text[24];
} text_size;
text_size text_size_of(uint64_t bytes);

/* A time in the largest unit that gives a whole number: 600000 ms is 10 min. */
typedef struct text_span {
    uint64_t number;
    const char *unit;
} text_span;
text_span text_span_of(uint64_t milliseconds);

#endif
