/*
 * A server as a child of this program: starts it, waits until it answers, forwards signals, and
 * waits until it ends.
 */
#ifndef BLOOMERY_CLI_SERVE_CHILD_H
#define BLOOMERY_CLI_SERVE_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct serve_child {
    pid_t pid;
    uint16_t port;
    sigset_t awaited; /* SIGCHLD, and the signals that are forwarded */
    bool told; /* a signal was forwarded */
    bool ended;
    int how; /* valid then, from waitpid() */
    char version[64]; /* such as "redis-server 7.0.15", if known */
    int said; /* what it wrote to its standard streams; -1: they are ours */
} serve_child;

/* Starts args[0] with these arguments; it takes over the directory of `lock` (serve_dir.h).
 * `aside`: its standard streams go to a temporary file. False, with errno, on failure. */
bool serve_child_start(serve_child *child, char *const *args, uint16_t port, int lock, bool aside);

/* Waits until it answers on its port (true) or has ended (false). `loading` is called once if it
 * takes long to read its data. */
bool serve_child_ready(serve_child *child, void (*loading)(void));

/* Waits until it has ended. */
void serve_child_wait(serve_child *child);

#endif
