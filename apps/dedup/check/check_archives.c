#include "apps/dedup/check/findings.h"
#include "cli/core/output/output.h"

#include <stdlib.h>

/* Places of chunks of manifests that were found intact: a hash table of container << 16 | place. */
typedef struct place_set {
    uint64_t *place;
    size_t count, room;
} place_set;

typedef struct archive_check {
    dedup_store *store;
    dedup_findings *findings;
    place_set entered;
    const char *archive;
    bool naming; /* the second walk, which names files */
    uint64_t problems; /* in this archive */
    bry_buffer path; /* of the entry that items belong to */
    bool hit; /* it was reported */
} archive_check;

static bool add_place(place_set *set, uint64_t place, bool *added)
{
    if (2 * (set->count + 1) > set->room) {
        place_set larger = {NULL, 0, set->room ? 2 * set->room : 1024};
        larger.place = calloc(larger.room, sizeof *larger.place);
        if (!larger.place)
            return false;
        bool again;
        for (size_t i = 0; i < set->room; i++)
            if (set->place[i])
                add_place(&larger, set->place[i], &again);
        free(set->place);
        *set = larger;
    }
    size_t at = (size_t)(place * 0x9e3779b97f4a7c15u >> 20) & (set->room - 1);
    while (set->place[at] && set->place[at] != place)
        at = (at + 1) & (set->room - 1);
    *added = set->place[at] == 0;
    set->count += *added;
    set->place[at] = place;
    return true;
}

/* Whether a chunk is there, as far as the containers were checked. */
static dedup_status chunk_is_there(archive_check *check, const dedup_digest *digest, bool *there,
                                   dedup_location *where)
{
    dedup_status status = dedup_exact_get(check->store->exact, digest, where);
    *there = status == DEDUP_OK && !dedup_is_lost(check->findings, *where);
    if (status == DEDUP_MISSING)
        status = dedup_store_missing(check->store, digest);
    return status == DEDUP_MISSING ? DEDUP_OK : status;
}

/* In the first walk, a part that is in several archives is entered once. */
static bool enter_once(void *context, const dedup_digest *digest, dedup_status *status)
{
    archive_check *check = context;
    dedup_location where;
    bool there, added = true;
    if (check->naming)
        return true;
    *status = chunk_is_there(check, digest, &there, &where);
    if (*status == DEDUP_OK && there &&
        !add_place(&check->entered, where.container << 16 | where.place, &added))
        *status = dedup_no_memory();
    return added;
}

static dedup_status part_is_lost(void *context, const dedup_digest *digest, dedup_status status)
{
    archive_check *check = context;
    (void)digest;
    (void)status;
    check->problems++;
    if (check->naming)
        dedup_found(check->findings, "archive %s: a part of the list of files is lost: %s",
                    cli_name(check->archive).text, dedup_problem_text());
    return DEDUP_OK;
}

static dedup_status check_item(void *context, const dedup_item *item)
{
    archive_check *check = context;
    bool there;
    dedup_location where;
    if (item->tag == 'E') {
        check->hit = false;
        check->path.len = 0;
        dedup_status status =
            dedup_append(&check->path, item->entry.path.bytes, item->entry.path.len);
        return status == DEDUP_OK ? dedup_append(&check->path, "", 1) : status;
    }
    if (item->tag != 'C')
        return DEDUP_OK;
    dedup_status status = chunk_is_there(check, &item->digest, &there, &where);
    if (status != DEDUP_OK || there)
        return status;
    check->problems++;
    if (check->naming && !check->hit) {
        check->hit = true;
        check->findings->files_hit++;
        dedup_found(check->findings, "archive %s: %s: damaged", cli_name(check->archive).text,
                    check->path.len ? cli_name((const char *)check->path.bytes).text
                                    : "a file whose name is lost");
    }
    return DEDUP_OK;
}

static void report_record(void *context, const char *name)
{
    dedup_findings *findings = context;
    findings->record = true;
    dedup_found(findings, "archive %s: record damaged", cli_name(name).text);
}

static dedup_status check_archive(archive_check *check, const dedup_archive *archive)
{
    const dedup_walk walk = {check, enter_once, check_item, part_is_lost};
    dedup_status status = DEDUP_OK;
    check->archive = archive->name;
    check->problems = 0;
    for (int naming = 0; status == DEDUP_OK && naming < 2; naming++) {
        check->naming = naming == 1;
        if (naming && check->problems == 0)
            break;
        check->path.len = 0;
        check->hit = false;
        status = dedup_manifest_walk(check->store, &archive->root, archive->depth, &walk);
    }
    if (status == DEDUP_DAMAGED || status == DEDUP_FAILED) {
        dedup_found(check->findings, "archive %s: %s", cli_name(archive->name).text,
                    dedup_problem_text());
        status = DEDUP_OK;
    }
    return status;
}

dedup_status dedup_check_archives(dedup_store *store, dedup_findings *findings)
{
    archive_check check = {.store = store, .findings = findings};
    dedup_archive *archives;
    size_t count;
    dedup_status status =
        dedup_archive_list(store->repo, &archives, &count, report_record, findings);
    if (status != DEDUP_OK)
        return status;
    for (size_t i = 0; status == DEDUP_OK && i < count; i++)
        status = check_archive(&check, &archives[i]);
    free(archives);
    free(check.entered.place);
    bry_buffer_free(&check.path);
    return status;
}

/* Whether the units have every chunk of the containers that they were saved with. */
static dedup_status units_have_all(dedup_store *store, const dedup_units *units, uint64_t next,
                                   bool *all)
{
    *all = true;
    for (size_t row = 0; row < store->rows.count && store->rows.row[row].number < next; row++) {
        dedup_slot *slot;
        dedup_status status = dedup_store_container(store, store->rows.row[row].number, &slot);
        if (status == DEDUP_DAMAGED || status == DEDUP_VERSION)
            continue; /* reported with the containers */
        if (status != DEDUP_OK)
            return status;
        for (uint32_t i = 0; i < slot->directory.count; i++)
            if (!dedup_units_may_have(units, &slot->directory.digest[i]))
                *all = false;
    }
    return DEDUP_OK;
}

dedup_status dedup_check_units(dedup_store *store, bool deep, dedup_findings *findings)
{
    dedup_units units = {.repo = store->repo, .rows = &store->rows};
    uint64_t next = 0;
    bool all = true;
    dedup_status status = dedup_units_load(&units, &next);
    if (status == DEDUP_NO_MEMORY)
        return dedup_no_memory();
    bool current = status == DEDUP_OK; /* a put builds those of an earlier version again */
    bool loaded = current || status == DEDUP_VERSION;
    status = current && deep ? units_have_all(store, &units, next, &all) : DEDUP_OK;
    dedup_units_close(&units);
    if (!loaded || !all) {
        findings->units = true;
        dedup_found(findings, "the saved index in memory is damaged: %s",
                    loaded ? "it lacks a chunk" : "it cannot be loaded");
    }
    return status;
}
