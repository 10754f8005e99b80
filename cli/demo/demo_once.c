/*
 * bloomery demo once: a cluster on this machine whose servers stop answering, die and are replaced
 * while tills count their orders. What was not answered is sent again, so the plain counter counts
 * some orders twice; ours does not.
 */
#include "cli/cluster/local_nodes.h"
#include "cli/core/args.h"
#include "cli/core/output/output.h"
#include "cli/core/steady_clock.h"
#include "cli/core/stop_signals.h"
#include "cli/demo/demo_command.h"
#include "cli/demo/demo_tills.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PRIMARIES = 3, SERVERS = 6, BUS = 10000, STOPS = 3, STOP_MS = 1500, BETWEEN_MS = 2500 };

/* ---- ports and directory --------------------------------------------------------------------- */

static bool port_is_free(uint32_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool is_free =
        probe >= 0 && bind(probe, (const struct sockaddr *)&address, sizeof address) == 0;
    if (probe >= 0)
        close(probe);
    return is_free;
}

/* Ports that are free now. */
static int choose_ports(local_nodes *nodes)
{
    for (uint32_t try = 0; try < 200; try++) {
        /* with those for the other nodes, below the ports that connections get */
        uint32_t first = 10000 + ((uint32_t)getpid() * 31 + try * 97) % 12000, i = 0;
        while (i < SERVERS && port_is_free(first + i) && port_is_free(first + i + BUS))
            i++;
        if (i < SERVERS)
            continue;
        for (nodes->count = 0; nodes->count < SERVERS; nodes->count++)
            nodes->ports[nodes->count] = first + nodes->count;
        return CLI_GO_ON;
    }
    return cli_fail("no %d free ports in a row", SERVERS);
}

static int make_demo_dir(cli_path *dir)
{
    const char *place = getenv("TMPDIR");
    snprintf(dir->text, sizeof dir->text, "%s/bloomery-demo-XXXXXX",
             place && *place ? place : "/tmp");
    if (!mkdtemp(dir->text))
        return cli_fail("%s: %s", dir->text, strerror(errno));
    return CLI_GO_ON;
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *where)
{
    (void)about;
    (void)kind;
    (void)where;
    return remove(path);
}

/* ---- faults ---------------------------------------------------------------------------------- */

typedef struct demo {
    local_nodes nodes;
    tills *shop;
    uint64_t start;
} demo;

static void print_counts(demo *self, const char *what)
{
    tills_counts counts;
    if (!tills_read(self->shop, &counts))
        return;
    printf("%4.0f s %9" PRId64 " %9" PRId64 "    %9" PRId64 " %9" PRId64 "   %s\n",
           (double)(cli_clock_ms() - self->start) / 1000, counts.plain_orders, counts.plain,
           counts.orders, counts.counted, what);
    fflush(stdout);
}

static void wait_ms(uint64_t ms)
{
    uint64_t end = cli_clock_ms() + ms;
    while (!cli_is_stopped() && cli_clock_ms() < end)
        cli_sleep_ms(20);
}

/* The process that has the counters, as its server says; 0 if it does not answer. */
static pid_t owner_process(demo *self, uint32_t *owner)
{
    redisReply *reply;
    *owner = tills_owner(self->shop);
    if (*owner == UINT32_MAX ||
        bryc_ask_node(tills_client(self->shop), *owner, 0, &reply, "INFO server") != BRY_OK)
        return 0;
    const char *line = reply->str ? strstr(reply->str, "process_id:") : NULL;
    pid_t process = line ? (pid_t)strtol(line + strlen("process_id:"), NULL, 10) : 0;
    freeReplyObject(reply);
    return process;
}

static int stop_owner(demo *self)
{
    uint32_t owner;
    pid_t process = owner_process(self, &owner);
    if (process <= 0)
        return cli_fail("%s", bryc_error(tills_client(self->shop)));
    kill(process, SIGSTOP);
    wait_ms(STOP_MS);
    kill(process, SIGCONT);
    wait_ms(BETWEEN_MS - STOP_MS);
    print_counts(self, "the server stood still for 1.5 s");
    return CLI_GO_ON;
}

static int kill_owner(demo *self)
{
    enum { LONGEST = 40000 };
    uint32_t owner, now;
    pid_t process = owner_process(self, &owner);
    if (process <= 0)
        return cli_fail("%s", bryc_error(tills_client(self->shop)));
    kill(process, SIGKILL);
    uint64_t end = cli_clock_ms() + LONGEST;
    while (!cli_is_stopped() && ((now = tills_owner(self->shop)) == owner || now == UINT32_MAX)) {
        if (cli_clock_ms() > end)
            return cli_fail("no replica took over; see %s", self->nodes.dir.text);
        cli_sleep_ms(100);
    }
    int code = cli_is_stopped() ? CLI_GO_ON : local_start(&self->nodes);
    if (code != CLI_GO_ON)
        return code;
    wait_ms(BETWEEN_MS);
    print_counts(self, "the server was killed, its replica took over, and it came back");
    return CLI_GO_ON;
}

/* ---- the demonstration ----------------------------------------------------------------------- */

static int run_faults(demo *self)
{
    int code = CLI_GO_ON;
    printf("%d tills count their orders with INCR, %d with Bloomery's counters.\n"
           "What is not answered within half a second is sent again.\n\n"
           "          orders      INCR       orders  Bloomery\n",
           TILLS, TILLS);
    wait_ms(BETWEEN_MS);
    print_counts(self, "");
    for (int i = 0; i < STOPS && code == CLI_GO_ON && !cli_is_stopped(); i++)
        code = stop_owner(self);
    if (code == CLI_GO_ON && !cli_is_stopped())
        code = kill_owner(self);
    return code;
}

static int conclude_demo(demo *self)
{
    tills_counts counts;
    if (!tills_read(self->shop, &counts))
        return cli_fail("%s", bryc_error(tills_client(self->shop)));
    print_counts(self, "the tills have closed");
    printf("\nINCR is off by %+" PRId64 ". Bloomery's counter is ",
           counts.plain - counts.plain_orders);
    if (counts.counted != counts.orders) {
        printf("off by %+" PRId64 ".\n", counts.counted - counts.orders);
        return CLI_NO;
    }
    printf("exact.\n");
    return CLI_YES;
}

static int run_demo(demo *self)
{
    char url[64];
    uint64_t began = cli_clock_ms();
    int code = local_start(&self->nodes);
    if (code == CLI_GO_ON)
        code = local_form(&self->nodes, PRIMARIES);
    if (code == CLI_GO_ON)
        code = local_wait_served(&self->nodes);
    if (code != CLI_GO_ON)
        return code;
    printf("A cluster of %d primaries with a replica each runs on 127.0.0.1, after %.0f s.\n",
           PRIMARIES, (double)(cli_clock_ms() - began) / 1000);
    fflush(stdout);
    snprintf(url, sizeof url, "redis://127.0.0.1:%u", self->nodes.ports[0]);
    self->start = cli_clock_ms();
    code = tills_start(url, &self->shop);
    if (code == CLI_GO_ON)
        code = run_faults(self);
    int stopped = self->shop ? tills_stop(self->shop) : CLI_GO_ON;
    if (code == CLI_GO_ON)
        code = stopped;
    if (code == CLI_GO_ON)
        code = cli_is_stopped() ? CLI_FAILED : conclude_demo(self);
    return code;
}

/* Ends the servers and removes their directory, whatever happened before. */
static int clean_up_demo(demo *self, int code)
{
    uint32_t ended;
    tills_free(self->shop);
    int stopped = local_stop(&self->nodes, &ended);
    local_close(&self->nodes);
    if (stopped != CLI_GO_ON)
        return stopped;
    nftw(self->nodes.dir.text, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return code;
}

int demo_once(int argc, char **argv)
{
    static demo self; /* static, because paths are large */
    const char *server = NULL, *module = NULL;
    cli_option options[] = {
        {"server", CLI_TEXT, "BIN", "redis-server or valkey-server (default: the one in PATH)",
         &server},
        {"module", CLI_TEXT, "FILE", "the module (default: the one beside this program)", &module},
    };
    cli_syntax syntax = {
        .command = "demo once",
        .usage = "[options]",
        .about =
            "Shows what retries do to counters. It starts a cluster of six servers on this "
            "machine,\n"
            "counts orders with plain INCR and with Bloomery's counters, lets the server stand\n"
            "still, kills it, and compares. It takes about half a minute, and leaves nothing "
            "behind.",
        CLI_OPTIONS(options),
        .more = "Exit codes: 0 Bloomery's counter is exact, 1 it is not, 3 failure.",
        .examples = "  bloomery demo once",
    };
    size_t words;
    int code = cli_read_args(&syntax, argc, argv, &words);
    if (code == CLI_GO_ON)
        code = serve_find_server(server, &self.nodes.server);
    if (code == CLI_GO_ON)
        code = serve_find_module(module, &self.nodes.module);
    if (code == CLI_GO_ON)
        code = choose_ports(&self.nodes);
    if (code == CLI_GO_ON)
        code = make_demo_dir(&self.nodes.dir);
    if (code != CLI_GO_ON)
        return code;
    cli_note_stop_signals(); /* the servers are ended in any case */
    return clean_up_demo(&self, run_demo(&self));
}
