/* bloomery cluster status: nodes, roles and load of a running cluster. */
#include "apps/balance/slab_balance.h"
#include "cli/cluster/balance_round.h"
#include "cli/cluster/cluster_command.h"
#include "cli/core/args.h"
#include "cli/core/json/json_write.h"
#include "cli/core/output/output.h"
#include "cli/core/output/text_table.h"
#include "cli/core/steady_clock.h"
#include "text/number_format.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BAR 20
#define HOT 1.2 /* times the mean */

/* The sums of a node; all zero for a replica. */
typedef struct node_sums {
    uint32_t maps, others;
    double loads[3]; /* by load_kind */
} node_sums;

typedef struct status {
    cluster_view view;
    node_sums *sums; /* of each node */
    double rho[3];
    double most[3], mean[3]; /* of the primaries */
    load_kind shown; /* what the bars show: queries, or pairs if nobody asks */
} status;

static bry_status sum_node_loads(status *self, const slot_loads *before, const slot_loads *now)
{
    const cluster_view *view = &self->view;
    double *loads = calloc(view->count + 1, sizeof *loads);
    self->sums = calloc(view->count + 1, sizeof *self->sums);
    if (!loads || !self->sums) {
        free(loads);
        return BRY_E_NOMEM;
    }
    for (uint32_t slot = 0; slot < BRYC_SLOTS; slot++) {
        const slot_load *load = &now->slots[slot];
        if (load->owner == VIEW_NONE)
            continue;
        self->sums[load->owner].maps += load->maps;
        self->sums[load->owner].others += load->others;
        for (int kind = 0; kind < 3; kind++)
            self->sums[load->owner].loads[kind] += slot_load_of(before, now, slot, (load_kind)kind);
    }
    for (int kind = 0; kind < 3; kind++) {
        uint32_t primaries = 0;
        for (uint32_t i = 0; i < view->count; i++) {
            if (!view_is_primary(&view->nodes[i]))
                continue;
            double load = self->sums[i].loads[kind];
            loads[primaries++] = load;
            self->mean[kind] += load;
            self->most[kind] = load > self->most[kind] ? load : self->most[kind];
        }
        self->mean[kind] /= primaries ? primaries : 1;
        self->rho[kind] = balance_rho(loads, primaries);
    }
    self->shown = self->most[LOAD_QUERIES] > 0 ? LOAD_QUERIES : LOAD_PAIRS;
    free(loads);
    return BRY_OK;
}

static const char *state_of(const view_node *node)
{
    return node->failed ? "failed" : node->answers ? "" : "no answer";
}

/* ---- for people ---------------------------------------------------------------------------- */

static void add_primary(const status *self, cli_table *table, uint32_t number)
{
    const view_node *node = &self->view.nodes[number];
    const node_sums *sums = &self->sums[number];
    char bar[BAR + 1];
    double load = sums->loads[self->shown];
    report_bar(bar, BAR, load, self->most[self->shown]);
    cli_table_add(table, "%s", node->name);
    cli_table_add(table, "primary");
    cli_table_add(table, "%u", node->slots);
    cli_table_add(table, "%u", sums->maps);
    cli_table_add(table, "%s", cli_say_count((uint64_t)rint(sums->loads[LOAD_PAIRS])).text);
    cli_table_add(table, "%s", cli_say_count((uint64_t)rint(sums->loads[LOAD_QUERIES])).text);
    cli_table_add(table, "%s", text_size_of((uint64_t)sums->loads[LOAD_BYTES]).text);
    cli_table_add(table, "%s", bar);
    cli_table_add(table, "%s",
                  !node->answers || node->failed         ? state_of(node)
                  : load > HOT * self->mean[self->shown] ? "hot"
                                                         : "");
}

static void add_replica(const status *self, cli_table *table, uint32_t number)
{
    const view_node *node = &self->view.nodes[number];
    cli_table_add(table, "  %s", node->name);
    cli_table_add(table, "replica");
    for (int i = 0; i < 6; i++)
        cli_table_add(table, "%s", "");
    cli_table_add(table, "%s", state_of(node));
}

static void print_nodes(const status *self)
{
    static const char *const heads[] = {"node",      "role",  "slots", "maps", "pairs",
                                        "queries/s", "bytes", "",      ""};
    const cluster_view *view = &self->view;
    cli_table table = CLI_TABLE("llrrrrrll");
    for (int i = 0; i < 9; i++) {
        const char *shown = i == 7 ? load_kind_name(self->shown) : heads[i];
        cli_table_add(&table, "%s", shown);
    }
    for (uint32_t i = 0; i < view->count; i++) {
        if (view->nodes[i].primary[0])
            continue;
        add_primary(self, &table, i);
        for (uint32_t j = 0; j < view->count; j++)
            if (strcmp(view->nodes[j].primary, view->nodes[i].id) == 0)
                add_replica(self, &table, j);
    }
    cli_table_print(&table, stdout);
    cli_table_free(&table);
}

static uint32_t slots_without_owner(const status *self)
{
    uint32_t count = 0;
    for (uint32_t slot = 0; slot < BRYC_SLOTS; slot++)
        count += self->view.owners[slot] == VIEW_NONE;
    return count;
}

static void print_status(const status *self)
{
    uint32_t lost = slots_without_owner(self);
    print_nodes(self);
    printf("\nImbalance (standard deviation / mean): pairs %.3f, queries %.3f, bytes %.3f\n",
           self->rho[LOAD_PAIRS], self->rho[LOAD_QUERIES], self->rho[LOAD_BYTES]);
    if (lost > 0)
        printf("%u slots have no owner.\n", lost);
    if (self->view.open_count > 0)
        printf("Slots are open, slot %u for one: they are being moved, or \"bloomery cluster "
               "balance\" "
               "was interrupted; run it again.\n",
               self->view.open[0].slot);
}

/* ---- JSON ---------------------------------------------------------------------------------- */

static void json_node(const status *self, cli_json *json, uint32_t number)
{
    const view_node *node = &self->view.nodes[number];
    const node_sums *sums = &self->sums[number];
    cli_json_open(json, NULL, '{');
    cli_json_text(json, "node", node->name);
    cli_json_text(json, "id", node->id);
    cli_json_text(json, "role", node->primary[0] ? "replica" : "primary");
    if (node->primary[0])
        cli_json_text(json, "primary", node->primary);
    cli_json_bool(json, "failed", node->failed);
    cli_json_bool(json, "answers", node->answers);
    if (!node->primary[0]) {
        cli_json_count(json, "slots", node->slots);
        cli_json_count(json, "maps", sums->maps);
        cli_json_count(json, "other_keys", sums->others);
        cli_json_number(json, "pairs", sums->loads[LOAD_PAIRS]);
        cli_json_number(json, "queries_per_second", sums->loads[LOAD_QUERIES]);
        cli_json_number(json, "bytes", sums->loads[LOAD_BYTES]);
    }
    cli_json_close(json, '}');
}

static void print_status_json(const status *self)
{
    cli_json json = CLI_JSON_TO(stdout);
    cli_json_open(&json, NULL, '{');
    cli_json_open(&json, "nodes", '[');
    for (uint32_t i = 0; i < self->view.count; i++)
        json_node(self, &json, i);
    cli_json_close(&json, ']');
    cli_json_open(&json, "rho", '{');
    for (int kind = 0; kind < 3; kind++)
        cli_json_number(&json, load_kind_name((load_kind)kind), self->rho[kind]);
    cli_json_close(&json, '}');
    cli_json_count(&json, "slots_without_owner", slots_without_owner(self));
    cli_json_open(&json, "open_slots", '[');
    for (size_t i = 0; i < self->view.open_count; i++)
        cli_json_count(&json, NULL, self->view.open[i].slot);
    cli_json_close(&json, ']');
    cli_json_close(&json, '}');
}

/* ---- the command --------------------------------------------------------------------------- */

static int show_status(status *self, uint64_t sample, bool as_json)
{
    slot_loads before = {0}, now = {0};
    bry_status read = slot_loads_read(&self->view, NULL, false, &before);
    if (read == BRY_OK) {
        cli_sleep_ms(sample);
        read = slot_loads_read(&self->view, NULL, true, &now);
    }
    if (read == BRY_OK)
        read = sum_node_loads(self, &before, &now);
    slot_loads_free(&before);
    slot_loads_free(&now);
    if (read != BRY_OK)
        return cli_fail("%s", bryc_error(self->view.client));
    if (as_json)
        print_status_json(self);
    else
        print_status(self);
    return CLI_YES;
}

int cluster_status(int argc, char **argv)
{
    status self = {.shown = LOAD_PAIRS};
    uint64_t sample = 1000;
    bool as_json = false;
    cli_option options[] = {
        {"sample", CLI_SPAN, "T", "count queries for T (default 1s)", &sample},
        {"json", CLI_FLAG, NULL, "print JSON", &as_json},
    };
    cli_syntax syntax = {
        .usage = "HOST:PORT [options]",
        .about =
            "Shows the nodes of a running cluster: roles, slots, maps, pairs, queries per second\n"
            "and bytes. A node with more than 1.2 times the mean load is marked as hot.",
        CLI_OPTIONS(options),
        .more = "Queries are fields of maps that were asked for, set or deleted. Every key that is "
                "not\n"
                "a map counts as one pair; its bytes are estimated from some of them.",
        .examples = "  bloomery cluster status 127.0.0.1:7000",
        .most_words = 1,
        .least_words = 1,
        .missing = "missing node: HOST:PORT of any node of the cluster",
    };
    size_t words;
    int code = cli_read_args(&syntax, argc, argv, &words);
    if (code != CLI_GO_ON)
        return code;
    code = view_connect(&self.view, argv[0]);
    if (code == CLI_GO_ON)
        code = show_status(&self, sample, as_json);
    free(self.sums);
    view_close(&self.view);
    return code;
}
