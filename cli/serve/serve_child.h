/*
 * A server as a child of this program: started, waited for until it answers, told the signals that
 * this program gets, and waited for until it ends.
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
    sigset_t awaited; /* SIGCHLD, and the signals that are passed on */
    bool told; /* one was passed on */
    bool ended;
    int how; /* then, as waitpid() tells */
    char version[64]; /* such as "redis-server 7.0.15", as far as it tells */
    int said; /* what it has written to its standard streams; -1: they are ours */
} serve_child;

/* Starts args[0] with these arguments; it holds the folder of `lock` (serve_folder.h). `aside`:
 * what it writes to its standard streams is put aside. False, with errno, where that fails. */
bool serve_child_start(serve_child *child, char *const *args, uint16_t port, int lock, bool aside);

/* Waits until it answers on its port (true) or has ended (false). `loading` is called once should
 * it take its time to read its data. */
bool serve_child_ready(serve_child *child, void (*loading)(void));

/* Waits until it has ended. */
void serve_child_wait(serve_child *child);

#endif
