#include "bench/peers/local_server.h"

#include "cli/core/files/program_files.h"
#include "cli/core/output/output.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TRIES 5 /* attempts with other ports, if one was taken meanwhile */
#define WAITS 500 /* of 10 ms each, until the server listens */
#define PATIENCE 60 /* seconds; a server that takes longer to answer has failed */

bool local_installed(const char *name)
{
    cli_path path;
    return cli_find_in_path(name, &path);
}

static struct sockaddr_in loopback_address(int port)
{
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

/* A port that is currently free, or -1. */
static int free_port(void)
{
    struct sockaddr_in address = loopback_address(0);
    socklen_t len = sizeof address;
    int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), port = -1;
    if (probe >= 0 && bind(probe, (struct sockaddr *)&address, len) == 0 &&
        getsockname(probe, (struct sockaddr *)&address, &len) == 0)
        port = ntohs(address.sin_port);
    if (probe >= 0)
        close(probe);
    return port;
}

/* In the child. The user is changed before prctl(), because changing it afterwards would cancel the
 * signal. */
static _Noreturn void become_program(const local_program *program, char *path, pid_t parent,
                                     int port)
{
    char port_text[16], *words[LOCAL_MOST_ARGUMENTS + 4] = {path};
    const struct passwd *nobody = program->as_nobody && geteuid() == 0 ? getpwnam("nobody") : NULL;
    if (nobody && (setgid(nobody->pw_gid) != 0 || setuid(nobody->pw_uid) != 0))
        _exit(127);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
        _exit(127);
    FILE *gone = freopen("/dev/null", "r", stdin);
    gone = gone ? freopen("/dev/null", "w", stdout) : NULL;
    gone = gone ? freopen("/dev/null", "w", stderr) : NULL;
    size_t count = 1;
    for (const char *const *at = program->arguments; *at && count <= LOCAL_MOST_ARGUMENTS; at++)
        words[count++] = (char *)*at; /* execv() changes none of them */
    snprintf(port_text, sizeof port_text, "%d", port);
    words[count++] = (char *)program->port_option;
    words[count] = port_text;
    if (gone)
        execv(path, words);
    _exit(127);
}

static void end_process(local_server *server)
{
    if (server->pid <= 0)
        return;
    kill(server->pid, SIGTERM);
    while (waitpid(server->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    server->pid = 0;
}

static void disconnect(local_server *server)
{
    if (server->peer)
        server->close_peer(server->peer);
    else if (server->connection >= 0)
        close(server->connection);
    server->peer = NULL;
    server->connection = -1;
}

/* Waits until the server listens, and connects. */
static bool connect_to_server(local_server *server)
{
    const struct timespec moment = {.tv_nsec = 10000000};
    const struct timeval patience = {.tv_sec = PATIENCE};
    struct sockaddr_in address = loopback_address(server->port);
    int one = 1;
    for (int i = 0; i < WAITS; i++) {
        if (waitpid(server->pid, NULL, WNOHANG) == server->pid) {
            server->pid = 0; /* it has ended: the port was taken, or it cannot run */
            return false;
        }
        server->connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (server->connection >= 0 &&
            connect(server->connection, (struct sockaddr *)&address, sizeof address) == 0)
            return setsockopt(server->connection, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) ==
                       0 &&
                   setsockopt(server->connection, SOL_SOCKET, SO_RCVTIMEO, &patience,
                              sizeof patience) == 0;
        disconnect(server);
        nanosleep(&moment, NULL);
    }
    return false;
}

/* Checks that the process that listens there is the one that was started. */
static bool is_ours(local_server *server, const local_program *program)
{
    uint64_t pid;
    return program->ask_pid(server, &pid) && pid == (uint64_t)server->pid;
}

static bool try_start(local_server *server, const local_program *program, char *path)
{
    pid_t parent = getpid();
    server->port = free_port();
    if (server->port < 0)
        return false;
    fflush(NULL);
    server->pid = fork();
    if (server->pid == 0)
        become_program(program, path, parent, server->port);
    if (server->pid > 0 && connect_to_server(server) && is_ours(server, program))
        return true;
    disconnect(server);
    end_process(server);
    return false;
}

static uint64_t resident_bytes(const local_server *server)
{
    char line[256];
    uint64_t kilobytes = 0;
    snprintf(line, sizeof line, "/proc/%ld/status", (long)server->pid);
    FILE *status = fopen(line, "re");
    while (status && fgets(line, sizeof line, status))
        if (strncmp(line, "VmRSS:", 6) == 0)
            kilobytes = strtoull(line + 6, NULL, 10);
    if (status)
        fclose(status);
    return kilobytes * 1024;
}

local_server *local_server_start(const local_program *program)
{
    cli_path path;
    local_server *server = calloc(1, sizeof *server);
    if (!server)
        return NULL;
    server->connection = -1;
    bool started = false;
    if (cli_find_in_path(program->name, &path))
        for (int i = 0; i < TRIES && !started; i++)
            started = try_start(server, program, path.text);
    if (started) {
        server->resident = resident_bytes(server);
        return server;
    }
    cli_fail("%s does not start", program->name);
    local_server_stop(server);
    return NULL;
}

void local_server_stop(local_server *server)
{
    disconnect(server);
    end_process(server);
    free(server);
}

uint64_t local_processor_time(const local_server *server)
{
    clockid_t clock;
    struct timespec spent;
    if (clock_getcpuclockid(server->pid, &clock) != 0 || clock_gettime(clock, &spent) != 0)
        return 0;
    return (uint64_t)spent.tv_sec * 1000000000u + (uint64_t)spent.tv_nsec;
}

uint64_t local_growth(const local_server *server)
{
    uint64_t now = resident_bytes(server);
    return now > server->resident ? now - server->resident : 0;
}
