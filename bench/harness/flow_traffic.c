#include "bench/harness/flow_traffic.h"

#include "bench/harness/keys.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD = 128, WHOLE = 1600, PACKETS_PER_SECOND = 100000, LEAST_DATA = 4, MOST_DATA = 10000 };
/* Packets that are to be sent wait in a wheel, by the tenth of a millisecond. */
enum { SLOT = 100, SLOTS = 1 << 16 }; /* microseconds; 6.5 s */
#define NONE UINT32_MAX
enum { FIN = 1, SYN = 2, PSH = 8, ACK = 16 };

typedef struct connection {
    uint32_t client, server;
    uint16_t port;
    bool is_ipv6;
    uint8_t phase; /* SYN, SYN-ACK, ACK, data, FIN, FIN, ACK */
    uint32_t data; /* packets left */
    uint32_t next; /* in the same slot of the wheel, or free */
} connection;

struct flow_traffic {
    FILE *whole, *heads;
    uint64_t drawn; /* random numbers */
    uint64_t time; /* microseconds */
    connection *all;
    uint32_t count, room, free; /* connections used, allocated; the first that is free */
    uint32_t wheel[SLOTS]; /* the first connection of each slot */
    uint64_t slot; /* of the wheel: all before it have been sent */
    bool failed; /* memory ran out */
    uint64_t packets, connections; /* so far */
    uint8_t packet[WHOLE]; /* zero after the headers */
};

static uint64_t draw_traffic(flow_traffic *made)
{
    return bench_random(made->drawn++);
}

static void put_big16(uint8_t *at, unsigned value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

static void write_packet(const flow_traffic *made, FILE *out, unsigned length, unsigned most)
{
    uint32_t captured = length < most ? length : most;
    uint32_t header[4] = {(uint32_t)(1700000000 + made->time / 1000000),
                          (uint32_t)(made->time % 1000000), captured, length};
    fwrite(header, sizeof header, 1, out);
    fwrite(made->packet, captured, 1, out);
}

static void write_traffic(const flow_traffic *made, unsigned length)
{
    if (made->whole)
        write_packet(made, made->whole, length, WHOLE);
    write_packet(made, made->heads, length, HEAD);
}

/* The headers of an IP packet with `payload` bytes; returns where the payload begins. */
static uint8_t *put_ip(flow_traffic *made, bool is_ipv6, uint32_t source, uint32_t target,
                       unsigned protocol, unsigned payload)
{
    uint8_t *at = made->packet;
    memset(at, 0, HEAD);
    put_big16(at + 12, is_ipv6 ? 0x86dd : 0x0800);
    at += 14;
    if (is_ipv6) {
        at[0] = 0x60;
        put_big16(at + 4, payload);
        at[6] = (uint8_t)protocol;
        put_big16(at + 8, 0x2001);
        put_big16(at + 24, 0x2001);
        memcpy(at + 20, &source, 4);
        memcpy(at + 36, &target, 4);
        return at + 40;
    }
    at[0] = 0x45;
    put_big16(at + 2, 20 + payload);
    at[8] = 64;
    at[9] = (uint8_t)protocol;
    memcpy(at + 12, &source, 4);
    memcpy(at + 16, &target, 4);
    return at + 20;
}

static void put_tcp(flow_traffic *made, bool is_ipv6, uint32_t source, unsigned source_port,
                    uint32_t target, unsigned target_port, unsigned flags, unsigned data)
{
    uint8_t *tcp = put_ip(made, is_ipv6, source, target, 6, 20 + data);
    put_big16(tcp, source_port);
    put_big16(tcp + 2, target_port);
    tcp[12] = 5 << 4;
    tcp[13] = (uint8_t)flags;
    write_traffic(made, (unsigned)(tcp - made->packet) + 20 + data);
}

/* A connection that has ended, or a new one; NONE if memory ran out. */
static uint32_t take_connection(flow_traffic *made)
{
    uint32_t taken = made->free;
    if (taken != NONE) {
        made->free = made->all[taken].next;
        return taken;
    }
    if (made->count == made->room) {
        uint32_t room = made->room ? made->room * 2 : 4096;
        connection *wider = realloc(made->all, room * sizeof *wider);
        if (!wider) {
            made->failed = true;
            return NONE;
        }
        made->all = wider;
        made->room = room;
    }
    return made->count++;
}

static void send_later(flow_traffic *made, uint32_t which, uint64_t after)
{
    uint64_t slot = (made->time + after) / SLOT;
    uint32_t *first = &made->wheel[(slot > made->slot ? slot : made->slot) % SLOTS];
    made->all[which].next = *first;
    *first = which;
}

static void open_connection(flow_traffic *made)
{
    uint64_t random = draw_traffic(made);
    double u = ((double)(draw_traffic(made) >> 11) + 1) * 0x1p-53;
    double data = LEAST_DATA * pow(u, -1 / 1.2);
    uint32_t which = take_connection(made);
    if (which == NONE)
        return;
    made->all[which] = (connection){
        .client = (uint32_t)random,
        .server = 0x0a000000 | (uint32_t)(random >> 32) % 5000,
        .port = (uint16_t)(1024 + (random >> 48) % 60000),
        .is_ipv6 = draw_traffic(made) % 5 == 0,
        .data = data < MOST_DATA ? (uint32_t)data : MOST_DATA,
    };
    made->connections++;
    send_later(made, which, 0);
}

/* The time until the next packet, after one of this phase. */
static uint64_t draw_pause(flow_traffic *made, unsigned phase)
{
    uint64_t random = draw_traffic(made), kind = random % 10;
    if (phase == 3 && kind < 5)
        return (random >> 8) % 100;
    if (phase == 3 && kind < 6)
        return (random >> 8) % 4000000;
    return 5000 + (random >> 8) % 40000;
}

/* Sends the next packet that is due; false if there is none yet. */
static bool send_due(flow_traffic *made)
{
    static const uint8_t flags[] = {SYN, SYN | ACK, ACK, ACK | PSH, FIN | ACK, FIN | ACK, ACK};
    while (made->wheel[made->slot % SLOTS] == NONE) {
        if (made->slot >= made->time / SLOT)
            return false;
        made->slot++;
    }
    uint32_t *first = &made->wheel[made->slot % SLOTS], which = *first;
    connection *one = &made->all[which];
    uint64_t random = draw_traffic(made);
    unsigned phase = one->phase;
    bool back = phase == 1 || phase == 5 || (phase == 3 && (random & 2));
    unsigned data = phase != 3 ? 0 : random & 4 ? 1400 : 20 + (unsigned)(random >> 40) % 600;
    *first = one->next;
    put_tcp(made, one->is_ipv6, back ? one->server : one->client, back ? 443 : one->port,
            back ? one->client : one->server, back ? one->port : 443, flags[phase], data);
    if (phase != 3 || --one->data == 0)
        one->phase++;
    if (one->phase < sizeof flags) {
        send_later(made, which, draw_pause(made, phase));
    } else {
        one->next = made->free;
        made->free = which;
    }
    return true;
}

/* If no packet is due, a connection is opened: so there are as many as the rate allows. */
static void send_connection(flow_traffic *made)
{
    while (!made->failed && !send_due(made))
        open_connection(made);
}

static void send_other(flow_traffic *made, unsigned share)
{
    uint64_t random = draw_traffic(made);
    if (share < 9) {
        uint8_t *udp = put_ip(made, false, (uint32_t)random, (uint32_t)(random >> 32), 17, 100);
        put_big16(udp + 2, 53);
        write_traffic(made, 134);
    } else if (share < 10) {
        memset(made->packet, 0, HEAD);
        put_big16(made->packet + 12, 0x0806);
        write_traffic(made, 60);
    } else if (share < 14) {
        put_tcp(made, false, (uint32_t)random, random >> 48, 0x0a000063, 80, SYN, 0);
    } else {
        put_tcp(made, false, 0x0a0a0a0a, 40000, 0x0a010000 | (uint32_t)random % 256,
                (random >> 32) % 1000, SYN, 0);
    }
}

flow_traffic *flow_traffic_new(void)
{
    flow_traffic *made = malloc(sizeof *made);
    if (!made)
        return NULL;
    memset(made, 0, sizeof *made);
    memset(made->wheel, 0xff, sizeof made->wheel);
    made->free = NONE;
    return made;
}

void flow_traffic_free(flow_traffic *made)
{
    if (made)
        free(made->all);
    free(made);
}

uint64_t flow_traffic_connections(const flow_traffic *made)
{
    return made->connections;
}

static void write_file_header(FILE *out, uint32_t most)
{
    const uint32_t header[6] = {0xa1b2c3d4, 2 | 4 << 16, 0, 0, most, 1};
    fwrite(header, sizeof header, 1, out);
}

bool flow_traffic_write(flow_traffic *made, uint64_t packets, FILE *whole, FILE *heads)
{
    made->whole = whole;
    made->heads = heads;
    if (whole)
        write_file_header(whole, WHOLE);
    write_file_header(heads, HEAD);
    for (uint64_t end = made->packets + packets; made->packets < end && !made->failed;
         made->packets++) {
        unsigned share = draw_traffic(made) % 100;
        made->time = made->packets * 1000000 / PACKETS_PER_SECOND;
        if (share < 15)
            send_other(made, share);
        else
            send_connection(made);
    }
    bool written = (!whole || (fflush(whole) == 0 && !ferror(whole))) && fflush(heads) == 0;
    return written && !made->failed && !ferror(heads);
}
