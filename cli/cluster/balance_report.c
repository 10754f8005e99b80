#include "cli/cluster/balance_round.h"

#include "cli/core/json/json_write.h"
#include "cli/core/output/output.h"
#include "cli/core/output/text_table.h"
#include "text/number_format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define BAR 30
#define HOT 1.2 /* times the mean */

void report_bar(char *out, size_t width, double part, double whole)
{
    size_t n = whole > 0 ? (size_t)(part / whole * (double)width + 0.5) : 0;
    if (n > width)
        n = width;
    memset(out, '#', n);
    out[n] = '\0';
}

/* A load in the unit of the kind: 12,345, 11.8 MiB. */
static cli_count_text load_text(load_kind kind, double load)
{
    if (kind != LOAD_BYTES)
        return cli_say_count((uint64_t)rint(load));
    cli_count_text out;
    snprintf(out.text, sizeof out.text, "%s", text_size_of((uint64_t)load).text);
    return out;
}

static const char *unit_of(load_kind kind)
{
    return kind == LOAD_QUERIES ? "queries/s" : load_kind_name(kind);
}

static void print_servers(const balance_round *round, bool after)
{
    cli_table table = CLI_TABLE("lrrrll");
    double most = 0, sum = 0;
    for (uint32_t i = 0; i < round->server_count; i++) {
        const balance_server *server = &round->servers[i];
        double load = after ? server->after : server->load;
        most = load > most ? load : most;
        sum += load / round->server_count;
    }
    cli_table_add(&table, "node");
    cli_table_add(&table, "slots");
    cli_table_add(&table, "maps");
    cli_table_add(&table, "%s", unit_of(round->asked->by));
    cli_table_add(&table, "%s", "");
    cli_table_add(&table, "%s", "");
    for (uint32_t i = 0; i < round->server_count; i++) {
        const balance_server *server = &round->servers[i];
        double load = after ? server->after : server->load;
        char bar[BAR + 1];
        report_bar(bar, BAR, load, most);
        cli_table_add(&table, "%s", server->name);
        cli_table_add(&table, "%u", server->slots);
        cli_table_add(&table, "%u", server->maps);
        cli_table_add(&table, "%s", load_text(round->asked->by, load).text);
        cli_table_add(&table, "%s", bar);
        cli_table_add(&table, "%s", load > HOT * sum ? "hot" : "");
    }
    cli_table_print(&table, stdout);
    cli_table_free(&table);
}

void report_before(const balance_round *round)
{
    print_servers(round, false);
    for (uint32_t i = 0; i < round->server_count; i++)
        if (round->servers[i].closed)
            cli_note("%s", round->servers[i].why);
    printf("\nImbalance (standard deviation / mean): %.3f\n", round->rho);
    if (round->planned == 0)
        printf("Nothing to move.\n");
    else
        printf("%s%zu steps, after which it is %.3f:\n", round->asked->dry_run ? "Would take " : "",
               round->planned, round->rho_planned);
    fflush(stdout);
}

void report_step(const balance_round *round, size_t number)
{
    const balance_step *step = &round->steps[number];
    load_kind kind = round->asked->by;
    printf("%3zu. slot %u (%s %s) from %s to %s", number + 1, round->slots[step->slab],
           load_text(kind, round->slabs[step->slab].load).text, unit_of(kind),
           round->servers[step->from].name, round->servers[step->to].name);
    if (step->back != BALANCE_NONE)
        printf(", slot %u (%s) back", round->slots[step->back],
               load_text(kind, round->slabs[step->back].load).text);
    printf("; imbalance %.3f\n", step->rho);
    fflush(stdout);
}

void report_after(const balance_round *round)
{
    if (round->done == 0)
        return;
    putchar('\n');
    print_servers(round, true);
    printf("\nImbalance: %.3f, predicted %.3f%s\n", round->rho_after, round->rho_planned,
           round->measured ? "" : "; the rates of queries are known after the next period");
    fflush(stdout);
}

/* ---- JSON ---------------------------------------------------------------------------------- */

static void json_steps(cli_json *json, const balance_round *round)
{
    cli_json_open(json, "steps", '[');
    for (size_t i = 0; i < round->planned; i++) {
        const balance_step *step = &round->steps[i];
        cli_json_open(json, NULL, '{');
        cli_json_count(json, "slot", round->slots[step->slab]);
        cli_json_text(json, "from", round->servers[step->from].name);
        cli_json_text(json, "to", round->servers[step->to].name);
        cli_json_number(json, "load", round->slabs[step->slab].load);
        if (step->back != BALANCE_NONE)
            cli_json_count(json, "back", round->slots[step->back]);
        cli_json_number(json, "rho", step->rho);
        cli_json_bool(json, "done", i < round->done);
        cli_json_close(json, '}');
    }
    cli_json_close(json, ']');
}

void report_json(const balance_round *round)
{
    cli_json json = CLI_JSON_TO(stdout);
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "by", load_kind_name(round->asked->by));
    cli_json_bool(&json, "dry_run", round->asked->dry_run);
    cli_json_number(&json, "rho", round->rho);
    cli_json_number(&json, "rho_planned", round->rho_planned);
    cli_json_number(&json, "rho_after", round->rho_after);
    cli_json_bool(&json, "measured", round->measured);
    cli_json_open(&json, "nodes", '[');
    for (uint32_t i = 0; i < round->server_count; i++) {
        const balance_server *server = &round->servers[i];
        cli_json_open(&json, NULL, '{');
        cli_json_text(&json, "node", server->name);
        cli_json_count(&json, "slots", server->slots);
        cli_json_count(&json, "maps", server->maps);
        cli_json_number(&json, "load", server->load);
        cli_json_number(&json, "load_after", server->after);
        if (server->closed)
            cli_json_text(&json, "closed", server->why);
        cli_json_close(&json, '}');
    }
    cli_json_close(&json, ']');
    json_steps(&json, round);
    cli_json_count(&json, "keys_moved", round->mover.keys);
    cli_json_count(&json, "slots_mended", round->mended);
    cli_json_count(&json, "halves_joined", round->mover.joined);
    cli_json_close(&json, '}');
    fflush(stdout);
}
