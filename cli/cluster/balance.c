/*
 * bloomery cluster balance: moves slots between the primaries of a running cluster until they have
 * about the same load. apps/balance/ decides what moves, slot_move.c moves it, slot_finish.c closes
 * what an earlier run or a failover left open.
 */
#include "cli/cluster/balance_round.h"
#include "cli/cluster/cluster_command.h"
#include "cli/core/args.h"
#include "cli/core/output/output.h"
#include "cli/core/steady_clock.h"
#include "cli/core/stop_signals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRIES 5 /* interrupted rounds before a run gives up */
#define PATIENCE 20000 /* ms for nodes to recover before a run gives up */

static void say_line(const char *text)
{
    printf("%s\n", text);
    fflush(stdout);
}

/* ---- one round ----------------------------------------------------------------------------- */

/* What a run remembers from one round to the next. */
typedef struct balance_run {
    balance_options asked;
    cluster_view view;
    slot_loads before; /* the reading of the last round, if there was one */
    bool *rests; /* slots that moved in the last round */
    size_t mended; /* in interrupted rounds before this one, of which JSON shows only these: */
    uint64_t keys, joined;
} balance_run;

static int round_fails(const balance_run *run, const char *problem)
{
    int code = cli_fail("%s", problem);
    return run->asked.watch ? CLI_GO_ON : code;
}

/* Carries out the steps. CLI_GO_ON, or an exit code after a message. If a step is interrupted, for
 * instance by a failover, but its slot could be closed, *again is set. */
static int carry_out_steps(balance_run *run, balance_round *round, bool *moved, bool *again)
{
    for (size_t i = 0; i < round->planned && !cli_is_stopped(); i++) {
        size_t mended;
        if (!run->asked.json)
            report_step(round, i);
        if (run->asked.dry_run || round_step(round, i, moved))
            continue;
        char problem[sizeof round->mover.problem];
        memcpy(problem, round->mover.problem, sizeof problem);
        if (!slots_finish_all(&round->mover, false, PATIENCE, &mended))
            return cli_fail("%s; a slot is open: run the command again", problem);
        round->mended += mended;
        cli_note("%s; the slot was closed", problem);
        *again = true;
        return CLI_GO_ON;
    }
    return CLI_GO_ON;
}

static int run_planned(balance_run *run, balance_round *round, bool *again)
{
    bool *moved = calloc(BRYC_SLOTS, sizeof *moved);
    if (!moved)
        return cli_no_memory();
    if (!run->asked.json)
        report_before(round);
    int code = carry_out_steps(run, round, moved, again);
    free(run->rests);
    run->rests = moved;
    if (round->done > 0 && run->asked.by != LOAD_QUERIES)
        round_measure(round);
    if (!run->asked.json)
        report_after(round);
    else if (!*again)
        report_json(round); /* one object for each round that was not interrupted */
    return code;
}

/* An interrupted round is followed by another, whose report includes what this one has done. */
static void remember_interrupted(balance_run *run, const balance_round *round, bool again)
{
    run->mended = again ? round->mended : 0;
    run->keys = again ? round->mover.keys : 0;
    run->joined = again ? round->mover.joined : 0;
}

/* Reads the loads; queries twice, unless the last round has read them. */
static bry_status read_loads(balance_run *run, slot_loads *now)
{
    const balance_options *asked = &run->asked;
    bool sizes = asked->by == LOAD_BYTES;
    *now = (slot_loads){0};
    if (asked->by == LOAD_QUERIES && !run->before.slots) {
        bry_status status = slot_loads_read(&run->view, asked->map, sizes, &run->before);
        if (status != BRY_OK)
            return status;
        cli_sleep_ms(asked->sample);
    }
    return slot_loads_read(&run->view, asked->map, sizes, now);
}

static int balance_once(balance_run *run, bool *again)
{
    balance_round round = {.asked = &run->asked,
                           .mover = {.view = &run->view,
                                     .say = run->asked.json ? NULL : say_line,
                                     .keys = run->keys,
                                     .joined = run->joined}};
    slot_loads now = {0};
    if (!run->asked.dry_run &&
        !slots_finish_all(&round.mover, run->asked.repair, PATIENCE, &round.mended))
        return round_fails(run, round.mover.problem);
    round.mended += run->mended;
    if (run->asked.repair) {
        if (run->asked.json)
            report_json(&round);
        else
            printf("%zu slots closed, %llu halves joined.\n", round.mended,
                   (unsigned long long)round.mover.joined);
        return CLI_GO_ON;
    }
    bry_status status = view_refresh(&run->view);
    if (status != BRY_OK)
        return round_fails(run, bryc_error(run->view.prober));
    status = read_loads(run, &now);
    if (status == BRY_OK)
        status = round_plan(&round, run->asked.by == LOAD_QUERIES ? &run->before : NULL, &now,
                            run->rests);
    int code = status == BRY_OK ? run_planned(run, &round, again)
                                : round_fails(run, bryc_error(run->view.client));
    remember_interrupted(run, &round, *again);
    slot_loads_free(&run->before);
    if (run->asked.watch)
        run->before = now;
    else
        slot_loads_free(&now);
    round_free(&round);
    return run->asked.watch ? CLI_GO_ON : code;
}

static int balance_rounds(balance_run *run)
{
    for (int tries = 0;;) {
        uint64_t next = cli_clock_ms() + run->asked.watch;
        bool again = false;
        int code = balance_once(run, &again);
        if (code == CLI_GO_ON && again && !cli_is_stopped() && ++tries < TRIES)
            continue;
        if (code == CLI_GO_ON && again && !run->asked.watch)
            return cli_fail("gave up after %d interrupted moves", TRIES);
        tries = 0;
        if (code != CLI_GO_ON)
            return code;
        while (run->asked.watch && !cli_is_stopped() && cli_clock_ms() < next)
            cli_sleep_ms(next - cli_clock_ms());
        if (!run->asked.watch || cli_is_stopped())
            return CLI_YES;
    }
}

/* ---- the command --------------------------------------------------------------------------- */

static const char about_text[] =
    "Moves slots between the primaries of a running cluster until they have about the\n"
    "same load. Clients go on reading and writing meanwhile. A step exchanges the most\n"
    "loaded slot of the most loaded node with the least loaded slot of the least loaded\n"
    "one, or moves one slot if that is as good.";
static const char more_text[] =
    "Slots move only between primaries that have a replica in sync. A run that is interrupted\n"
    "leaves one slot open, in which all keys still answer; the next run closes it. After a\n"
    "failover of either node while a slot was open, --repair closes it and joins the halves of\n"
    "its maps; where both halves have a field, the newer value wins.\n"
    "Every key that is not a map counts as one pair. User and password: BLOOMERY_USER and\n"
    "BLOOMERY_PASSWORD, or redis://USER:PASSWORD@HOST:PORT.";
static const char examples_text[] =
    "  bloomery cluster balance 10.0.0.1:6379 --dry-run\n"
    "  bloomery cluster balance 10.0.0.1:6379 --by queries --watch 60s";

/* A name that was mistyped must not look like a map that is balanced. */
static int check_map_exists(const balance_run *run)
{
    bryc_map *map = NULL;
    bry_status status =
        run->asked.map ? bryc_map_open(run->view.client, run->asked.map, &map) : BRY_OK;
    bryc_map_close(map);
    return status == BRY_OK ? CLI_GO_ON : cli_fail("--map: %s", bryc_error(run->view.client));
}

int cluster_balance(int argc, char **argv)
{
    balance_run run = {.asked = {.max_moves = 10, .sample = 2000}};
    const char *by = "pairs";
    cli_option options[] = {
        {"map", CLI_TEXT, "M", "count only the slabs of the distributed map M", &run.asked.map},
        {"by", CLI_TEXT, "LOAD", "what to balance: pairs (default), queries or bytes", &by},
        {"max-moves", CLI_PLAIN, "N", "most steps in a round (default 10)", &run.asked.max_moves},
        {"dry-run", CLI_FLAG, NULL, "show what would move, and change nothing", &run.asked.dry_run},
        {"watch", CLI_SPAN, "T", "repeat every T, until Ctrl-C", &run.asked.watch},
        {"sample", CLI_SPAN, "T", "with --by queries: measure for T (default 2s)",
         &run.asked.sample},
        {"json", CLI_FLAG, NULL, "print JSON", &run.asked.json},
        {"repair", CLI_FLAG, NULL, "only close slots that were left open, and join halves",
         &run.asked.repair},
    };
    cli_syntax syntax = {
        .usage = "HOST:PORT [options]",
        .about = about_text,
        CLI_OPTIONS(options),
        .more = more_text,
        .examples = examples_text,
        .most_words = 1,
        .least_words = 1,
        .missing = "missing node: HOST:PORT of any node of the cluster",
    };
    size_t words;
    int code = cli_read_args(&syntax, argc, argv, &words);
    if (code != CLI_GO_ON)
        return code;
    if (!load_kind_read(by, &run.asked.by))
        return cli_misuse("--by: %s is not pairs, queries or bytes", cli_quote(by).text);
    if (run.asked.max_moves > BRYC_SLOTS)
        return cli_misuse("--max-moves: more than there are slots (%u)", BRYC_SLOTS);
    cli_note_stop_signals(); /* the slot that is moving is finished */
    code = view_connect(&run.view, argv[0]);
    if (code == CLI_GO_ON)
        code = check_map_exists(&run);
    if (code == CLI_GO_ON)
        code = balance_rounds(&run);
    slot_loads_free(&run.before);
    free(run.rests);
    view_close(&run.view);
    return code;
}
