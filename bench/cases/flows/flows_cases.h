/*
 * bloomery-bench flows, in three parts.
 *
 * The papers' comparison: a stream of 908,522 flows, of which one in nine is alive at a time, goes
 * through a kBF as published and through our engine kbf, both of the papers' size, through the sBF
 * that they compare with, and through engine compact in a tenth and in a quarter of kbf's memory. A
 * flow is looked up before it is inserted, before each change of its state, and before it is deleted,
 * and the answers are compared with the truth.
 *
 * Speed: the packets per second of `bloomery flows` relative to a loop over libpcap that does nothing
 * with them, in the processor time of one process, alternating.
 *
 * Programs: `bloomery flows` and softflowd on the same capture, each keeping all of its flows, as
 * softflowd does when it reads a file.
 */
#ifndef BLOOMERY_BENCH_FLOWS_CASES_H
#define BLOOMERY_BENCH_FLOWS_CASES_H

#include "cli/core/json/json_write.h"

#include <bloomery/map.h>

#define FLOWS_PAPER_FLOWS 908522u
#define FLOWS_PACKETS UINT64_C(10000000)

/* ---- the papers' comparison ------------------------------------------------------------------ */

enum flows_structure {
    FLOWS_SBF,
    FLOWS_SBF_COUNTED, /* a cell is known again when its last flow is gone */
    FLOWS_PUBLISHED, /* kBF with the papers' codes and decoding */
    FLOWS_KBF, /* our engine */
    FLOWS_TENTH,
    FLOWS_QUARTER,
    FLOWS_STRUCTURES
};
enum { FLOWS_ERRORS = 5 }; /* 0.1 to 10^-5 */

extern const char *const flows_structure_names[FLOWS_STRUCTURES];

typedef struct flows_trial {
    double error; /* that it was planned for */
    uint64_t bytes;
    uint64_t absent, present; /* flows looked up */
    uint64_t false_positive; /* of the absent */
    uint64_t false_negative, incorrect; /* of the present */
} flows_trial;

typedef struct flows_stream {
    uint64_t flows; /* that have begun */
    uint64_t live; /* at a time */
    uint64_t first; /* the number of the first flow: another number is another stream */
} flows_stream;

/* With as many live flows as the comparison has. */
flows_stream flows_paper_stream(uint64_t flows, uint64_t first);

/* Fills a trial for each structure, whose counts must be 0. False after a message: memory ran
 * out. */
bool flows_compare(const flows_stream *stream, double p, flows_trial *trials);

typedef struct flows_paper_report {
    flows_stream stream;
    struct {
        double p;
        flows_trial trial[FLOWS_STRUCTURES];
    } row[FLOWS_ERRORS];
} flows_paper_report;

/* False after a message: memory ran out, or compact made more errors than it may: in a tenth of the
 * memory a share of p, in a quarter as many as kBF. */
bool bench_flows_paper(uint64_t flows, flows_paper_report *report);

/* ---- speed ----------------------------------------------------------------------------------- */

enum flows_program {
    FLOWS_BARE,
    FLOWS_WITH_COMPACT,
    FLOWS_WITH_KBF,
    FLOWS_WITH_EXACT,
    FLOWS_PROGRAMS
};
enum flows_capture { FLOWS_WHOLE, FLOWS_HEADS, FLOWS_CAPTURES };

extern const char *const flows_program_names[FLOWS_PROGRAMS];

typedef struct flows_speed_report {
    uint64_t packets, connections;
    double seconds[FLOWS_CAPTURES][FLOWS_PROGRAMS]; /* of processor time, for all packets */
    uint64_t bytes[FLOWS_CAPTURES]; /* of the captures */
    struct {
        uint64_t flows, live, table_bytes; /* begun; at most at a time, and their memory */
    } facts[FLOWS_PROGRAMS];
} flows_speed_report;

bool bench_flows_speed(uint64_t packets, flows_speed_report *report);

/* ---- programs -------------------------------------------------------------------------------- */

enum flows_row { FLOWS_BLOOMERY, FLOWS_SOFTFLOWD, FLOWS_ROWS };

typedef struct flows_programs_report {
    uint64_t packets;
    unsigned rounds;
    struct {
        bool there; /* the program was found */
        uint64_t flows;
        double processor; /* seconds; the median of the rounds */
        uint64_t peak_bytes, empty_bytes; /* resident; the latter with a capture of one packet */
    } row[FLOWS_ROWS];
    double error; /* promised by bloomery flows */
    uint64_t absent, false_positive; /* look-ups of new flows, and those that were found */
} flows_programs_report;

/* False after a message: a program failed, or they do not agree on the number of flows. */
bool bench_flows_programs(uint64_t packets, flows_programs_report *report);

/* ---- all ------------------------------------------------------------------------------------- */

typedef struct flows_report {
    flows_programs_report programs;
    flows_paper_report paper;
    flows_speed_report speed;
} flows_report;

void bench_flows_json(cli_json *json, const flows_report *report);
bool bench_flows_text(FILE *out, const flows_report *report);

#endif
