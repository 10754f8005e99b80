/* What a check has found: problems for people, and places of chunks that are lost. */
#ifndef BLOOMERY_DEDUP_FINDINGS_H
#define BLOOMERY_DEDUP_FINDINGS_H

#include "apps/dedup/archive/archive.h"
#include "apps/dedup/archive/manifest.h"

/* In the list of lost chunks: all chunks of a container. */
enum { DEDUP_ALL_PLACES = 0xffff };

typedef struct dedup_findings {
    bool quiet; /* prints nothing meanwhile: the texts are for JSON */
    char **text;
    size_t count, room;
    bool no_memory;
    uint64_t *lost; /* container << 16 | place */
    size_t lost_count, lost_room, lost_sorted;
    uint64_t *damaged; /* numbers of damaged containers */
    size_t damaged_count, damaged_room;
    bool exact, units, cache; /* these are damaged */
    bool record; /* the record of an archive is */
    uint64_t containers, chunks, files_hit;
    size_t left; /* problems after a repair */
} dedup_findings;

/* Adds a problem, and prints it. */
__attribute__((format(printf, 2, 3))) void dedup_found(dedup_findings *findings, const char *format,
                                                       ...);
void dedup_found_lost(dedup_findings *findings, uint64_t container, uint32_t place);
void dedup_found_damaged(dedup_findings *findings, uint64_t container);
bool dedup_is_lost(dedup_findings *findings, dedup_location where);
void dedup_findings_free(dedup_findings *findings);

/* Each adds what it finds. Another status than BRY_OK: it could not be checked. */

/* The containers: headers and directories, and with `deep` every byte. */
bry_status dedup_check_containers(dedup_repo *repo, bool deep, dedup_findings *findings);

/* The exact index, against the directories of the containers, in a process of its own, because
 * LMDB trusts its file and may crash. */
bry_status dedup_check_exact(dedup_repo *repo, dedup_findings *findings);

/* The structure of LMDB's file. NULL, or what is wrong with it. */
const char *dedup_check_pages(int fd);

/* The archives: every chunk that they need is there; names the files that lack one. */
bry_status dedup_check_archives(dedup_store *store, dedup_findings *findings);

/* The saved index in memory: it loads, and with `deep` it has every chunk. */
bry_status dedup_check_units(dedup_store *store, bool deep, dedup_findings *findings);

/* Takes out what is damaged, saves what can be read of it, and makes new indexes. *saved counts
 * chunks. */
bry_status dedup_repair(dedup_repo *repo, const dedup_findings *findings, uint64_t *saved);

#endif
