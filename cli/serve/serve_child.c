/*
 * Signals. A terminal sends Ctrl-C to every process of the foreground group, and a server that gets
 * it twice exits without a clean shutdown. So the server has a process group of its own and gets
 * only what this program forwards: SIGINT and SIGTERM unchanged, and SIGHUP (the terminal was
 * closed), which servers ignore, as SIGTERM. A second signal is forwarded too, which forces the
 * server to end. If this program is killed, the kernel sends the server a SIGTERM.
 *
 * These signals are blocked and received with sigtimedwait(), so no handler is needed and no signal
 * is lost between a check and a wait.
 */
#include "cli/serve/serve_child.h"

#include "cli/serve/serve_dir.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LOOK_EVERY_MS 20
#define LOOKS_BEFORE_SAYING 50

/* ---- start --------------------------------------------------------------------------------- */

/* Signals that the caller of this program ignores (nohup) stay ignored. */
static void await_unless_ignored(sigset_t *set, int number)
{
    struct sigaction now;
    if (sigaction(number, NULL, &now) == 0 && now.sa_handler != SIG_IGN)
        sigaddset(set, number);
}

/* In the child. If the server cannot be started, errno is sent through the pipe. */
static void become_server(const serve_child *child, char *const *args, const sigset_t *mask,
                          pid_t parent, int lock, int report)
{
    setpgid(0, 0);
    sigprocmask(SIG_SETMASK, mask, NULL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) /* the parent died before prctl() */
        _exit(1);
    if (serve_dir_hand_on(lock) && (child->said < 0 || (dup2(child->said, STDOUT_FILENO) >= 0 &&
                                                        dup2(child->said, STDERR_FILENO) >= 0)))
        execv(args[0], args);
    int problem = errno;
    ssize_t written = write(report, &problem, sizeof problem);
    _exit(written > 0 ? 127 : 126);
}

/* If no such file can be created, the streams stay as they are. */
bool serve_child_start(serve_child *child, char *const *args, uint16_t port, int lock, bool aside)
{
    sigset_t before;
    int report[2], problem = 0;
    *child = (serve_child){.port = port, .said = -1};
    if (aside)
        child->said = memfd_create("said", MFD_CLOEXEC);
    signal(SIGCHLD, SIG_DFL); /* if the caller ignores it, no end would be noticed */
    sigemptyset(&child->awaited);
    sigaddset(&child->awaited, SIGCHLD);
    await_unless_ignored(&child->awaited, SIGINT);
    await_unless_ignored(&child->awaited, SIGTERM);
    await_unless_ignored(&child->awaited, SIGHUP);
    if (pipe2(report, O_CLOEXEC) != 0)
        return false;
    sigprocmask(SIG_BLOCK, &child->awaited, &before);
    pid_t parent = getpid();
    child->pid = fork();
    if (child->pid == 0)
        become_server(child, args, &before, parent, lock, report[1]);
    if (child->pid < 0)
        problem = errno;
    close(report[1]);
    if (child->pid > 0 && read(report[0], &problem, sizeof problem) == (ssize_t)sizeof problem)
        waitpid(child->pid, NULL, 0);
    close(report[0]);
    errno = problem;
    return problem == 0;
}

/* ---- signals and the end ------------------------------------------------------------------- */

static void take_signal(serve_child *child, int number)
{
    if (number == SIGCHLD) {
        if (waitpid(child->pid, &child->how, WNOHANG) == child->pid)
            child->ended = true;
    } else if (number > 0) {
        child->told = true;
        kill(child->pid, number == SIGHUP ? SIGTERM : number);
    }
}

void serve_child_wait(serve_child *child)
{
    while (!child->ended)
        take_signal(child, sigwaitinfo(&child->awaited, NULL));
}

/* ---- is it ready? -------------------------------------------------------------------------- */

typedef enum state { SILENT, LOADING, READY } state;

static int connect_to_port(uint16_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct timeval patience = {.tv_sec = 1};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int line = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (line < 0)
        return -1;
    setsockopt(line, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (connect(line, (struct sockaddr *)&address, sizeof address) == 0)
        return line;
    close(line);
    return -1;
}

/* The replies to all three commands, or what arrived in time. */
static void converse_with_server(int line, char *text, size_t size)
{
    static const char questions[] = "PING\r\nINFO server\r\nQUIT\r\n";
    size_t len = 0;
    if (write(line, questions, sizeof questions - 1) == (ssize_t)(sizeof questions - 1))
        while (len < size - 1) {
            ssize_t got = read(line, text + len, size - 1 - len);
            if (got <= 0)
                break;
            len += (size_t)got;
        }
    text[len] = 0;
}

static const char *info_field(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    return at ? at + strlen(name) : NULL;
}

/* A server with a password or ACL refuses INFO from clients that have not logged in. */
static bool is_refusal(const char *text)
{
    if (strncmp(text, "+PONG\r\n", 7) == 0)
        text += 7;
    return strncmp(text, "-NOAUTH", 7) == 0 || strncmp(text, "-NOPERM", 7) == 0 ||
           strncmp(text, "-ERR unknown", 12) == 0;
}

/* The process id shows whether our server answers, and not another one that took the port a moment
 * before. A server that does not report it is assumed to be ours. */
static state ask_server(serve_child *child)
{
    char text[16384];
    int line = connect_to_port(child->port);
    if (line < 0)
        return SILENT;
    converse_with_server(line, text, sizeof text);
    close(line);
    if (is_refusal(text))
        return READY;
    const char *pid = info_field(text, "\nprocess_id:");
    if (!pid || strtol(pid, NULL, 10) != (long)child->pid)
        return SILENT;
    const char *valkey = info_field(text, "\nvalkey_version:"),
               *redis = info_field(text, "\nredis_version:");
    const char *version = valkey ? valkey : redis;
    if (version)
        snprintf(child->version, sizeof child->version, "%s %.*s",
                 valkey ? "valkey-server" : "redis-server", (int)strcspn(version, "\r\n"), version);
    return strncmp(text, "-LOADING", 8) == 0 ? LOADING : READY;
}

bool serve_child_ready(serve_child *child, void (*loading)(void))
{
    const struct timespec moment = {.tv_nsec = LOOK_EVERY_MS * 1000000L};
    int looks = 0;
    while (!child->ended) {
        state now = ask_server(child);
        if (now == READY)
            return true;
        if (now == LOADING && ++looks == LOOKS_BEFORE_SAYING)
            loading();
        take_signal(child, sigtimedwait(&child->awaited, NULL, &moment));
    }
    return false;
}
