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

/* The three parts; each writes its members. False after a message: memory ran out, a program failed,
 * the counts of flows do not agree, or compact made more errors than it may: in a tenth of the memory
 * a share of p, in a quarter as many as kBF. */
bool bench_flows_paper(uint64_t flows, cli_json *json);
bool bench_flows_speed(uint64_t packets, cli_json *json);
bool bench_flows_programs(uint64_t packets, cli_json *json);

#endif
