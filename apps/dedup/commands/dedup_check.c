/* bloomery dedup check: verifies a repository, and repairs it. */
#include "apps/dedup/archive/file_cache.h"
#include "apps/dedup/check/findings.h"
#include "apps/dedup/commands/dedup_command.h"

#include <stdio.h>

typedef struct request {
    bool deep, repair, json, quiet;
} request;

/* What needs the exact index: archives and units. */
static dedup_status check_with_index(dedup_repo *repo, const request *asked,
                                     dedup_findings *findings)
{
    dedup_store store;
    dedup_status status = dedup_store_open_plain(&store, repo, false);
    if (status != DEDUP_OK)
        return status;
    status = dedup_check_archives(&store, findings);
    if (status == DEDUP_OK)
        status = dedup_check_units(&store, asked->deep, findings);
    dedup_store_close(&store);
    return status;
}

static dedup_status check_parts(dedup_repo *repo, const request *asked, dedup_findings *findings)
{
    dedup_status status = dedup_check_containers(repo, asked->deep, findings);
    if (status == DEDUP_OK)
        status = dedup_check_exact(repo, findings);
    if (status == DEDUP_OK && asked->deep && dedup_file_cache_check(repo) != DEDUP_OK) {
        findings->cache = true;
        dedup_found(findings, "%s", dedup_problem_text());
    }
    if (status == DEDUP_OK && !findings->exact)
        status = check_with_index(repo, asked, findings);
    else if (status == DEDUP_OK && !asked->repair)
        dedup_found(findings, "the archives were not checked: that needs the exact index, which "
                              "\"dedup rebuild-index\" rebuilds");
    return status;
}

static void print_findings_json(const request *asked, const dedup_findings *findings, bool repaired,
                                uint64_t saved)
{
    cli_json json = CLI_JSON_TO(stdout);
    cli_json_open(&json, NULL, '{');
    cli_json_bool(&json, "deep", asked->deep);
    cli_json_count(&json, "containers", findings->containers);
    cli_json_count(&json, "chunks", findings->chunks);
    cli_json_open(&json, "problems", '[');
    for (size_t i = 0; i < findings->count; i++)
        cli_json_text(&json, NULL, findings->text[i]);
    cli_json_close(&json, ']');
    cli_json_count(&json, "damaged_files", findings->files_hit);
    cli_json_bool(&json, "repaired", repaired);
    cli_json_count(&json, "saved_chunks", saved);
    cli_json_close(&json, '}');
}

static void print_findings(const request *asked, const dedup_findings *findings, bool repaired,
                           uint64_t saved)
{
    if (asked->json) {
        print_findings_json(asked, findings, repaired, saved);
    } else if (findings->count && repaired) {
        printf("repaired; %s of damaged containers saved\n",
               dedup_amount_of(saved, "chunk", "chunks").text);
    } else if (!findings->count && !asked->quiet) {
        printf("%s of %s: no problem found\n",
               dedup_amount_of(findings->chunks, "chunk", "chunks").text,
               dedup_amount_of(findings->containers, "container", "containers").text);
    }
}

/* After a repair the archives are checked again: what is still missing is lost. */
static dedup_status repair_found(dedup_repo *repo, const request *asked, dedup_findings *findings,
                                 uint64_t *saved)
{
    dedup_findings after = {.quiet = findings->quiet};
    dedup_status status = dedup_repair(repo, findings, saved);
    if (status == DEDUP_OK)
        status = check_with_index(repo, asked, &after);
    for (size_t i = 0; findings->quiet && i < after.count; i++)
        dedup_found(findings, "after the repair: %s", after.text[i]);
    findings->files_hit = after.files_hit;
    findings->left = after.count;
    dedup_findings_free(&after);
    return status;
}

static int check_repository(const char *path, const request *asked)
{
    dedup_repo repo;
    dedup_findings findings = {.quiet = asked->json};
    uint64_t saved = 0;
    dedup_status status = dedup_repo_open(&repo, path, asked->repair ? DEDUP_WRITE : DEDUP_READ);
    if (status != DEDUP_OK)
        return dedup_report();
    dedup_catch_faults();
    if (!asked->repair) /* what is checked must not change meanwhile */
        status = dedup_repo_exclude_writers(&repo);
    if (status == DEDUP_OK)
        status = check_parts(&repo, asked, &findings);
    bool repaired = status == DEDUP_OK && asked->repair && findings.count > 0;
    if (repaired) {
        if (!asked->json)
            cli_note("repairing");
        status = repair_found(&repo, asked, &findings, &saved);
    }
    dedup_repo_close(&repo);
    if (status == DEDUP_OK && findings.no_memory)
        status = dedup_no_memory();
    if (status == DEDUP_OK)
        print_findings(asked, &findings, repaired, saved);
    size_t left = repaired ? findings.left : findings.count;
    int code = status != DEDUP_OK ? dedup_report() : left > 0 ? CLI_NO : CLI_YES;
    dedup_findings_free(&findings);
    return code;
}

int dedup_check(int argc, char **argv)
{
    request asked = {.deep = false};
    cli_option options[] = {
        {"deep", CLI_FLAG, NULL, "read every byte of the containers", &asked.deep},
        {"repair", CLI_FLAG, NULL, "take out what is damaged and make new indexes", &asked.repair},
        DEDUP_JSON_ROW(&asked.json),
        DEDUP_QUIET_ROW(&asked.quiet),
    };
    const cli_syntax syntax = {
        .usage = "REPO [options]",
        .about = "Verifies that every archive has all its chunks, that the directories of the\n"
                 "containers are intact and that the indexes agree with them. With --deep every\n"
                 "chunk is read and its digest computed, and files with a damaged chunk are named.",
        CLI_OPTIONS(options),
        .more = "--repair moves damaged containers to REPO/damaged, stores again what can be read\n"
                "of them, and rebuilds both indexes. It does not imply --deep: give both\n"
                "to repair damage inside of chunks. Exit code 1: there are problems.",
        .examples = "  bloomery dedup check /backup/repo\n"
                    "  bloomery dedup check /backup/repo --deep --repair",
        DEDUP_ONE_REPOSITORY,
    };
    size_t words;
    int code = cli_read_args(&syntax, argc, argv, &words);
    return code == CLI_GO_ON ? check_repository(argv[0], &asked) : code;
}
