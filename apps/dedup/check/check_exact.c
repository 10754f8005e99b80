/*
 * The exact index against the containers. Each chunk of each directory is looked up. An entry is
 * right if the chunk at its place has its digest; so it is right exactly if that chunk's look-up
 * returns that place. If as many look-ups did so as there are entries, all entries are right.
 */
#include "apps/dedup/check/findings.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct exact_check {
    dedup_exact *exact;
    uint64_t right, walked;
    bool damaged; /* a container is, so that its entries cannot be compared */
    dedup_digest last;
    const char *problem;
} exact_check;

static dedup_status count_entry(void *context, const dedup_digest *digest, dedup_location where)
{
    exact_check *check = context;
    (void)where;
    if (check->walked++ > 0 && memcmp(&check->last, digest, sizeof *digest) >= 0)
        check->problem = "entries are not in order";
    check->last = *digest;
    return check->problem ? DEDUP_DAMAGED : DEDUP_OK;
}

/* `known`: the index has a row for the container. If not, the next writer enters it, and chunks may
 * be missing. */
static dedup_status compare_directory(exact_check *check, const dedup_directory *directory,
                                      bool known)
{
    for (uint32_t i = 0; i < directory->count; i++) {
        dedup_location where;
        dedup_status status = dedup_exact_get(check->exact, &directory->digest[i], &where);
        if (status == DEDUP_MISSING && !known)
            continue;
        if (status == DEDUP_MISSING)
            check->problem = "it lacks a chunk";
        if (status != DEDUP_OK)
            return status;
        check->right += where.container == directory->number && where.place == i;
    }
    return DEDUP_OK;
}

/* Compares a container with its row, which may be NULL. A damaged one was reported before. */
static dedup_status compare_container(exact_check *check, const dedup_repo *repo, uint64_t number,
                                      const dedup_row *row)
{
    dedup_directory directory;
    dedup_status status = dedup_directory_of(repo->fd, number, repo->config.hash, &directory);
    if (status == DEDUP_DAMAGED || status == DEDUP_VERSION) {
        check->damaged = true;
        return DEDUP_OK;
    }
    if (status != DEDUP_OK)
        return status;
    if (row && directory.count != row->chunks)
        check->problem = "it has a wrong number of chunks for a container";
    else
        status = compare_directory(check, &directory, row != NULL);
    dedup_directory_free(&directory);
    return status;
}

static dedup_status compare_containers(exact_check *check, const dedup_repo *repo,
                                       const dedup_rows *rows)
{
    dedup_names names;
    uint64_t number;
    size_t known = 0;
    dedup_status status = dedup_container_names(repo->fd, &names);
    if (status != DEDUP_OK)
        return status;
    for (size_t i = 0; status == DEDUP_OK && !check->problem && i < names.count; i++) {
        if (!dedup_container_number(names.name[i], &number))
            continue;
        const dedup_row *row = dedup_rows_find(rows, number);
        known += row != NULL;
        status = compare_container(check, repo, number, row);
    }
    if (status == DEDUP_OK && !check->problem && known != rows->count)
        check->problem = "it lists a container that does not exist";
    dedup_names_free(&names);
    return status;
}

static dedup_status compare_entries(exact_check *check, const dedup_repo *repo)
{
    dedup_rows rows = {NULL, 0, 0};
    uint64_t chunks, bytes;
    dedup_status status = dedup_exact_rows(check->exact, &rows);
    if (status == DEDUP_OK)
        status = compare_containers(check, repo, &rows);
    free(rows.row);
    if (status == DEDUP_OK && !check->problem)
        status = dedup_exact_walk(check->exact, count_entry, check);
    if (status == DEDUP_OK && !check->problem)
        status = dedup_exact_count(check->exact, &chunks, &bytes);
    if (status == DEDUP_OK && !check->problem &&
        (check->walked != chunks || (!check->damaged && check->right != chunks)))
        check->problem = "it has entries for chunks that do not exist";
    return status;
}

/* In the child: prints what is wrong, if anything, into the pipe. */
static int compare_index(dedup_repo *repo, int pipe)
{
    exact_check check = {.problem = NULL};
    int fd = openat(repo->fd, "index/data.mdb", O_RDONLY | O_CLOEXEC);
    check.problem = fd < 0 ? "the file is missing" : dedup_check_pages(fd);
    dedup_status status = DEDUP_OK;
    if (!check.problem) {
        status = dedup_store_open_exact(repo, false, &check.exact);
        if (status == DEDUP_OK)
            status = compare_entries(&check, repo);
    }
    const char *problem = check.problem        ? check.problem
                          : status != DEDUP_OK ? dedup_problem_text()
                                               : "";
    return write(pipe, problem, strlen(problem)) < 0 ? 1 : 0;
}

static dedup_status wait_for_child(pid_t child, int pipe, dedup_findings *findings)
{
    char text[512] = "";
    size_t len = 0;
    ssize_t got;
    int state = 0;
    while (len + 1 < sizeof text && (got = read(pipe, text + len, sizeof text - 1 - len)) > 0)
        len += (size_t)got;
    text[len] = 0;
    if (waitpid(child, &state, 0) < 0)
        return dedup_problem(DEDUP_FAILED, "waitpid: ");
    bool crashed = !WIFEXITED(state) || WEXITSTATUS(state) != 0;
    if (crashed && !len)
        snprintf(text, sizeof text, "the process that read it crashed");
    if (!*text)
        return DEDUP_OK;
    findings->exact = true;
    dedup_found(findings, "the exact index is damaged: %s", text);
    return DEDUP_OK;
}

dedup_status dedup_check_exact(dedup_repo *repo, dedup_findings *findings)
{
    int pipes[2];
    if (pipe2(pipes, O_CLOEXEC) != 0)
        return dedup_problem(DEDUP_FAILED, "pipe: ");
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL); /* a crash is an answer */
        signal(SIGBUS, SIG_DFL);
        close(pipes[0]);
        _exit(compare_index(repo, pipes[1]));
    }
    close(pipes[1]);
    dedup_status status = child < 0 ? dedup_problem(DEDUP_FAILED, "fork: ")
                                    : wait_for_child(child, pipes[0], findings);
    close(pipes[0]);
    return status;
}
