/* A report for people. */
#ifndef BLOOMERY_BENCH_BENCH_TABLE_H
#define BLOOMERY_BENCH_BENCH_TABLE_H

#include <stdbool.h>
#include <stdio.h>

/* Prints the JSON of a case, which is changed: a line for each member, under its full name, and the
 * elements of an array side by side. False when memory ran out. */
bool bench_table(char *json, FILE *out);

#endif
