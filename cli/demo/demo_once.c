/*
 * bloomery demo once: a cluster on this machine whose servers stop answering, die and are replaced
 * while tills count their orders. What was not answered is sent again, so the plain counter counts
 * some orders twice; ours does not.
 */
#include "cli/cluster/local_nodes.h"
#include "cli/core/args.h"
#include "cli/core/command.h"
#include "cli/core/output/output.h"
#include "cli/core/steady_clock.h"
#include "cli/core/stop_signals.h"

#include <arpa/inet.h>
#include <bloomery_cluster_counters.h>
#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define TILLS 8 /* of each kind */
#define TILLS_TABLE "shop" /* the table of counters */
#define TILLS_PLAIN "{shop:0}:orders" /* the plain counter, in the slot of the table's only part */
#define REPLY_MS 500 /* a till asks again after that */
#define PATIENCE_MS 60000
enum { PRIMARIES = 3, SERVERS = 6, BUS = 10000, STOPS = 3, STOP_MS = 1500, BETWEEN_MS = 2500 };

/* ---- the tills: half of them count with INCR, half in a table that counts each order once ------ */

typedef struct till {
    struct tills *shop;
    pthread_t thread;
    bryc_client *client;
    bryc_counters *table;
    bool plain; /* counts with INCR */
    bry_status status; /* why it ended */
    bool started;
} till;

typedef struct tills {
    till each[2 * TILLS];
    bryc_client *client; /* for reading */
    bryc_counters *table;
    atomic_bool stop;
    atomic_int_fast64_t plain_orders, orders;
} tills;

/* What the tills know, and what the counters say. */
typedef struct tills_counts {
    int64_t plain_orders; /* Orders acknowledged to the tills that use INCR. */
    int64_t plain; /* What the counter of INCR says. */
    int64_t orders; /* Orders acknowledged to the tills that use a table of counters. */
    int64_t counted; /* What that table says. */
} tills_counts;

static const bryc_key counter_name = {"orders", 6};

static bry_status connect_one(const char *url, bryc_client **client, bryc_counters **table)
{
    bryc_options options = BRYC_OPTIONS;
    options.reply_ms = REPLY_MS;
    options.connect_ms = REPLY_MS;
    options.patience_ms = PATIENCE_MS;
    bryc_counters_options shape = BRYC_COUNTERS_OPTIONS;
    shape.parts = 1;
    bryc_counters_use use = BRYC_COUNTERS_USE;
    use.wait_ms = REPLY_MS / 2;
    use.retry_ms = PATIENCE_MS;
    bry_status status = bryc_open(url, &options, client);
    if (status == BRY_OK)
        status = bryc_counters_create(*client, TILLS_TABLE, &shape, &use, table);
    return status;
}

static bry_status count_plain(bryc_client *client)
{
    redisReply *reply;
    bry_status status =
        bryc_ask_key(client, TILLS_PLAIN, strlen(TILLS_PLAIN), 0, &reply, "INCR " TILLS_PLAIN);
    freeReplyObject(reply);
    return status;
}

static void *till_run(void *opaque)
{
    till *self = opaque;
    bryc_increment order = {counter_name, 1};
    atomic_int_fast64_t *orders = self->plain ? &self->shop->plain_orders : &self->shop->orders;
    while (!self->shop->stop && self->status == BRY_OK) {
        self->status = self->plain ? count_plain(self->client)
                                   : bryc_counters_add(self->table, &order, 1, NULL, NULL);
        *orders += self->status == BRY_OK;
    }
    return NULL;
}

/* Creates the table, and lets the tills count. `url`: of a node. CLI_GO_ON, or an exit code after a
 * message. */
static int tills_start(const char *url, tills **started)
{
    tills *made = calloc(1, sizeof *made);
    *started = made;
    if (!made)
        return cli_no_memory();
    if (connect_one(url, &made->client, &made->table) != BRY_OK)
        return cli_fail("%s", bryc_error(made->client));
    for (int i = 0; i < 2 * TILLS; i++) {
        till *one = &made->each[i];
        one->shop = made;
        one->plain = i < TILLS;
        if (connect_one(url, &one->client, &one->table) != BRY_OK)
            return cli_fail("%s", bryc_error(one->client));
        int problem = pthread_create(&one->thread, NULL, till_run, one);
        if (problem != 0)
            return cli_fail("pthread_create: %s", strerror(problem));
        one->started = true;
    }
    return CLI_GO_ON;
}

/* False if the cluster does not answer now. While the tills count, up to TILLS orders are in a
 * counter and not acknowledged yet. */
static bool tills_read(tills *self, tills_counts *counts)
{
    redisReply *reply;
    bool there;
    *counts = (tills_counts){.plain_orders = self->plain_orders, .orders = self->orders};
    if (bryc_ask_key(self->client, TILLS_PLAIN, strlen(TILLS_PLAIN), 0, &reply,
                     "GET " TILLS_PLAIN) != BRY_OK)
        return false;
    if (reply->type == REDIS_REPLY_STRING)
        counts->plain = strtoll(reply->str, NULL, 10);
    freeReplyObject(reply);
    return bryc_counters_get(self->table, &counter_name, 1, &counts->counted, &there) == BRY_OK;
}

/* The number of the node that has both counters. */
static uint32_t tills_owner(tills *self)
{
    bryc_refresh(self->client);
    return bryc_node_of_slot(self->client, bryc_slot(TILLS_PLAIN, strlen(TILLS_PLAIN)));
}

/* Lets the tills finish their last orders. CLI_GO_ON, or an exit code after a message if a till
 * failed or does not know whether an order was counted. */
static int tills_stop(tills *self)
{
    int code = CLI_GO_ON;
    self->stop = true;
    for (int i = 0; i < 2 * TILLS; i++) {
        till *one = &self->each[i];
        if (!one->started)
            continue;
        pthread_join(one->thread, NULL);
        one->started = false;
        if (one->status != BRY_OK && code == CLI_GO_ON)
            code = cli_fail("till %d: %s", i + 1, bryc_error(one->client));
    }
    return code;
}

static void tills_free(tills *self)
{
    if (!self)
        return;
    for (int i = 0; i < 2 * TILLS; i++) {
        bryc_counters_close(self->each[i].table);
        bryc_close(self->each[i].client);
    }
    bryc_counters_close(self->table);
    bryc_close(self->client);
    free(self);
}

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
        bryc_ask_node(self->shop->client, *owner, 0, &reply, "INFO server") != BRY_OK)
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
        return cli_fail("%s", bryc_error(self->shop->client));
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
        return cli_fail("%s", bryc_error(self->shop->client));
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
        return cli_fail("%s", bryc_error(self->shop->client));
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
        code = cli_is_stopped() || !self->shop ? CLI_FAILED : conclude_demo(self);
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

static int demo_once(int argc, char **argv)
{
    static demo self; /* static, because paths are large */
    const char *server = NULL, *module = NULL;
    cli_option options[] = {
        {"server", CLI_TEXT, "BIN", "redis-server or valkey-server (default: the one in PATH)",
         &server},
        {"module", CLI_TEXT, "FILE", "the module (default: the one beside this program)", &module},
    };
    cli_syntax syntax = {
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

static const cli_command commands[] = {
    {"once", "counters on a cluster whose servers fail: plain ones, and ours", .run = demo_once},
};

static const cli_group group = {
    .usage = "COMMAND [options]",
    .about = "Demonstrations. Each starts the servers it needs, and ends them.",
    CLI_COMMANDS(commands),
    .examples = "  bloomery demo once",
};

int cli_demo(int argc, char **argv)
{
    return cli_run_group(&group, argc, argv);
}
