/*
 * The cases. A case first measures and fills a report; afterwards the report is written as JSON or as
 * a table, so that writing does not disturb the measurement. The tables of README.md and
 * doc/benchmarks.md are made from the JSON (bench/tables/).
 */
#ifndef BLOOMERY_BENCH_BENCH_CASES_H
#define BLOOMERY_BENCH_BENCH_CASES_H

#include "bench/cases/filter/filter_candidates.h"
#include "bench/cases/index/index_candidates.h"
#include "bench/cases/map/map_candidates.h"
#include "bench/cases/map/maplet_candidates.h"
#include "bench/cases/map/memcached_candidates.h"
#include "cli/core/json/json_write.h"

typedef struct bench_settings {
    uint64_t items; /* keys added, present keys looked up, absent keys looked up */
    double error;
    size_t batch;
    unsigned rounds;
    unsigned value_bits; /* of maplet, like the following */
    bool grow; /* may grow; else it is planned for all keys */
    bool compare; /* with an exact hash table */
    map_settings map;
    index_settings index;
    bry_engine filter_engine; /* of a filter that is measured alone */
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

enum { MOST_FILTERS = 7 };

typedef struct filter_report {
    bench_settings settings;
    bool compared; /* all candidates, or only the library's filter */
    size_t count;
    struct {
        const filter_candidate *who;
        filter_facts facts;
        bench_result result;
        double false_positive; /* measured */
    } filters[MOST_FILTERS];
} filter_report;

/* False, with a message on stderr, if memory ran out or an answer was wrong: an added key is
 * reported absent, or the error is more than five standard deviations from the predicted one. */
bool bench_filters(const bench_settings *settings, bool compare, filter_report *report);
void bench_filter_json(cli_json *json, const filter_report *report); /* one engine, flat */
void bench_filters_json(cli_json *json, const filter_report *report); /* one object per filter */
bool bench_filters_text(FILE *out, const filter_report *report);

/* ---- maplet: speed, size and error --------------------------------------------------------- */

typedef struct maplet_report {
    bench_settings settings;
    uint64_t bytes; /* with all entries, like the following */
    double bits_per_entry;
    double load; /* share of the allocated bits that hold entries; the rest is directory or free */
    double predicted_error;
    double false_positive; /* measured: share of absent keys that are found */
    double collided; /* measured: share of entries whose fingerprint belongs to several keys */
    unsigned max_step; /* most entries moved by one insertion */
    double bits_per_entry_mean, bits_per_entry_max; /* while growing from half to all */
    double relative_max; /* most bytes meanwhile, relative to a table made for them */
    bench_time time[MAPLET_PHASES];
    uint64_t exact_bytes; /* 0: not compared */
    bench_time exact_time[MAPLET_PHASES];
} maplet_report;

/* False, with a message on stderr, when memory ran out or an answer was wrong. */
bool bench_maplet(const bench_settings *settings, maplet_report *report);
void bench_maplet_json(cli_json *json, const maplet_report *report);
bool bench_maplet_text(FILE *out, const maplet_report *report);

/* ---- map: speed, size and error by kind ---------------------------------------------------- */

typedef struct map_report {
    bench_settings settings;
    bry_map_shape shape;
    map_record record;
    bench_time time[MAP_PHASES];
} map_report;

/* False, with a message on stderr, if memory ran out or an answer broke the promise. */
bool bench_map(const bench_settings *settings, map_report *report);
void bench_map_json(cli_json *json, const map_report *report);
bool bench_map_text(FILE *out, const map_report *report);

/* Errors from a record: false positives as a share of the absent keys, the others as a share of the
 * present ones. */
bry_map_errors map_errors_seen(const map_record *record, uint64_t items);

/* One of several maps, without the results of changes. */
void map_row_json(cli_json *json, const map_report *report);

/* Makes pairs for the settings. False after a message; then there is nothing to free. */
bool map_data_for(map_data *data, const bench_settings *settings);

/* Measures maps in interleaved rounds, each on its pairs and with the settings in its report; all
 * have the same number of keys. False after a message. */
bool map_reports_measure(const map_data *const *data, map_report *reports, size_t count,
                         unsigned skips);

/* ---- maps: the engines side by side, and the number of values -------------------------------- */

enum map_row { MAPS_COMPACT, MAPS_TUNED, MAPS_PAPER, MAPS_ROWS };
/* Rows with few values, and with many. */
enum map_values_row {
    MAPS_COMPACT_FEW,
    MAPS_COMPACT_MANY,
    MAPS_KBF_FEW,
    MAPS_KBF_MANY,
    MAPS_VALUES_ROWS
};

typedef struct maps_report {
    bench_settings settings;
    map_report row[MAPS_ROWS];
    map_report values_row[MAPS_VALUES_ROWS];
} maps_report;

bool bench_maps(const bench_settings *settings, maps_report *report);
void bench_maps_json(cli_json *json, const maps_report *report);
bool bench_maps_text(FILE *out, const maps_report *report);

/* ---- memcached: a map in the process against one behind a socket ----------------------------- */

enum { REMOTE_ROWS = 3 }; /* memcached, kbf, compact */

typedef struct remote_report {
    bench_settings settings;
    bool there; /* false: memcached is not installed, and nothing was measured */
    char version[32];
    kbf_workload_facts facts;
    uint64_t asked; /* keys of each phase but the first */
    struct {
        const char *name;
        double bytes_per_pair; /* by their own count */
        double resident_per_pair; /* growth of the server's memory; only memcached */
        double wrong; /* share of present keys answered with a wrong value or none */
        double false_positive;
        bench_time time[REMOTE_PHASES];
    } row[REMOTE_ROWS];
} remote_report;

bool bench_remote(const bench_settings *settings, remote_report *report);
void bench_remote_json(cli_json *json, const remote_report *report);
bool bench_remote_text(FILE *out, const remote_report *report);

/* ---- index: speed, size and error ------------------------------------------------------------ */

typedef struct index_report {
    bench_settings settings;
    bool exact; /* an exact hash table instead of the library's index */
    bry_index_shape shape;
    uint64_t asked; /* elements of each phase but the first and the last */
    index_record record;
    bench_time time[INDEX_PHASES];
} index_report;

enum { INDEX_MOST_ROWS = 8 };

/* Fills *settings, in which all but the engine is set. CLI_GO_ON, or the exit code after a
 * message. */
int index_settings_read(const char *engine, index_settings *settings);

/* False, with a message on stderr, when memory ran out or an answer was wrong. */
bool bench_index(const bench_settings *settings, index_report *report);
void bench_index_json(cli_json *json, const index_report *report);
bool bench_index_text(FILE *out, const index_report *report);

/* Sets the shape in the report and makes elements for the settings. False after a message. */
bool index_plan_for(index_report *report);
bool index_data_for(index_data *data, const index_settings *settings);

/* Measures indexes in interleaved rounds, each on its elements and with the settings in its
 * report. */
bool index_reports_measure(const index_data *const *data, index_report *reports, size_t count,
                           bool reinsert);

/* One of several indexes. */
void index_row_json(cli_json *json, const index_report *report);

/* ---- indexes: groups side by side, and errors under control
 * ----------------------------------- */

/* The first rows are groups of dba. */
enum { INDEXES_GROUPS = 5, INDEXES_COMPACT = INDEXES_GROUPS, INDEXES_EXACT, INDEXES_ROWS };
enum indexes_many { INDEXES_MANY_DBA, INDEXES_MANY_COMPACT, INDEXES_MANY_ROWS };
enum indexes_control {
    INDEXES_UNCONTROLLED,
    INDEXES_LARGER,
    INDEXES_TIGHTER,
    INDEXES_SEGMENTED,
    INDEXES_CONTROLS
};

/* The result for an index with more units than planned. */
typedef struct control_report {
    uint32_t units;
    uint64_t bytes, rebuilds, reinserted;
    double full_error, estimated_error, observed;
    double ns_reinsert; /* of one element; NAN if there was none */
} control_report;

typedef struct indexes_report {
    bench_settings settings;
    index_report row[INDEXES_ROWS];
    index_report many[INDEXES_MANY_ROWS];
    uint32_t planned, grown; /* units */
    control_report control[INDEXES_CONTROLS];
} indexes_report;

bool bench_indexes(const bench_settings *settings, indexes_report *report);
void bench_indexes_json(cli_json *json, const indexes_report *report);
bool bench_indexes_text(FILE *out, const indexes_report *report);

#endif
