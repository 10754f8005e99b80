/* Numbers as text: what INFO, replies and replicated commands show. */
#ifndef BLOOMERY_MODULE_NUMBER_TEXT_H
#define BLOOMERY_MODULE_NUMBER_TEXT_H

#define NUMBER_SIZE 32

/* The shortest decimal that reads back as the same number: 0.0005, 1e-09. Returns `out`. */
const char *number_text(double number, char out[NUMBER_SIZE]);

/* With three digits and always with a point: 0.01, 1.0e-06. Clients take a value of INFO for a
 * number with a fraction only where they see a point. Returns `out`. */
const char *number_rounded(double number, char out[NUMBER_SIZE]);

#endif
