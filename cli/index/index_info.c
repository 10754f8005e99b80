/* bloomery index info: size, files and errors of an index, as text or JSON. */
#include "cli/core/json/json_write.h"
#include "cli/index/index_command.h"
#include "cli/index/index_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

typedef struct facts {
    const cli_file_index *index;
    bry_index_options options;
    bry_index_stats stats;
    bool list;
    bool is_file; /* a pipe has no size */
    uint64_t file_bytes;
} facts;

/* Elements of a file's units, including stale ones. */
static void count_file_elements(const cli_file_index *index, const cli_named_file *file,
                                uint64_t *elements, uint64_t *stale)
{
    *elements = *stale = 0;
    for (uint32_t i = 0; i < file->piece_count; i++) {
        bry_index_unit_info unit = {0};
        if (bry_index_get_unit_info(index->index, file->pieces[i].unit, &unit) == BRY_OK) {
            *elements += unit.elements;
            *stale += unit.dba.stale;
        }
    }
}

static void files_json(cli_json *json, const cli_file_index *index)
{
    cli_json_open(json, "list", '[');
    for (size_t i = 0; i < index->names.count; i++) {
        const cli_named_file *file = &index->names.files[i];
        uint64_t elements, stale;
        if (!file->name)
            continue;
        count_file_elements(index, file, &elements, &stale);
        cli_json_open(json, NULL, '{');
        cli_json_bytes(json, "name", file->name, strlen(file->name));
        cli_json_count(json, "units", file->piece_count);
        cli_json_count(json, "elements", elements);
        cli_json_count(json, "stale", stale);
        cli_json_count(json, "bytes", file->facts.size);
        cli_json_bool(json, "imported", file->apart);
        cli_json_close(json, '}');
    }
    cli_json_close(json, ']');
}

static void print_index_json(const facts *f)
{
    const bry_index_stats *s = &f->stats;
    bool is_dba = s->engine == BRY_ENGINE_DBA;
    char seed[24];
    snprintf(seed, sizeof seed, "%" PRIu64, s->seed);
    cli_json json = CLI_JSON_TO(stdout);
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "engine", bry_engine_name(s->engine));
    cli_json_text(&json, "element", cli_elements_name(f->index->names.elements));
    if (f->index->names.elements.fields.count) {
        const cli_fields *fields = &f->index->names.elements.fields;
        cli_json_text(&json, "fields", cli_fields_say(fields).text);
        cli_json_bytes(&json, "delimiter", (char[]){fields->delimiter, '\0'}, 1);
    }
    cli_json_count(&json, "files", f->index->names.live);
    cli_json_count(&json, "units", s->units);
    cli_json_count(&json, "planned_units", f->options.units);
    cli_json_count(&json, "promised_units", s->promised_units);
    cli_json_count(&json, "unit_capacity", s->unit_capacity);
    cli_json_bool(&json, "fixed", f->options.fixed);
    cli_json_count(&json, "elements", s->elements);
    cli_json_count(&json, "stale", s->dba.stale);
    cli_json_number(&json, "error", f->options.error);
    cli_json_text(&json, "seed", seed); /* too many digits for a JSON number */
    if (is_dba) {
        cli_json_count(&json, "groups", s->dba.groups);
        cli_json_count(&json, "group", s->dba.group);
        cli_json_bool(&json, "segmented", f->options.dba.segmented);
    }
    cli_json_number(&json, "fill", s->fill);
    cli_json_number(&json, "promised_error", s->promised_error);
    cli_json_number(&json, "estimated_error", s->estimated_error);
    cli_json_number(&json, "full_error", s->full_error);
    cli_json_count(&json, "waiting", s->waiting);
    cli_json_count(&json, "waiting_for_files", s->waiting_for_supplier);
    cli_json_count(&json, "rebuilds", s->dba.rebuilds);
    cli_json_count(&json, "bytes", s->bytes);
    if (f->is_file)
        cli_json_count(&json, "file_bytes", f->file_bytes);
    else
        cli_json_text(&json, "file_bytes", NULL);
    if (f->list)
        files_json(&json, f->index);
    cli_json_close(&json, '}');
}

static const char *plural_ending(uint32_t count)
{
    return count == 1 ? "" : "s";
}

static void print_index_text(const facts *f)
{
    const bry_index_stats *s = &f->stats;
    printf("engine      %s", bry_engine_name(s->engine));
    if (s->engine == BRY_ENGINE_DBA)
        printf(", %u group%s of at most %u unit%s%s", s->dba.groups, plural_ending(s->dba.groups),
               s->dba.group, plural_ending(s->dba.group),
               f->options.dba.segmented ? ", segmented" : "");
    const cli_fields *fields = &f->index->names.elements.fields;
    printf("\nfiles       %zu, by %s%s%s, in %u unit%s\n", f->index->names.live,
           f->index->names.elements.kind == CLI_ELEMENT_WHOLE ? "whole content"
           : fields->count == 1                               ? "field"
                                : cli_elements_name(f->index->names.elements),
           fields->count ? " " : "", cli_fields_say(fields).text, s->units,
           plural_ending(s->units));
    printf("planned     %u unit%s%s of %" PRIu64 " elements\n", f->options.units,
           plural_ending(f->options.units), f->options.fixed ? " at most" : "", s->unit_capacity);
    printf("elements    %" PRIu64 ", %" PRIu64 " of them stale\n", s->elements, s->dba.stale);
    printf("error       %.3g promised, %.3g estimated, %.3g with all units full\n",
           s->promised_error, s->estimated_error, s->full_error);
    printf("seed        %" PRIu64 "\n", s->seed);
    printf("fill        %.3f\n", s->fill);
    printf("waiting     %" PRIu64 ", %" PRIu64 " of them for files; %" PRIu64 " rebuilds so far\n",
           s->waiting, s->waiting_for_supplier, s->dba.rebuilds);
    printf("bytes       %" PRIu64, s->bytes);
    if (f->is_file)
        printf("; file %" PRIu64, f->file_bytes);
    putchar('\n');
}

static void print_files(const cli_file_index *index, char end)
{
    for (size_t i = 0; i < index->names.count; i++) {
        const cli_named_file *file = &index->names.files[i];
        uint64_t elements, stale;
        if (!file->name)
            continue;
        count_file_elements(index, file, &elements, &stale);
        printf("%" PRIu64 "\t%s%c", elements, file->name, end);
    }
}

int cli_index_info(int argc, char **argv)
{
    bool as_json = false, nul = false;
    uint64_t max_bytes = 0;
    facts f = {.stats = {0}};
    cli_option options[] = {
        {"files", CLI_FLAG, NULL, "the files, each with the number of its elements", &f.list},
        {"0", CLI_FLAG, NULL, "lines of --files end with a NUL instead of a newline", &nul},
        {"json", CLI_FLAG, NULL, "JSON instead of text", &as_json},
        CLI_INDEX_MAX_MEMORY(&max_bytes),
    };
    const cli_syntax syntax = {
        .usage = "INDEX [options]",
        .about =
            "Prints engine, size and contents of the index, and its error: how often a file is\n"
            "reported for a line that is in none. With --files, prints lines\n"
            "\"elements<TAB>file\" instead.",
        CLI_OPTIONS(options),
        .examples = "  bloomery index info logs.idx\n"
                    "  bloomery index info logs.idx --files",
        .most_words = 1,
        CLI_INDEX_FIRST_WORD,
    };
    size_t words;
    cli_file_index index = {0};
    int code = cli_read_args(&syntax, argc, argv, &words);
    if (code == CLI_GO_ON)
        code = cli_index_open(&index, max_bytes, argv[0]);
    if (code == CLI_GO_ON) {
        struct stat file;
        f.index = &index;
        f.options = cli_index_options(index.index);
        f.is_file = stat(argv[0], &file) == 0 && S_ISREG(file.st_mode);
        f.file_bytes = f.is_file ? (uint64_t)file.st_size : 0;
        bry_index_get_stats(index.index, &f.stats);
        if (as_json)
            print_index_json(&f);
        else if (f.list)
            print_files(&index, nul ? '\0' : '\n');
        else
            print_index_text(&f);
        code = CLI_YES;
    }
    cli_index_close(&index);
    return code;
}
