/*
 * A private server: a program that is started on a free port of 127.0.0.1 for the duration of a
 * measurement, used over one connection, and stopped by its process id. It ends with this process,
 * however that ends.
 *
 * Functions return false if the connection failed or the answer is invalid.
 */
#ifndef BLOOMERY_BENCH_LOCAL_SERVER_H
#define BLOOMERY_BENCH_LOCAL_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct local_server {
    pid_t pid;
    int port, connection;
    char *out, *in;
    size_t out_len, in_at, in_len, in_room; /* in: read up to in_at, received up to in_len */
} local_server;

#define LOCAL_MOST_ARGUMENTS 24u

typedef struct local_program {
    const char *name; /* looked for in PATH, then in /usr/bin and /usr/local/bin */
    const char *const *arguments; /* NULL at the end */
    const char *port_option; /* follows the arguments, with the port */
    bool as_nobody; /* instead of root */
    /* Asks the server for its process id, since another one may have taken the port. */
    bool (*ask_pid)(local_server *server, uint64_t *pid);
} local_program;

bool local_installed(const char *name);

/* NULL, with a message on stderr, if it does not start. */
local_server *local_server_start(const local_program *program);
void local_server_stop(local_server *server);

/* Resident memory, and processor time in ns; 0: unknown. */
uint64_t local_resident(const local_server *server);
uint64_t local_processor_time(const local_server *server);

/* Commands are collected and sent together; a single addition is at most LOCAL_MOST_BYTES long. */
#define LOCAL_MOST_BYTES ((size_t)1 << 17)
bool local_add(local_server *server, const void *bytes, size_t len);
bool local_add_text(local_server *server, const char *text);
/* A new answer begins with this: what was received before is dropped. */
bool local_send(local_server *server);

/* The next line of the answer: *len bytes from in + *start, without the \r\n. The buffer may move
 * with the next call. */
bool local_read_line(local_server *server, size_t *start, size_t *len);
/* This many bytes and \r\n. */
bool local_read_block(local_server *server, size_t len, size_t *start);
bool local_line_is(const local_server *server, size_t start, size_t len, const char *text);

#endif
