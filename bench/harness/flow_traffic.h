/*
 * A capture of mixed traffic, the same for the same seed, to measure `bloomery flows` with:
 *
 *   85 %  TCP connections: handshake, data, end; 3,400 new ones per second. The number of data packets
 *         has a Pareto distribution (4 at least, about 19 on average). The next packet of a connection
 *         follows within a tenth of a millisecond (one in two of the data), after a round trip of 5
 *         to 45 ms, or (one in ten of the data) after a pause of up to 4 s. One in five connections
 *         is IPv6.
 *    9 %  UDP
 *    1 %  ARP
 *    4 %  a SYN flood with spoofed sources
 *    1 %  a port scan
 *
 * 100,000 packets per second over Ethernet, of 580 bytes on average. It is written in parts, each a
 * file of its own, as by `tcpdump -C`.
 */
#ifndef BLOOMERY_BENCH_FLOW_TRAFFIC_H
#define BLOOMERY_BENCH_FLOW_TRAFFIC_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct flow_traffic flow_traffic;

/* NULL if memory ran out. */
flow_traffic *flow_traffic_new(void);
void flow_traffic_free(flow_traffic *made);

/* Writes the next packets, whole to the first file unless it is NULL, and the first 128 bytes of
 * each to the second. False if a write failed or memory ran out. */
bool flow_traffic_write(flow_traffic *made, uint64_t packets, FILE *whole, FILE *heads);

uint64_t flow_traffic_connections(const flow_traffic *made); /* that have begun */

#endif
