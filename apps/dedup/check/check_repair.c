/*
 * Repair. A damaged container is moved to REPO/damaged. What can be read of it is stored again: by
 * its directory, or, if that is damaged, by the lengths before each chunk, from which the digest
 * follows. Then both indexes are rebuilt. A chunk that is lost stays lost until a put stores the
 * same content again; until then, archives that need it are restored without it.
 */
#include "apps/dedup/check/findings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct salvage {
    dedup_store *store;
    bry_buffer file, raw;
    uint64_t saved;
} salvage;

/* "damaged/0000000000000001" */
static dedup_container_name damaged_name_of(uint64_t number)
{
    dedup_container_name name;
    snprintf(name.text, sizeof name.text, "damaged/%016llx", (unsigned long long)number);
    return name;
}

static dedup_status set_file_aside(const dedup_repo *repo, const char *from, const char *to)
{
    if (mkdirat(repo->fd, "damaged", 0777) != 0 && errno != EEXIST)
        return dedup_problem(DEDUP_FAILED, "damaged: ");
    if (renameat(repo->fd, from, repo->fd, to) != 0)
        return dedup_problem(DEDUP_FAILED, "%s: ", from);
    return dedup_sync_at(repo->fd, "damaged");
}

/* Stores a chunk unless the store has it. The digest is that of the content, which is verified. */
static dedup_status save_chunk(salvage *from, const dedup_digest *digest, const dedup_entry *entry,
                               const unsigned char *stored)
{
    bool has;
    dedup_status status = dedup_store_has(from->store, digest, NULL, &has);
    if (status != DEDUP_OK || has)
        return status;
    from->saved++;
    return dedup_store_append(from->store, digest, entry, stored);
}

/* All chunks whose directory entry is intact. */
static dedup_status salvage_by_directory(salvage *from, const dedup_directory *directory)
{
    dedup_status status = DEDUP_OK;
    for (uint32_t i = 0; status == DEDUP_OK && i < directory->count; i++) {
        const dedup_entry *entry = &directory->entry[i];
        const unsigned char *stored = from->file.bytes + entry->offset + DEDUP_CHUNK_HEADER;
        status = dedup_store_decode(from->store, &directory->digest[i], entry, stored, &from->raw);
        if (status == DEDUP_OK)
            status = save_chunk(from, &directory->digest[i], entry, stored);
        else if (status == DEDUP_DAMAGED)
            status = DEDUP_OK; /* this one is lost */
    }
    return status;
}

/* The chunk at an offset, by its own header; false if there cannot be one. */
static bool chunk_entry_at(const bry_buffer *file, size_t at, dedup_entry *entry)
{
    size_t end = file->len - DEDUP_HEADER;
    if (at + DEDUP_CHUNK_HEADER > end)
        return false;
    bool valid = dedup_chunk_entry(file->bytes + at, entry);
    entry->offset = (uint32_t)at;
    return valid && at + DEDUP_CHUNK_HEADER + entry->stored <= end;
}

/* Where the data begins: with that many chunks, their lengths end exactly at the end. 0:
 * nowhere. */
static size_t find_container_data(const salvage *from)
{
    dedup_hash hash = from->store->repo->config.hash;
    for (uint64_t chunks = 1; chunks <= DEDUP_CONTAINER_CHUNKS; chunks++) {
        size_t start = (size_t)dedup_data_offset(chunks, hash), at = start;
        dedup_entry entry;
        uint64_t count = 0;
        while (count < chunks && chunk_entry_at(&from->file, at, &entry)) {
            at += DEDUP_CHUNK_HEADER + entry.stored;
            count++;
        }
        if (count == chunks && at + DEDUP_HEADER == from->file.len)
            return start;
    }
    return 0;
}

static dedup_status salvage_by_lengths(salvage *from)
{
    dedup_status status = DEDUP_OK;
    dedup_entry entry;
    size_t at = from->file.len > DEDUP_HEADER ? find_container_data(from) : 0;
    for (; at > 0 && status == DEDUP_OK && chunk_entry_at(&from->file, at, &entry);
         at += DEDUP_CHUNK_HEADER + entry.stored) {
        const unsigned char *stored = from->file.bytes + at + DEDUP_CHUNK_HEADER;
        dedup_digest none = {{0}}, digest;
        status = dedup_store_decode(from->store, &none, &entry, stored, &from->raw);
        if (status != DEDUP_DAMAGED)
            continue;
        /* As expected, that is not its digest; but it may not have decompressed either, and then
         * its content has a digest that nobody asks for. */
        status = dedup_hasher_run(&from->store->hasher, from->raw.bytes, from->raw.len, &digest);
        if (status == DEDUP_OK)
            status = dedup_store_decode(from->store, &digest, &entry, stored, &from->raw);
        if (status == DEDUP_OK)
            status = save_chunk(from, &digest, &entry, stored);
        else if (status == DEDUP_DAMAGED)
            status = DEDUP_OK;
    }
    return status;
}

static dedup_status salvage_container(salvage *from, uint64_t number)
{
    dedup_repo *repo = from->store->repo;
    dedup_container_name name = damaged_name_of(number);
    dedup_directory directory;
    int fd = openat(repo->fd, name.text, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return dedup_problem(DEDUP_FAILED, "%s: ", name.text);
    dedup_status status = dedup_read_file(fd, name.text, &from->file);
    if (status == DEDUP_OK) {
        dedup_status read = dedup_directory_read(fd, number, repo->config.hash, &directory);
        status =
            read == DEDUP_OK ? salvage_by_directory(from, &directory) : salvage_by_lengths(from);
        if (read == DEDUP_OK)
            dedup_directory_free(&directory);
    }
    close(fd);
    return status;
}

/* Everything in REPO/damaged: a repair that was interrupted may have left containers there. What
 * the store has is not stored again. */
static dedup_status salvage_all(salvage *from)
{
    dedup_store *store = from->store;
    dedup_names names;
    uint64_t number;
    int dir = openat(store->repo->fd, "damaged", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return errno == ENOENT ? DEDUP_OK : dedup_problem(DEDUP_FAILED, "damaged: ");
    dedup_status status = dedup_names_read(dir, "damaged", &names);
    if (status != DEDUP_OK)
        return status;
    for (size_t i = 0; i < names.count; i++) /* a number is not used again */
        if (dedup_container_number(names.name[i], &number) && number >= store->next)
            store->next = number + 1;
    for (size_t i = 0; status == DEDUP_OK && i < names.count; i++)
        if (dedup_container_number(names.name[i], &number))
            status = salvage_container(from, number);
    dedup_names_free(&names);
    return status;
}

/* Damaged records of archives go, so that the other archives can be used. */
static void set_record_aside(void *context, const char *name)
{
    const dedup_repo *repo = context;
    char from[512], to[512];
    snprintf(from, sizeof from, "archives/%s", name);
    snprintf(to, sizeof to, "damaged/archive %s", name); /* never the name of a container */
    set_file_aside(repo, from, to);
}

static dedup_status set_records_aside(dedup_repo *repo)
{
    dedup_archive *archives;
    size_t count;
    dedup_status status = dedup_archive_list(repo, &archives, &count, set_record_aside, repo);
    if (status != DEDUP_OK)
        return status;
    free(archives);
    return dedup_sync_at(repo->fd, "archives");
}

dedup_status dedup_repair(dedup_repo *repo, const dedup_findings *findings, uint64_t *saved)
{
    static dedup_store store;
    salvage from = {.store = &store};
    dedup_status status = dedup_repo_exclude_readers(repo);
    for (size_t i = 0; status == DEDUP_OK && i < findings->damaged_count; i++)
        status = set_file_aside(repo, dedup_container_name_of(findings->damaged[i]).text,
                                damaged_name_of(findings->damaged[i]).text);
    if (status == DEDUP_OK)
        status = dedup_sync_at(repo->fd, "containers");
    dedup_repo_admit_readers(repo);
    if (status == DEDUP_OK && findings->record)
        status = set_records_aside(repo);
    if (status == DEDUP_OK && findings->cache)
        unlinkat(repo->fd, "cache/files", 0);
    if (status == DEDUP_OK)
        status = dedup_store_open_rebuilt(&store, repo);
    if (status != DEDUP_OK)
        return status;
    status = salvage_all(&from);
    if (status == DEDUP_OK)
        status = dedup_store_commit(&store);
    if (status == DEDUP_OK)
        status = dedup_store_save(&store);
    *saved = from.saved;
    dedup_store_close(&store);
    bry_buffer_free(&from.file);
    bry_buffer_free(&from.raw);
    return status;
}
