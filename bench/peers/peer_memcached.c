#include "bench/peers/peer_memcached.h"

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

#define OUT_BYTES ((size_t)1 << 17) /* more than the longest command with a value */
#define IN_BYTES ((size_t)1 << 17) /* grows */
#define TRIES 5 /* attempts with other ports, if one was taken meanwhile */
#define WAITS 500 /* of 10 ms each, until the server listens */
#define PATIENCE 60 /* seconds; a server that takes longer to answer has failed */

struct memcached {
    pid_t pid;
    int port, connection;
    char *out, *in;
    size_t out_len, in_at, in_len, in_room; /* in: read up to in_at, received up to in_len */
};

/* ---- the process --------------------------------------------------------------------------- */

/* Finds the program's path, or returns false. */
static bool find_program(char *path, size_t size)
{
    const char *folders = getenv("PATH");
    char all[4096];
    snprintf(all, sizeof all, "%s:/usr/bin:/usr/local/bin", folders ? folders : "");
    for (char *rest = all, *folder; (folder = strsep(&rest, ":"));)
        if (*folder && snprintf(path, size, "%s/memcached", folder) < (int)size &&
            access(path, X_OK) == 0)
            return true;
    return false;
}

bool memcached_installed(void)
{
    char path[4096];
    return find_program(path, sizeof path);
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

/* In the child. Runs as nobody instead of root; the user is changed before prctl(), because
 * changing it afterwards would cancel the signal. */
static _Noreturn void become_memcached(const char *path, pid_t parent, int port, uint64_t megabytes)
{
    char port_text[16], memory_text[24];
    const struct passwd *nobody = geteuid() == 0 ? getpwnam("nobody") : NULL;
    if (nobody && (setgid(nobody->pw_gid) != 0 || setuid(nobody->pw_uid) != 0))
        _exit(127);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
        _exit(127);
    FILE *gone = freopen("/dev/null", "r", stdin);
    gone = gone ? freopen("/dev/null", "w", stdout) : NULL;
    gone = gone ? freopen("/dev/null", "w", stderr) : NULL;
    snprintf(port_text, sizeof port_text, "%d", port);
    snprintf(memory_text, sizeof memory_text, "%llu", (unsigned long long)megabytes);
    if (gone)
        execl(path, path, "-l", "127.0.0.1", "-p", port_text, "-U", "0", "-m", memory_text, "-t",
              "1", "-c", "16", (char *)NULL);
    _exit(127);
}

static void end_process(memcached *server)
{
    if (server->pid <= 0)
        return;
    kill(server->pid, SIGTERM);
    while (waitpid(server->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    server->pid = 0;
}

/* Waits until the server listens, and connects. */
static bool connect_to_memcached(memcached *server)
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
        if (server->connection >= 0)
            close(server->connection);
        server->connection = -1;
        nanosleep(&moment, NULL);
    }
    return false;
}

/* Checks that the process that listens there is the one that was started. */
static bool is_ours(memcached *server)
{
    uint64_t pid;
    return memcached_stat_count(server, "pid", &pid) && pid == (uint64_t)server->pid;
}

static bool try_start(memcached *server, const char *path, uint64_t megabytes)
{
    pid_t parent = getpid();
    server->port = free_port();
    if (server->port < 0)
        return false;
    fflush(NULL);
    server->pid = fork();
    if (server->pid == 0)
        become_memcached(path, parent, server->port, megabytes);
    if (server->pid > 0 && connect_to_memcached(server) && is_ours(server))
        return true;
    if (server->connection >= 0)
        close(server->connection);
    server->connection = -1;
    end_process(server);
    return false;
}

memcached *memcached_start(uint64_t megabytes)
{
    char path[4096];
    memcached *server = calloc(1, sizeof *server);
    if (!server)
        return NULL;
    server->connection = -1;
    server->in_room = IN_BYTES;
    server->out = malloc(OUT_BYTES);
    server->in = malloc(IN_BYTES);
    bool started = false;
    if (server->out && server->in && find_program(path, sizeof path))
        for (int i = 0; i < TRIES && !started; i++)
            started = try_start(server, path, megabytes);
    if (started)
        return server;
    cli_fail(BRY_E_IO, "memcached does not start");
    memcached_stop(server);
    return NULL;
}

void memcached_stop(memcached *server)
{
    if (server->connection >= 0)
        close(server->connection);
    end_process(server);
    free(server->out);
    free(server->in);
    free(server);
}

uint64_t memcached_resident(const memcached *server)
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

/* ---- bytes out and in ---------------------------------------------------------------------- */

static bool flush_commands(memcached *server)
{
    size_t sent = 0;
    while (sent < server->out_len) {
        ssize_t n =
            send(server->connection, server->out + sent, server->out_len - sent, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR)
            return false;
        sent += n > 0 ? (size_t)n : 0;
    }
    server->out_len = 0;
    server->in_at = server->in_len = 0; /* a new answer begins */
    return true;
}

/* No single addition is larger than the buffer. */
static bool add_to_commands(memcached *server, const void *bytes, size_t len)
{
    if (len > OUT_BYTES - server->out_len && !flush_commands(server))
        return false;
    memcpy(server->out + server->out_len, bytes, len);
    server->out_len += len;
    return true;
}

static bool add_text(memcached *server, const char *text)
{
    return add_to_commands(server, text, strlen(text));
}

static bool receive_reply(memcached *server)
{
    if (server->in_len == server->in_room) {
        size_t room = server->in_room + IN_BYTES;
        char *more = realloc(server->in, room);
        if (!more)
            return false;
        server->in = more;
        server->in_room = room;
    }
    ssize_t n;
    do
        n = recv(server->connection, server->in + server->in_len, server->in_room - server->in_len,
                 0);
    while (n < 0 && errno == EINTR);
    if (n <= 0)
        return false;
    server->in_len += (size_t)n;
    return true;
}

/* Reads the next line of the answer: *len bytes from *start, without the \r\n. */
static bool read_line(memcached *server, size_t *start, size_t *len)
{
    size_t from = server->in_at;
    for (;;) {
        const char *end = memchr(server->in + from, '\n', server->in_len - from);
        if (end) {
            *start = server->in_at;
            server->in_at = (size_t)(end - server->in) + 1;
            *len = server->in_at - *start;
            if (*len < 2 || end[-1] != '\r')
                return false;
            *len -= 2;
            return true;
        }
        from = server->in_len;
        if (!receive_reply(server))
            return false;
    }
}

/* Reads this many bytes and \r\n. */
static bool read_block(memcached *server, size_t len, size_t *start)
{
    while (server->in_len - server->in_at < len + 2)
        if (!receive_reply(server))
            return false;
    *start = server->in_at;
    server->in_at += len + 2;
    return memcmp(server->in + *start + len, "\r\n", 2) == 0;
}

static bool line_is(const memcached *server, size_t start, size_t len, const char *text)
{
    return len == strlen(text) && memcmp(server->in + start, text, len) == 0;
}

static bool expect_line(memcached *server, const char *text)
{
    size_t start, len;
    return read_line(server, &start, &len) && line_is(server, start, len, text);
}

/* ---- commands ------------------------------------------------------------------------------ */

bool memcached_set(memcached *server, const kbf_text *key, const kbf_text *value, bool wait)
{
    char rest[64];
    snprintf(rest, sizeof rest, " 0 0 %zu%s\r\n", value->len, wait ? "" : " noreply");
    return add_text(server, "set ") && add_to_commands(server, key->bytes, key->len) &&
           add_text(server, rest) && add_to_commands(server, value->bytes, value->len) &&
           add_text(server, "\r\n") &&
           (!wait || (flush_commands(server) && expect_line(server, "STORED")));
}

bool memcached_settle(memcached *server)
{
    size_t start, len;
    return add_text(server, "version\r\n") && flush_commands(server) &&
           read_line(server, &start, &len) && len > 8 &&
           memcmp(server->in + start, "VERSION ", 8) == 0;
}

bool memcached_delete(memcached *server, const kbf_text *key, bry_answer *was)
{
    size_t start, len;
    if (!add_text(server, "delete ") || !add_to_commands(server, key->bytes, key->len) ||
        !add_text(server, "\r\n") || !flush_commands(server) || !read_line(server, &start, &len))
        return false;
    *was = line_is(server, start, len, "DELETED") ? BRY_PRESENT : BRY_ABSENT;
    return *was == BRY_PRESENT || line_is(server, start, len, "NOT_FOUND");
}

/* "VALUE key 0 bytes", all flags being 0: the value's length if it is this key's line. */
static bool value_line(const memcached *server, size_t start, size_t len, const kbf_text *key,
                       size_t *value_len)
{
    const char *line = server->in + start, *end = line + len;
    if (len < 6 + key->len + 4 || memcmp(line, "VALUE ", 6) != 0 ||
        memcmp(line + 6, key->bytes, key->len) != 0 || memcmp(line + 6 + key->len, " 0 ", 3) != 0)
        return false;
    size_t number = 0;
    for (const char *digit = line + 6 + key->len + 3; digit < end; digit++) {
        if (*digit < '0' || *digit > '9' || number > KBF_VALUE_MOST)
            return false;
        number = number * 10 + (size_t)(*digit - '0');
    }
    *value_len = number;
    return true;
}

bool memcached_get(memcached *server, const kbf_text *const *keys, size_t n, kbf_text *values,
                   uint8_t *answers)
{
    bool good = n <= MEMCACHED_MOST_KEYS && add_text(server, "get");
    for (size_t i = 0; i < n && good; i++)
        good = add_to_commands(server, " ", 1) &&
               add_to_commands(server, keys[i]->bytes, keys[i]->len);
    if (!good || !add_text(server, "\r\n") || !flush_commands(server))
        return false;
    /* Present keys are returned in the order of the request. The buffer may move while the answer
     * arrives, so offsets are stored until the end. */
    size_t starts[MEMCACHED_MOST_KEYS], start, len, value_len = 0, asked = 0;
    for (;;) {
        if (!read_line(server, &start, &len))
            return false;
        bool end = line_is(server, start, len, "END");
        while (asked < n && (end || !value_line(server, start, len, keys[asked], &value_len)))
            answers[asked++] = BRY_ABSENT;
        if (end)
            break;
        if (asked == n || !read_block(server, value_len, &starts[asked]))
            return false;
        answers[asked] = BRY_PRESENT;
        values[asked++].len = value_len;
    }
    for (size_t i = 0; i < n; i++)
        if (answers[i] == BRY_PRESENT)
            values[i].bytes = server->in + starts[i];
    return true;
}

bool memcached_stat(memcached *server, const char *name, char *value, size_t size)
{
    size_t start, len, name_len = strlen(name);
    bool found = false;
    if (!add_text(server, "stats\r\n") || !flush_commands(server))
        return false;
    while (read_line(server, &start, &len)) {
        if (line_is(server, start, len, "END"))
            return found;
        const char *line = server->in + start;
        if (len > 6 + name_len && memcmp(line, "STAT ", 5) == 0 &&
            memcmp(line + 5, name, name_len) == 0 && line[5 + name_len] == ' ') {
            snprintf(value, size, "%.*s", (int)(len - 6 - name_len), line + 6 + name_len);
            found = true;
        }
    }
    return false;
}

bool memcached_stat_count(memcached *server, const char *name, uint64_t *count)
{
    char text[32], *end;
    if (!memcached_stat(server, name, text, sizeof text))
        return false;
    errno = 0;
    *count = strtoull(text, &end, 10);
    return errno == 0 && end != text && *end == '\0';
}
