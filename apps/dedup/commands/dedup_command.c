#include "apps/dedup/commands/dedup_command.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void report_fault(int number)
{
    static const char text[] =
        ": the exact index is damaged; \"dedup rebuild-index\" rebuilds it\n";
    (void)number;
    if (write(STDERR_FILENO, cli_program, strlen(cli_program)) < 0 ||
        write(STDERR_FILENO, text, sizeof text - 1) < 0)
        _exit(CLI_FAILED);
    _exit(CLI_FAILED);
}

void dedup_catch_faults(void)
{
    struct sigaction action = {.sa_handler = report_fault};
    sigaction(SIGBUS, &action, NULL);
    sigaction(SIGSEGV, &action, NULL);
}

int dedup_run(const char *path, dedup_access access, dedup_parts parts, dedup_work *work,
              void *asked)
{
    dedup_repo repo;
    static dedup_store store;
    dedup_status status = parts == DEDUP_NO_INDEX
                              ? dedup_repo_open(&repo, path, access)
                              : dedup_open(&repo, &store, path, access, parts == DEDUP_ALL_INDEXES);
    if (status != DEDUP_OK)
        return dedup_report();
    status = work(asked, &repo, &store);
    dedup_store_close(&store); /* which may be closed already */
    dedup_repo_close(&repo);
    if (status != DEDUP_OK)
        dedup_report();
    return status == DEDUP_OK ? CLI_YES : status == DEDUP_MISSING ? CLI_NO : CLI_FAILED;
}

dedup_status dedup_open(dedup_repo *repo, dedup_store *store, const char *path, dedup_access access,
                        bool units)
{
    dedup_status status = dedup_repo_open(repo, path, access);
    if (status != DEDUP_OK)
        return status;
    dedup_catch_faults();
    bool write = access == DEDUP_WRITE;
    status =
        units ? dedup_store_open(store, repo, write) : dedup_store_open_plain(store, repo, write);
    if (status != DEDUP_OK)
        dedup_repo_close(repo);
    return status;
}

void dedup_close(dedup_repo *repo, dedup_store *store)
{
    dedup_store_close(store);
    dedup_repo_close(repo);
}

int dedup_check_name(const char *name)
{
    const char *problem = dedup_name_problem(name);
    return problem ? cli_misuse("%s: the name of an archive %s", cli_quote(name).text, problem)
                   : CLI_GO_ON;
}

dedup_amount dedup_amount_of(uint64_t count, const char *one, const char *many)
{
    dedup_amount amount;
    snprintf(amount.text, sizeof amount.text, "%" PRIu64 " %s", count, count == 1 ? one : many);
    return amount;
}

dedup_status dedup_find_archive(const dedup_repo *repo, dedup_store *store, const char *name,
                                dedup_archive *archive)
{
    dedup_archive before;
    dedup_status status;
    do {
        status = dedup_archive_read(repo, name, &before);
        if (status == DEDUP_OK)
            status = dedup_exact_refresh(store->exact);
        if (status == DEDUP_OK)
            status = dedup_archive_read(repo, name, archive);
    } while (status == DEDUP_OK && memcmp(&before.root, &archive->root, sizeof before.root) != 0);
    return status;
}
