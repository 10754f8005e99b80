/*
 * Captures: files, standard input and interfaces, read by libpcap. All packets go through one
 * parser into one tracker; what the parser does not take is counted.
 */
#ifndef BLOOMERY_APPS_FLOW_CAPTURE_H
#define BLOOMERY_APPS_FLOW_CAPTURE_H

#include "apps/flows/flow_tracker.h"

#include <signal.h>

typedef struct flow_capture_counts {
    uint64_t packets;
    uint64_t bytes; /* as sent */
    uint64_t parsed[FLOW_PARSED_KINDS];
    uint64_t files; /* or interfaces, that were opened */
    bool has_drops; /* of an interface, like the following */
    uint64_t dropped; /* Packets dropped by the system. */
    uint64_t dropped_by_interface; /* Packets dropped by the interface. */
} flow_capture_counts;

typedef struct flow_capture {
    const char *filter; /* an expression as tcpdump takes it, or NULL */
    uint64_t most; /* packets; 0: all */
    flow_tracker *tracker;
    flow_capture_counts counts;
    volatile sig_atomic_t *stop; /* a signal has come: its number */
    int link; /* of the open capture, like the following */
    bool prompt; /* a pipe */
    uint64_t flushed_at; /* microseconds */
    void *pcap; /* pcap_t */
} flow_capture;

/* Reads a file, or standard input for "-", to its end. CLI_GO_ON, or CLI_FAILED after a message: all
 * packets before the problem have been tracked. */
int flow_capture_file(flow_capture *capture, const char *path);

/* Begins to capture from an interface. */
int flow_capture_open_live(flow_capture *capture, const char *interface);
/* Takes the packets that have come, after waiting for up to a tenth of a second. CLI_GO_ON, or
 * CLI_FAILED after a message. *more: the capture goes on. */
int flow_capture_poll(flow_capture *capture, bool *more);
/* Reads the drop counts of an interface. */
void flow_capture_drops(flow_capture *capture);
void flow_capture_close(flow_capture *capture);

#endif
