#include "cli/cluster/local_nodes.h"

#include "cli/core/args.h"
#include "cli/core/output/output.h"
#include "cli/core/steady_clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define HOST "127.0.0.1"
#define PATIENCE 30000 /* ms */
#define LOOK_EVERY 50
#define PORTS "ports"
#define PORTS_NEW "ports.new" /* until the servers are a cluster */

/* ---- files --------------------------------------------------------------------------------- */

static int node_dir_of(const local_nodes *nodes, uint32_t port, cli_path *dir)
{
    char name[16];
    snprintf(name, sizeof name, "%u", port);
    return serve_join(&nodes->dir, name, dir);
}

/* Reads the ports from a file of the directory; *exists is false if there is none. */
static int read_ports(local_nodes *nodes, const char *name, bool *exists)
{
    cli_path path;
    int code = serve_join(&nodes->dir, name, &path);
    if (code != CLI_GO_ON)
        return code;
    FILE *in = fopen(path.text, "r");
    *exists = in != NULL;
    if (!in)
        return errno == ENOENT ? CLI_GO_ON : cli_fail("%s: %s", path.text, strerror(errno));
    nodes->count = 0;
    char line[32], *end;
    bool whole = true;
    while (whole && fgets(line, sizeof line, in)) {
        unsigned long port = strtoul(line, &end, 10);
        whole = end > line && *end == '\n' && port <= UINT16_MAX && nodes->count < LOCAL_MOST;
        if (whole)
            nodes->ports[nodes->count++] = (uint32_t)port;
    }
    fclose(in);
    if (!whole || nodes->count == 0)
        return cli_fail("%s: not a list of ports", path.text);
    return CLI_GO_ON;
}

int local_read(local_nodes *nodes, bool *exists)
{
    int code = read_ports(nodes, PORTS, exists);
    nodes->formed = *exists;
    return code == CLI_GO_ON && !*exists ? read_ports(nodes, PORTS_NEW, exists) : code;
}

int local_write(const local_nodes *nodes)
{
    cli_path path;
    int code = serve_join(&nodes->dir, PORTS_NEW, &path);
    if (code != CLI_GO_ON)
        return code;
    FILE *out = fopen(path.text, "w");
    for (uint32_t i = 0; out && i < nodes->count; i++)
        fprintf(out, "%u\n", nodes->ports[i]);
    if (!out || fclose(out) != 0)
        return cli_fail("%s: %s", path.text, strerror(errno));
    return CLI_GO_ON;
}

int local_keep(const local_nodes *nodes)
{
    cli_path from, to;
    int code = serve_join(&nodes->dir, PORTS_NEW, &from);
    if (code == CLI_GO_ON)
        code = serve_join(&nodes->dir, PORTS, &to);
    if (code == CLI_GO_ON && rename(from.text, to.text) != 0)
        code = cli_fail("%s: %s", from.text, strerror(errno));
    return code;
}

/* ---- starting ------------------------------------------------------------------------------ */

/* Removes what a server remembers of a cluster that was never complete. */
static int forget_cluster(const cli_path *dir)
{
    cli_path path;
    int code = serve_join(dir, "nodes.conf", &path);
    if (code == CLI_GO_ON && unlink(path.text) != 0 && errno != ENOENT)
        code = cli_fail("%s: %s", path.text, strerror(errno));
    return code;
}

/* Runs the server, which puts itself into the background. */
static int start_node(const local_nodes *nodes, uint32_t port)
{
    cli_path dir;
    char number[16];
    int code = node_dir_of(nodes, port, &dir), how = 0;
    if (code != CLI_GO_ON)
        return code;
    snprintf(number, sizeof number, "%u", port);
    if (mkdir(dir.text, 0777) != 0 && errno != EEXIST)
        return cli_fail("%s: %s", dir.text, strerror(errno));
    if (!nodes->formed && (code = forget_cluster(&dir)) != CLI_GO_ON)
        return code;
    pid_t child = fork();
    if (child == 0) {
        /* The settings are those of doc/cluster.md. */
        execl(nodes->server.text, nodes->server.text, "--port", number, "--bind", HOST, "--dir",
              dir.text, "--logfile", "log", "--pidfile", "pid", "--daemonize", "yes",
              "--cluster-enabled", "yes", "--cluster-node-timeout", "5000",
              "--cluster-allow-replica-migration", "no", "--cluster-require-full-coverage", "no",
              "--maxmemory-policy", "noeviction", "--rdbcompression", "no", "--appendonly", "yes",
              "--appendfsync", "always", "--repl-backlog-size", "64mb", "--save", "",
              "--enable-debug-command", "no", "--loadmodule", nodes->module.text, (char *)NULL);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &how, 0) != child || !WIFEXITED(how) || WEXITSTATUS(how) != 0)
        return cli_fail("%s: cannot start on port %u; see %s/log",
                        cli_name(nodes->server.text).text, port, dir.text);
    return CLI_GO_ON;
}

static bool connect_first(local_nodes *nodes)
{
    char url[64];
    bryc_options options = BRYC_OPTIONS;
    options.patience_ms = 1;
    snprintf(url, sizeof url, "redis://" HOST ":%u", nodes->ports[0]);
    bryc_close(nodes->client);
    if (bryc_open(url, &options, &nodes->client) == BRY_OK)
        return true;
    bryc_close(nodes->client);
    nodes->client = NULL;
    return false;
}

/* True if the server at this port answers and runs in the directory that we gave it. */
static bool is_our_server(local_nodes *nodes, uint32_t number)
{
    cli_path dir;
    redisReply *reply;
    if (node_dir_of(nodes, nodes->ports[number], &dir) != CLI_GO_ON ||
        bryc_node_find(nodes->client, HOST, nodes->ports[number], &nodes->links[number]) !=
            BRY_OK ||
        bryc_ask_node(nodes->client, nodes->links[number], 0, &reply, "CONFIG GET dir") != BRY_OK)
        return false;
    bool ours = reply->type == REDIS_REPLY_ARRAY && reply->elements == 2 &&
                strcmp(reply->element[1]->str, dir.text) == 0;
    freeReplyObject(reply);
    return ours;
}

/* Waits until the server answers. */
static int await_node(local_nodes *nodes, uint32_t number)
{
    uint64_t end = cli_clock_ms() + PATIENCE;
    while (!(nodes->client || connect_first(nodes)) || !is_our_server(nodes, number)) {
        if (cli_clock_ms() > end)
            return cli_fail(HOST ":%u: no answer; see %s/%u/log", nodes->ports[number],
                            nodes->dir.text, nodes->ports[number]);
        cli_sleep_ms(LOOK_EVERY);
    }
    return CLI_GO_ON;
}

/* A server that is running already, in its directory, is left alone. */
static bool is_running(local_nodes *nodes, uint32_t number)
{
    return (nodes->client || connect_first(nodes)) && is_our_server(nodes, number);
}

int local_start(local_nodes *nodes)
{
    int code = CLI_GO_ON;
    bool running[LOCAL_MOST];
    for (uint32_t i = 0; i < nodes->count && code == CLI_GO_ON; i++) {
        running[i] = is_running(nodes, i);
        if (!running[i])
            code = serve_check_port((uint16_t)nodes->ports[i]);
    }
    for (uint32_t i = 0; i < nodes->count && code == CLI_GO_ON; i++)
        if (!running[i])
            code = start_node(nodes, nodes->ports[i]);
    for (uint32_t i = 0; i < nodes->count && code == CLI_GO_ON; i++)
        code = await_node(nodes, i);
    return code;
}

/* ---- forming ------------------------------------------------------------------------------- */

static bool tell_node(local_nodes *nodes, uint32_t number, const char *words)
{
    redisReply *reply;
    bool done = bryc_ask_node(nodes->client, nodes->links[number], 0, &reply, words) == BRY_OK;
    freeReplyObject(reply);
    return done;
}

static int node_refuses(const local_nodes *nodes, uint32_t number)
{
    return cli_fail(HOST ":%u: %s", nodes->ports[number], bryc_error(nodes->client));
}

/* Tells a node until it agrees: it may be loading, or not know the others yet. */
static int tell_until_done(local_nodes *nodes, uint32_t number, const char *words)
{
    uint64_t end = cli_clock_ms() + PATIENCE;
    while (!tell_node(nodes, number, words)) {
        if (cli_clock_ms() > end)
            return node_refuses(nodes, number);
        cli_sleep_ms(LOOK_EVERY);
    }
    return CLI_GO_ON;
}

static int node_id(local_nodes *nodes, uint32_t number, char id[64])
{
    redisReply *reply;
    if (bryc_ask_node(nodes->client, nodes->links[number], 0, &reply, "CLUSTER MYID") != BRY_OK)
        return node_refuses(nodes, number);
    snprintf(id, 64, "%s", reply->str);
    freeReplyObject(reply);
    return CLI_GO_ON;
}

int local_form(local_nodes *nodes, uint32_t primaries)
{
    char words[160], id[64];
    for (uint32_t i = 0; i < nodes->count; i++) {
        snprintf(words, sizeof words, "CLUSTER SET-CONFIG-EPOCH %u", i + 1);
        int code = tell_until_done(nodes, i, words);
        if (code != CLI_GO_ON)
            return code;
        snprintf(words, sizeof words, "CLUSTER ADDSLOTSRANGE %u %u", BRYC_SLOTS * i / primaries,
                 BRYC_SLOTS * (i + 1) / primaries - 1);
        if (i < primaries && !tell_node(nodes, i, words))
            return node_refuses(nodes, i);
    }
    for (uint32_t i = 1; i < nodes->count; i++) {
        snprintf(words, sizeof words, "CLUSTER MEET " HOST " %u", nodes->ports[i]);
        if (!tell_node(nodes, 0, words))
            return node_refuses(nodes, 0);
    }
    for (uint32_t i = primaries; i < nodes->count; i++) {
        int code = node_id(nodes, (i - primaries) % primaries, id);
        snprintf(words, sizeof words, "CLUSTER REPLICATE %s", id);
        if (code == CLI_GO_ON)
            code = tell_until_done(nodes, i, words);
        if (code != CLI_GO_ON)
            return code;
    }
    nodes->formed = true;
    return CLI_GO_ON;
}

/* True if this node serves all slots and, as a replica, is in sync. */
static bool is_serving(local_nodes *nodes, uint32_t number)
{
    redisReply *reply;
    if (bryc_ask_node(nodes->client, nodes->links[number], 0, &reply, "CLUSTER INFO") != BRY_OK)
        return false;
    bool serves = reply->str && strstr(reply->str, "cluster_state:ok") != NULL;
    freeReplyObject(reply);
    if (bryc_ask_node(nodes->client, nodes->links[number], 0, &reply, "INFO replication") != BRY_OK)
        return false;
    serves = serves && reply->str && !strstr(reply->str, "master_link_status:down");
    freeReplyObject(reply);
    return serves;
}

int local_wait_served(local_nodes *nodes)
{
    uint64_t end = cli_clock_ms() + PATIENCE;
    for (uint32_t i = 0; i < nodes->count;) {
        if (is_serving(nodes, i)) {
            i++;
            continue;
        }
        if (cli_clock_ms() > end)
            return cli_fail(HOST ":%u: does not serve all slots; see %s/%u/log", nodes->ports[i],
                            nodes->dir.text, nodes->ports[i]);
        cli_sleep_ms(LOOK_EVERY);
    }
    return CLI_GO_ON;
}

/* ---- ending -------------------------------------------------------------------------------- */

/* A client for any of the servers that run; NULL if none does. */
static void connect_any(local_nodes *nodes)
{
    uint32_t first = nodes->ports[0];
    for (uint32_t i = 0; !nodes->client && i < nodes->count; i++) {
        nodes->ports[0] = nodes->ports[i];
        connect_first(nodes);
        nodes->ports[0] = first;
    }
}

/* SHUTDOWN has no reply: the connection ends. A server that is writing its first log refuses; the
 * command is then sent again. */
static int stop_node(local_nodes *nodes, uint32_t number)
{
    uint64_t end = cli_clock_ms() + PATIENCE, tell_at = 0;
    while (is_our_server(nodes, number)) {
        uint64_t now = cli_clock_ms();
        if (now > end)
            return cli_fail(HOST ":%u: the server does not end; see %s/%u/log",
                            nodes->ports[number], nodes->dir.text, nodes->ports[number]);
        if (now >= tell_at) {
            redisReply *reply;
            bryc_ask_node(nodes->client, nodes->links[number], BRYC_ONCE, &reply, "SHUTDOWN");
            freeReplyObject(reply);
            tell_at = now + 1000;
        }
        cli_sleep_ms(LOOK_EVERY);
    }
    return CLI_GO_ON;
}

/* Replicas come last in the list, and end first. */
int local_stop(local_nodes *nodes, uint32_t *ended)
{
    int code = CLI_GO_ON;
    *ended = 0;
    connect_any(nodes);
    for (uint32_t i = nodes->count; nodes->client && i-- > 0 && code == CLI_GO_ON;)
        if (is_our_server(nodes, i)) {
            code = stop_node(nodes, i);
            ++*ended;
        }
    return code;
}

void local_close(local_nodes *nodes)
{
    bryc_close(nodes->client);
    nodes->client = NULL;
}
