/*
 * What can be measured. A case measures first and fills a report; the report is then written as
 * JSON, as a table, or as the README's table, so that no way of writing can disturb the measuring.
 */
#ifndef BLOOMERY_BENCH_BENCH_CASES_H
#define BLOOMERY_BENCH_BENCH_CASES_H

#include "bench/filter_candidates.h"
#include "cli/json.h"

typedef struct bench_settings {
    uint64_t items; /* keys added, keys looked up that are there, keys looked up that are not */
    double error;
    size_t batch;
    unsigned rounds;
} bench_settings;

/* ---- hash: ns per key by length ------------------------------------------------------------ */

enum { HASH_LENGTHS = 5 };

typedef struct hash_report {
    unsigned rounds;
    struct {
        unsigned bytes;
        bench_time one, batch;
    } lengths[HASH_LENGTHS];
} hash_report;

bool bench_hash(const bench_settings *settings, hash_report *report);
void bench_hash_json(cli_json *json, const hash_report *report);
bool bench_hash_text(FILE *out, const hash_report *report);

/* ---- filter: speed, size and error --------------------------------------------------------- */

enum { MOST_FILTERS = 5 };

typedef struct filter_report {
    bench_settings settings;
    bool compared; /* all that there is, or the library's filter alone */
    size_t count;
    struct {
        const filter_candidate *who;
        filter_facts facts;
        bench_result result;
        double false_positive; /* measured */
    } filters[MOST_FILTERS];
} filter_report;

/* False, with a message on stderr, when memory ran out or an answer was wrong: a key that was added
 * is denied, or the error is more than five standard deviations from the predicted one. */
bool bench_filters(const bench_settings *settings, bool compare, filter_report *report);
void bench_filter_json(cli_json *json, const filter_report *report); /* one engine, flat */
void bench_filters_json(cli_json *json, const filter_report *report); /* one object a filter */
bool bench_filters_text(FILE *out, const filter_report *report);
bool bench_filters_markdown(FILE *out, const filter_report *report);

#endif
