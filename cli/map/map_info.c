/* bloomery map info: size, load and errors of a map, as text or JSON. */
#include "cli/core/json/json_write.h"
#include "cli/core/output/text_table.h"
#include "cli/map/map_command.h"
#include "cli/map/map_target.h"

#include <inttypes.h>
#include <stdio.h>

static const char *layout_of(const bry_map_options *options)
{
    return options->kbf.layout == BRY_MAP_PAPER ? "paper" : "tuned";
}

static void write_errors(cli_json *json, const char *name, const bry_map_errors *errors)
{
    cli_json_open(json, name, '{');
    cli_json_number(json, "false_positive", errors->false_positive);
    cli_json_number(json, "false_negative", errors->false_negative);
    cli_json_number(json, "incorrect", errors->incorrect);
    cli_json_close(json, '}');
}

static void print_map_json(const cli_map_facts *f)
{
    const bry_map_stats *s = &f->stats;
    bool is_kbf = s->engine == BRY_ENGINE_KBF;
    char seed[24];
    snprintf(seed, sizeof seed, "%" PRIu64, s->seed);
    cli_json json = CLI_JSON_TO(stdout);
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "engine", bry_engine_name(s->engine));
    if (is_kbf)
        cli_json_text(&json, "layout", layout_of(&f->options));
    cli_json_count(&json, "items", s->items);
    cli_json_count(&json, "capacity", s->capacity);
    cli_json_bool(&json, "fixed", f->options.fixed);
    cli_json_number(&json, "error", f->options.error);
    cli_json_text(&json, "seed", seed); /* too many digits for a JSON number */
    cli_json_count(&json, "value_bits", f->options.value_bits);
    cli_json_count(&json, "values", s->values);
    cli_json_count(&json, "values_left", s->values_left);
    cli_json_count(&json, "tables", s->tables);
    cli_json_number(&json, "load", s->load);
    write_errors(&json, "planned", &s->planned);
    write_errors(&json, "estimated", &s->estimated);
    cli_json_count(&json, "refused_unsure", s->kbf.refused_unsure);
    cli_json_count(&json, "refused_full", s->refused_full);
    if (is_kbf)
        cli_json_count(&json, "ghosts", s->kbf.ghosts);
    if (is_kbf && !f->is_remote) {
        cli_json_open(&json, "cells", '[');
        for (size_t i = 0; i < sizeof s->kbf.cells / sizeof s->kbf.cells[0]; i++)
            cli_json_count(&json, NULL, s->kbf.cells[i]);
        cli_json_close(&json, ']');
    }
    cli_json_count(&json, "bytes", s->bytes);
    cli_json_count(&json, "bytes_keys", s->bytes_keys);
    cli_json_count(&json, "bytes_values", s->bytes_values);
    if (f->is_remote) {
        cli_json_count(&json, "slabs", f->slabs);
        cli_json_count(&json, "slabs_used", f->slabs_used);
        cli_json_bool(&json, "keyed", f->keyed);
        cli_json_count(&json, "queries", f->queries);
    } else if (f->is_file)
        cli_json_count(&json, "file_bytes", f->file_bytes);
    else
        cli_json_text(&json, "file_bytes", NULL);
    cli_json_close(&json, '}');
}

static void print_map_text(const cli_map_facts *f)
{
    const bry_map_stats *s = &f->stats;
    bool is_kbf = s->engine == BRY_ENGINE_KBF;
    printf("engine      %s%s%s\n", bry_engine_name(s->engine), is_kbf ? ", " : "",
           is_kbf ? layout_of(&f->options) : "");
    printf("keys        %" PRIu64 ", planned for %" PRIu64 "%s\n", s->items, s->capacity,
           f->options.fixed ? " at most" : "");
    if (f->options.value_bits)
        printf("values      integers of %u bits\n", f->options.value_bits);
    else
        printf("values      %" PRIu64 " known, room for %" PRIu64 " more\n", s->values,
               s->values_left);
    printf("error       %g promised\n", f->options.error);
    printf("seed        %" PRIu64 "\n", s->seed);
    printf("tables      %u, load %.3f\n", s->tables, s->load);
    printf("refused     %" PRIu64 " unsure, %" PRIu64 " full\n", s->kbf.refused_unsure,
           s->refused_full);
    if (is_kbf)
        printf("ghosts      about %" PRIu64 " keys that could not be deleted\n", s->kbf.ghosts);
    printf("bytes       %" PRIu64 ": keys %" PRIu64 ", values %" PRIu64, s->bytes, s->bytes_keys,
           s->bytes_values);
    if (f->is_file)
        printf("; file %" PRIu64, f->file_bytes);
    putchar('\n');
    if (f->is_remote)
        printf("slabs       %" PRIu64 " of %" PRIu64 " in use%s\nqueries     %" PRIu64 "\n",
               f->slabs_used, f->slabs, f->keyed ? ", chosen with a key" : "", f->queries);
    if (is_kbf && !f->is_remote) {
        printf("cells       by keys in them:");
        for (size_t i = 0; i < sizeof s->kbf.cells / sizeof s->kbf.cells[0]; i++)
            printf(" %" PRIu64, s->kbf.cells[i]);
        putchar('\n');
    }
}

static int print_errors(const bry_map_stats *s)
{
    cli_table table = CLI_TABLE("lrr");
    static const char *const names[] = {"false positive", "false negative", "incorrect"};
    const double promised[] = {s->planned.false_positive, s->planned.false_negative,
                               s->planned.incorrect};
    const double estimated[] = {s->estimated.false_positive, s->estimated.false_negative,
                                s->estimated.incorrect};
    cli_table_add(&table, "errors");
    cli_table_add(&table, "planned");
    cli_table_add(&table, "estimated");
    for (int i = 0; i < 3; i++) {
        cli_table_add(&table, "%s", names[i]);
        cli_table_add(&table, "%.3g", promised[i]);
        cli_table_add(&table, "%.3g", estimated[i]);
    }
    putchar('\n');
    bool printed = cli_table_print(&table, stdout);
    cli_table_free(&table);
    return printed ? CLI_YES : cli_no_memory();
}

int cli_map_info(int argc, char **argv)
{
    bool as_json = false;
    uint64_t max_bytes = 0;
    cli_option options[] = {
        {"json", CLI_FLAG, NULL, "JSON instead of text", &as_json},
        CLI_MAP_MAX_MEMORY(&max_bytes),
    };
    const cli_syntax syntax = {
        .usage = "MAP [options]",
        .about = "Prints engine, size and contents of the map, and its errors: promised for the\n"
                 "planned number of keys, and estimated for the current one. On servers: of all\n"
                 "slabs together.",
        CLI_OPTIONS(options),
        .examples = "  bloomery map info paths.map\n"
                    "  bloomery map info redis://127.0.0.1:7000/routes --json",
        .most_words = 1,
        CLI_MAP_FIRST_WORD,
    };
    size_t words;
    int code = cli_read_args(&syntax, argc, argv, &words);
    cli_map_facts facts = {.options = BRY_MAP_OPTIONS, .stats = {0}};
    cli_map_target target;
    cli_map_wants wants = {.path = argv[0], .max_bytes = max_bytes};
    if (code == CLI_GO_ON)
        code = cli_map_target_open(&wants, &target);
    if (code != CLI_GO_ON)
        return code;
    code = target.kind->info(&target, &facts);
    target.kind->close(&target);
    if (code != CLI_GO_ON)
        return code;
    if (as_json) {
        print_map_json(&facts);
        return CLI_YES;
    }
    print_map_text(&facts);
    return print_errors(&facts.stats);
}
