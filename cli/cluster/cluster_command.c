/* bloomery cluster: the group of its commands. */
#include "cli/cluster/cluster_command.h"

#include "cli/core/command.h"

static const cli_command commands[] = {
    {"up", "starts a cluster on this machine", .run = cluster_up},
    {"status", "shows the nodes of a running cluster and their load", .run = cluster_status},
    {"balance", "moves slots until the nodes have the same load", .run = cluster_balance},
    {"down", "ends a cluster that was started with up", .run = cluster_down},
};

const cli_group cli_cluster_group = {
    .usage = "COMMAND [options]",
    .about = "Clusters of Redis or Valkey servers with the module.",
    CLI_COMMANDS(commands),
    .examples = "  bloomery cluster up --primaries 3 --replicas 1 --dir hall\n"
                "  bloomery cluster status 127.0.0.1:7000\n"
                "  bloomery cluster balance 127.0.0.1:7000 --dry-run\n"
                "  bloomery cluster down --dir hall",
};
