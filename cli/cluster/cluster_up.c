/* bloomery cluster up and down: a cluster on this machine, to try things on. */
#include "cli/cluster/cluster_command.h"
#include "cli/cluster/local_nodes.h"
#include "cli/core/args.h"
#include "cli/core/output/output.h"
#include "cli/serve/serve_dir.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_DIR "bloomery-cluster"

typedef struct up_options {
    uint64_t primaries, port;
    const char *replicas, *dir, *server, *module;
    bool shape_given; /* --primaries, --replicas or --port */
} up_options;

/* The number after --replicas, which may be 0. */
static bool read_replicas(const char *text, uint64_t *replicas)
{
    *replicas = 0;
    for (; *text >= '0' && *text <= '9' && *replicas < LOCAL_MOST; text++)
        *replicas = *replicas * 10 + (uint64_t)(*text - '0');
    return *text == '\0';
}

static int check_up(const up_options *asked, uint64_t *replicas)
{
    if (!read_replicas(asked->replicas, replicas))
        return cli_misuse("--replicas: %s is not a number", cli_quote(asked->replicas).text);
    uint64_t count = asked->primaries * (1 + *replicas);
    if (asked->primaries > LOCAL_MOST || count > LOCAL_MOST)
        return cli_misuse("at most %d servers are started", LOCAL_MOST);
    if (asked->port + count > 55536) /* 10,000 above it is the port for the other nodes */
        return cli_misuse("--port: use ports below 55536");
    return CLI_GO_ON;
}

static void say_up(const local_nodes *nodes, uint64_t primaries, const char *dir)
{
    if (nodes->count == 1)
        printf("1 server with the module runs on 127.0.0.1:%u", nodes->ports[0]);
    else
        printf("%u servers with the module run on 127.0.0.1:%u to %u", nodes->count,
               nodes->ports[0], nodes->ports[nodes->count - 1]);
    if (primaries && primaries < nodes->count)
        printf(": %" PRIu64 " primar%s, the others are replicas", primaries,
               primaries == 1 ? "y" : "ies");
    printf(".\nThey go on running. Data, logs and settings are in %s.\n\n", dir);
    printf("  bloomery cluster status 127.0.0.1:%u\n", nodes->ports[0]);
    printf("  bloomery map build redis://127.0.0.1:%u/NAME FILE --capacity 1M --raw 12\n",
           nodes->ports[0]);
    printf("  bloomery cluster down --dir %s\n", dir);
}

static int run_up(const up_options *asked, uint64_t replicas, local_nodes *nodes)
{
    bool exists;
    uint32_t ended;
    int code = serve_find_server(asked->server, &nodes->server);
    if (code == CLI_GO_ON)
        code = serve_find_module(asked->module, &nodes->module);
    if (code == CLI_GO_ON)
        code = serve_prepare_dir(asked->dir, &nodes->dir);
    if (code == CLI_GO_ON)
        code = local_read(nodes, &exists);
    if (code != CLI_GO_ON)
        return code;
    if (exists && !nodes->formed) { /* another "cluster up" was interrupted */
        code = local_stop(nodes, &ended);
        local_close(nodes);
        nodes->count = 0;
        exists = false;
    }
    if (exists && asked->shape_given)
        return cli_fail("%s: has a cluster already; start it without --primaries, --replicas and "
                        "--port, or give another directory",
                        cli_name(asked->dir).text);
    for (uint64_t i = 0; !exists && i < asked->primaries * (1 + replicas); i++)
        nodes->ports[nodes->count++] = (uint32_t)(asked->port + i);
    if (code == CLI_GO_ON && !exists)
        code = local_write(nodes);
    if (code == CLI_GO_ON)
        code = local_start(nodes);
    if (code == CLI_GO_ON && !exists)
        code = local_form(nodes, (uint32_t)asked->primaries);
    if (code == CLI_GO_ON)
        code = local_wait_served(nodes);
    if (code == CLI_GO_ON && !exists)
        code = local_keep(nodes);
    if (code != CLI_GO_ON) {
        if (!exists)
            local_stop(nodes, &ended); /* what did not become a cluster */
        return code;
    }
    say_up(nodes, exists ? 0 : asked->primaries, asked->dir);
    return CLI_YES;
}

int cluster_up(int argc, char **argv)
{
    static local_nodes nodes; /* static, because paths are large */
    up_options asked = {.primaries = 3, .port = 7000, .replicas = "1", .dir = DEFAULT_DIR};
    cli_option options[] = {
        {"primaries", CLI_PLAIN, "N", "number of primaries (default 3)", &asked.primaries},
        {"replicas", CLI_TEXT, "N", "replicas of each primary, or 0 (default 1)", &asked.replicas},
        {"dir", CLI_TEXT, "DIR", "directory for all data (default ./" DEFAULT_DIR ")", &asked.dir},
        {"port", CLI_PLAIN, "N", "port of the first server; the others follow (default 7000)",
         &asked.port},
        {"server", CLI_TEXT, "BIN", "redis-server or valkey-server (default: the one in PATH)",
         &asked.server},
        {"module", CLI_TEXT, "FILE", "the module (default: the one beside this program)",
         &asked.module},
    };
    bool given[sizeof options / sizeof options[0]] = {false};
    cli_syntax syntax = {
        .usage = "[options]",
        .about =
            "Starts a cluster of Redis or Valkey servers with the module on this machine, to try\n"
            "things on: on 127.0.0.1, in the background, each with a log of its data. If the\n"
            "directory has a cluster already, that one is started again.",
        CLI_OPTIONS(options),
        .given = given,
        .examples = "  bloomery cluster up --primaries 3 --replicas 1 --dir hall --port 7000",
    };
    size_t words;
    uint64_t replicas;
    int code = cli_read_args(&syntax, argc, argv, &words);
    asked.shape_given = given[0] || given[1] || given[3];
    if (code == CLI_GO_ON)
        code = check_up(&asked, &replicas);
    if (code == CLI_GO_ON)
        code = run_up(&asked, replicas, &nodes);
    local_close(&nodes);
    return code;
}

int cluster_down(int argc, char **argv)
{
    static local_nodes nodes;
    const char *dir = DEFAULT_DIR;
    cli_option options[] = {
        {"dir", CLI_TEXT, "DIR", "directory of the cluster (default ./" DEFAULT_DIR ")", &dir},
    };
    cli_syntax syntax = {
        .usage = "[options]",
        .about =
            "Ends the servers of a cluster that was started with \"bloomery cluster up\". Their\n"
            "data stays: \"bloomery cluster up\" starts them again.",
        CLI_OPTIONS(options),
        .examples = "  bloomery cluster down --dir hall",
    };
    size_t words;
    bool exists;
    uint32_t ended = 0;
    int code = cli_read_args(&syntax, argc, argv, &words);
    if (code == CLI_GO_ON && !realpath(dir, nodes.dir.text))
        code = cli_fail("--dir: %s: %s", cli_name(dir).text, strerror(errno));
    if (code == CLI_GO_ON)
        code = local_read(&nodes, &exists);
    if (code == CLI_GO_ON && !exists)
        code = cli_fail("%s: no cluster in this directory", cli_name(dir).text);
    if (code == CLI_GO_ON)
        code = local_stop(&nodes, &ended);
    local_close(&nodes);
    if (code != CLI_GO_ON)
        return code;
    printf("%u servers ended.\n", ended);
    return CLI_YES;
}
