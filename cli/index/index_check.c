/* bloomery index check: reads all files again and looks up every line. */
#include "cli/core/json/json_write.h"
#include "cli/core/output/progress.h"
#include "cli/index/index_command.h"
#include "cli/index/index_elements.h"
#include "cli/index/index_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCH 256u
#define ROOM 8u

typedef enum state {
    OK, /* unchanged, and every line is found */
    CHANGED, /* changed, but every line is found */
    STALE, /* some lines are not found */
    GONE, /* missing, not a regular file, or not readable */
    APART, /* imported, and the file here differs: not read */
    STATES
} state;
static const char *const state_names[STATES] = {"ok", "changed", "stale", "gone", "apart"};

typedef struct verdict {
    state state;
    uint64_t elements, missing;
} verdict;

static bool is_among(const cli_file_index *index, size_t file, const uint32_t *units, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (index->owners[units[i]].file == file)
            return true;
    return false;
}

/* For elements with more candidates than fit in a batch. */
static bool is_located(const cli_file_index *index, size_t file, bry_hash hash, size_t total)
{
    uint32_t *units = malloc(total * sizeof *units);
    bool located = false;
    if (units) {
        bry_index_locate(index->index, hash, units, total);
        located = is_among(index, file, units, total);
    }
    free(units);
    return located;
}

static void ask_for_elements(const cli_file_index *index, size_t file, const bry_hash *hashes,
                             size_t n, verdict *v)
{
    uint32_t units[BATCH * ROOM];
    size_t totals[BATCH];
    bry_index_locate_n(index->index, hashes, n, units, ROOM, totals);
    for (size_t i = 0; i < n; i++)
        v->missing += !(totals[i] > ROOM ? is_located(index, file, hashes[i], totals[i])
                                         : is_among(index, file, units + i * ROOM, totals[i]));
    v->elements += n;
}

static bry_status ask_index_for_all(const cli_file_index *index, size_t file,
                                    cli_element_reader *reader, cli_progress *progress, verdict *v)
{
    bool more = true;
    while (more) {
        bry_hash hashes[BATCH];
        size_t n = 0;
        while (n < BATCH && more) {
            cli_element element;
            bry_status status = cli_elements_next(reader, &element, &more);
            if (status != BRY_OK)
                return status;
            if (more)
                hashes[n++] = element.hash;
        }
        ask_for_elements(index, file, hashes, n, v);
        cli_progress_add(progress, n);
    }
    return BRY_OK;
}

static uint64_t files_bytes(const cli_file_index *index)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < index->names.count; i++)
        if (index->names.files[i].name)
            bytes += cli_path_bytes(index->names.files[i].name);
    return bytes;
}

static verdict check_indexed_file(const cli_file_index *index, size_t file, cli_progress *progress)
{
    const cli_named_file *named = &index->names.files[file];
    verdict v = {GONE, 0, 0};
    cli_element_reader reader;
    bry_status status = cli_elements_open(&reader, named->name, index->names.elements,
                                          bry_index_seed(index->index));
    bool opened = status == BRY_OK;
    reader.lines.progress = progress;
    bool same = opened && cli_facts_equal(reader.facts, named->facts);
    if (named->apart && !same) {
        v.state = APART;
    } else if (opened) {
        status = ask_index_for_all(index, file, &reader, progress, &v);
        v.state = status != BRY_OK ? GONE : v.missing ? STALE : same ? OK : CHANGED;
    }
    if (status != BRY_OK && v.state == GONE &&
        (status != BRY_E_IO || reader.problem || errno != ENOENT)) {
        cli_progress_end(progress);
        cli_elements_failed(&reader, status, named->name);
    }
    if (opened)
        cli_elements_close(&reader);
    return v;
}

typedef struct report {
    bool json, all;
    char end;
    cli_json out;
    uint64_t files[STATES];
    uint64_t elements, missing;
} report;

static void print_file_verdict(report *r, const char *name, const verdict *v)
{
    r->files[v->state]++;
    r->elements += v->elements;
    r->missing += v->missing;
    if (v->state == OK && !r->all)
        return;
    if (!r->json) {
        printf("%s\t%s%c", state_names[v->state], name, r->end);
        return;
    }
    cli_json_open(&r->out, NULL, '{');
    cli_json_bytes(&r->out, "name", name, strlen(name));
    cli_json_text(&r->out, "state", state_names[v->state]);
    cli_json_count(&r->out, "elements", v->elements);
    cli_json_count(&r->out, "missing", v->missing);
    cli_json_close(&r->out, '}');
}

static void print_check_totals(report *r)
{
    if (!r->json)
        return;
    cli_json_close(&r->out, ']');
    for (int i = 0; i < STATES; i++)
        cli_json_count(&r->out, state_names[i], r->files[i]);
    cli_json_count(&r->out, "elements", r->elements);
    cli_json_count(&r->out, "missing", r->missing);
    cli_json_close(&r->out, '}');
}

static int check_all_files(const cli_file_index *index, report *r)
{
    cli_progress progress = cli_progress_start(files_bytes(index), true);
    if (r->json) {
        cli_json_open(&r->out, NULL, '{');
        cli_json_open(&r->out, "files", '[');
    }
    for (size_t i = 0; i < index->names.count; i++) {
        if (!index->names.files[i].name)
            continue;
        verdict v = check_indexed_file(index, i, &progress);
        print_file_verdict(r, index->names.files[i].name, &v);
    }
    cli_progress_end(&progress);
    print_check_totals(r);
    return r->files[STALE] || r->files[GONE] ? CLI_NO : CLI_YES;
}

static const char about_text[] =
    "Checks that the index can be read, then reads all of its files again and looks up\n"
    "every line. Prints \"state<TAB>file\" for each file that has changed:\n"
    "  stale    some of its lines are not found\n"
    "  gone     it cannot be read\n"
    "  changed  it has changed, but all its lines are found\n"
    "  apart    its units were imported, and the file is not here";
static const char more_text[] =
    "Exit codes: 0 every line is found, 1 a file is stale or gone, 3 failure: the index\n"
    "cannot be read. \"index refresh\" reads stale files again if they have changed or if\n"
    "lines were deleted from the index; \"index refresh --all\" reads every file.";
static const char examples_text[] = "  bloomery index check logs.idx\n"
                                    "  bloomery index check logs.idx --all --json";

int cli_index_check(int argc, char **argv)
{
    bool nul = false;
    uint64_t max_bytes = 0;
    report r = {.out = CLI_JSON_TO(stdout)};
    cli_option options[] = {
        {"all", CLI_FLAG, NULL, "also the files that have not changed", &r.all},
        {"0", CLI_FLAG, NULL, "lines end with a NUL instead of a newline", &nul},
        {"json", CLI_FLAG, NULL, "JSON instead of lines", &r.json},
        CLI_INDEX_MAX_MEMORY(&max_bytes),
    };
    const cli_syntax syntax = {
        .usage = "INDEX [options]",
        .about = about_text,
        CLI_OPTIONS(options),
        .examples = examples_text,
        .more = more_text,
        .most_words = 1,
        CLI_INDEX_FIRST_WORD,
    };
    size_t words;
    cli_file_index index = {0};
    int code = cli_read_args(&syntax, argc, argv, &words);
    if (code == CLI_GO_ON)
        code = cli_index_open(&index, max_bytes, argv[0]);
    r.end = nul ? '\0' : '\n';
    if (code == CLI_GO_ON)
        code = check_all_files(&index, &r);
    cli_index_close(&index);
    return code;
}
