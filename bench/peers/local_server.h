/*
 * A private server: a program that is started on a free port of 127.0.0.1 for the duration of a
 * measurement, used over one connection, and stopped by its process id. It ends with this process,
 * however that ends.
 */
#ifndef BLOOMERY_BENCH_LOCAL_SERVER_H
#define BLOOMERY_BENCH_LOCAL_SERVER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct local_server {
    pid_t pid;
    int port, connection;
    uint64_t resident; /* bytes, at the start */
    void *peer; /* what speaks the protocol, once there is one; it owns the connection */
    void (*close_peer)(void *peer);
} local_server;

#define LOCAL_MOST_ARGUMENTS 24u

typedef struct local_program {
    const char *name; /* looked for in PATH, then in /usr/bin and /usr/local/bin */
    const char *const *arguments; /* NULL at the end */
    const char *port_option; /* follows the arguments, with the port */
    bool as_nobody; /* instead of root */
    /* Sets the peer, and asks the server for its process id, since another one may have taken the
     * port. */
    bool (*ask_pid)(local_server *server, uint64_t *pid);
} local_program;

bool local_installed(const char *name);

/* NULL, with a message on stderr, if it does not start. */
local_server *local_server_start(const local_program *program);
void local_server_stop(local_server *server);

/* By how much resident memory has grown since the start, and processor time in ns; 0: unknown. */
uint64_t local_growth(const local_server *server);
uint64_t local_processor_time(const local_server *server);

#endif
