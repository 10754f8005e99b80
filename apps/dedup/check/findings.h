/* What a check has found: problems for people, and places of chunks that are lost. */
#ifndef BLOOMERY_DEDUP_FINDINGS_H
#define BLOOMERY_DEDUP_FINDINGS_H

#include "apps/dedup/archive/archive.h"
#include "apps/dedup/archive/manifest.h"

/* In the list of lost chunks: all chunks of a container. */
enum { DEDUP_ALL_PLACES = 0xffff };

typedef struct dedup_findings {
    bool quiet; /* prints nothing meanwhile: the texts are for JSON */
    char **text; /* A description of each problem. */
    size_t count; /* How many there are. */
    size_t room; /* For how many there is room. */
    bool no_memory; /* Memory ran out, so that findings are missing. */
    uint64_t *lost; /* container << 16 | place */
    size_t lost_count; /* How many there are. */
    size_t lost_room; /* For how many there is room. */
    size_t lost_sorted; /* lost_count when they were last sorted. */
    uint64_t *damaged; /* numbers of damaged containers */
    size_t damaged_count; /* How many there are. */
    size_t damaged_room; /* For how many there is room. */
    bool exact; /* The exact index is damaged. */
    bool units; /* The saved index in memory is damaged. */
    bool cache; /* The file cache is damaged. */
    bool record; /* The record of an archive is damaged. */
    uint64_t containers; /* Containers checked. */
    uint64_t chunks; /* Chunks in them. */
    uint64_t files_hit; /* Files that lack a chunk. */
    size_t left; /* problems after a repair */
} dedup_findings;

/* Adds a problem, and prints it. */
__attribute__((format(printf, 2, 3))) void dedup_found(dedup_findings *findings, const char *format,
                                                       ...);
void dedup_found_lost(dedup_findings *findings, uint64_t container, uint32_t place);
void dedup_found_damaged(dedup_findings *findings, uint64_t container);
bool dedup_is_lost(dedup_findings *findings, dedup_location where);
void dedup_findings_free(dedup_findings *findings);

/* Each adds what it finds. Another status than DEDUP_OK: it could not be checked. */

/* The containers: headers and directories, and with `deep` every byte. */
dedup_status dedup_check_containers(dedup_repo *repo, bool deep, dedup_findings *findings);

/* The content of an open file; `name` is for the message. */
dedup_status dedup_read_file(int fd, const char *name, bry_buffer *file);

/* The exact index, against the directories of the containers, in a process of its own, because
 * LMDB trusts its file and may crash. */
dedup_status dedup_check_exact(dedup_repo *repo, dedup_findings *findings);

/* The structure of LMDB's file. NULL, or what is wrong with it. */
const char *dedup_check_pages(int fd);

/* The archives: every chunk that they need is there; names the files that lack one. */
dedup_status dedup_check_archives(dedup_store *store, dedup_findings *findings);

/* The saved index in memory: it loads, and with `deep` it has every chunk. */
dedup_status dedup_check_units(dedup_store *store, bool deep, dedup_findings *findings);

/* Takes out what is damaged, saves what can be read of it, and makes new indexes. *saved counts
 * chunks. */
dedup_status dedup_repair(dedup_repo *repo, const dedup_findings *findings, uint64_t *saved);

#endif
