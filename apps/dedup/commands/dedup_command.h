/* What the commands of `bloomery dedup` share. */
#ifndef BLOOMERY_DEDUP_COMMAND_H
#define BLOOMERY_DEDUP_COMMAND_H

#include "apps/dedup/archive/archive.h"
#include "apps/dedup/store/store.h"
#include "cli/core/args.h"
#include "cli/core/command.h"
#include "cli/core/json/json_write.h"
#include "cli/core/output/output.h"

int dedup_init(int argc, char **argv);
int dedup_put(int argc, char **argv);
int dedup_get(int argc, char **argv);
int dedup_ls(int argc, char **argv);
int dedup_rm(int argc, char **argv);
int dedup_prune(int argc, char **argv);
int dedup_gc(int argc, char **argv);
int dedup_check(int argc, char **argv);
int dedup_stats(int argc, char **argv);
int dedup_rebuild(int argc, char **argv);

/* Of the syntax of a command that takes nothing else. */
#define DEDUP_ONE_REPOSITORY .most_words = 1, .least_words = 1, .missing = "missing repository"

#define DEDUP_JSON_ROW(value)                                                                      \
    {                                                                                              \
        "json", CLI_FLAG, NULL, "print JSON", (value)                                              \
    }
#define DEDUP_QUIET_ROW(value)                                                                     \
    {                                                                                              \
        "q", CLI_FLAG, NULL, "print nothing but errors", (value)                                   \
    }

/* What a command does with an open repository, and what is open of its store. */
typedef dedup_status dedup_work(void *asked, dedup_repo *repo, dedup_store *store);
typedef enum dedup_parts { DEDUP_NO_INDEX, DEDUP_EXACT_INDEX, DEDUP_ALL_INDEXES } dedup_parts;

/* Opens a repository, does the work, and closes it. An exit code, which after a message is CLI_NO if
 * the work has returned DEDUP_MISSING. */
int dedup_run(const char *path, dedup_access access, dedup_parts parts, dedup_work *work,
              void *asked);

/* Opens repository and store; on failure nothing is open. `units` false: without the index in
 * memory. */
dedup_status dedup_open(dedup_repo *repo, dedup_store *store, const char *path, dedup_access access,
                        bool units);
void dedup_close(dedup_repo *repo, dedup_store *store);

/*
 * The snapshot of the exact index must be one in which all chunks of the archive are: not older than
 * the record, which is written last, and not younger than its removal, which comes before that of
 * chunks. So the record is read before and after taking it.
 */
dedup_status dedup_find_archive(const dedup_repo *repo, dedup_store *store, const char *name,
                                dedup_archive *archive);

/* CLI_GO_ON, or CLI_USAGE after a message. */
int dedup_check_name(const char *name);

/* "1 file", "2 files" */
typedef struct dedup_amount {
    char text[48];
} dedup_amount;
dedup_amount dedup_amount_of(uint64_t count, const char *one, const char *many);

/* After a bus error or a segmentation fault in LMDB, which trusts its file: prints what to do and
 * ends the process. */
void dedup_catch_faults(void);

#endif
