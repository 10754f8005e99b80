#include "apps/dedup/check/findings.h"

#include <bloomery/hash.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct container_check {
    dedup_store store; /* only what decoding needs */
    bry_buffer file, raw;
    dedup_findings *findings;
} container_check;

dedup_status dedup_read_file(int fd, const char *name, bry_buffer *file)
{
    struct stat facts;
    if (fstat(fd, &facts) != 0)
        return dedup_problem(DEDUP_FAILED, "%s: ", name);
    dedup_status status = dedup_buffer_reserve(file, (size_t)facts.st_size + 1);
    if (status == DEDUP_OK)
        status = dedup_read_at(fd, file->bytes, (size_t)facts.st_size, 0, name, &file->len);
    return status;
}

/* Each chunk; *bad if one is damaged. */
static dedup_status check_chunks(container_check *check, const dedup_directory *directory,
                                 bool *bad)
{
    for (uint32_t i = 0; i < directory->count; i++) {
        const dedup_entry *entry = &directory->entry[i];
        const unsigned char *at = check->file.bytes + entry->offset;
        unsigned char header[DEDUP_CHUNK_HEADER];
        dedup_chunk_header(entry, header);
        dedup_status status = memcmp(header, at, sizeof header) != 0
                                  ? DEDUP_DAMAGED
                                  : dedup_store_decode(&check->store, &directory->digest[i], entry,
                                                       at + sizeof header, &check->raw);
        if (status == DEDUP_DAMAGED) {
            *bad = true;
            dedup_found_lost(check->findings, directory->number, i);
            dedup_found(check->findings, "%s: chunk %u is damaged",
                        dedup_container_name_of(directory->number).text, i);
        } else if (status != DEDUP_OK) {
            return status;
        }
    }
    return DEDUP_OK;
}

/* Every byte: each chunk, the checksum of the data, and the copy of the header. */
static dedup_status check_bytes(container_check *check, const dedup_directory *directory)
{
    const unsigned char *bytes = check->file.bytes;
    uint64_t data = dedup_data_offset(directory->count, check->store.repo->config.hash);
    const char *problem = NULL;
    bool bad = false;
    dedup_status status = check_chunks(check, directory, &bad);
    if (status != DEDUP_OK)
        return status;
    /* Compressed bytes may be damaged and decompress to the same content. */
    if (!bad &&
        bry_hash_key(directory->number, bytes + data, directory->data).lo != directory->data_sum)
        problem = "the checksum of the data is wrong";
    if (memcmp(bytes, bytes + check->file.len - DEDUP_HEADER, DEDUP_HEADER) != 0)
        problem = "the copy of the header is damaged";
    if (problem)
        dedup_found(check->findings, "%s: %s", dedup_container_name_of(directory->number).text,
                    problem);
    if (bad || problem)
        dedup_found_damaged(check->findings, directory->number);
    return DEDUP_OK;
}

static dedup_status check_container(container_check *check, uint64_t number, bool deep)
{
    dedup_repo *repo = check->store.repo;
    dedup_directory directory;
    int fd;
    dedup_status status = dedup_container_open(repo->fd, number, &fd);
    if (status != DEDUP_OK)
        return status;
    status = dedup_directory_read(fd, number, repo->config.hash, &directory);
    check->findings->containers++;
    if (status == DEDUP_DAMAGED || status == DEDUP_VERSION) {
        dedup_found(check->findings, "%s", dedup_problem_text());
        dedup_found_damaged(check->findings, number);
        dedup_found_lost(check->findings, number, DEDUP_ALL_PLACES);
        close(fd);
        return DEDUP_OK;
    }
    if (status == DEDUP_OK) {
        check->findings->chunks += directory.count;
        if (deep)
            status = dedup_read_file(fd, dedup_container_name_of(number).text, &check->file);
        if (deep && status == DEDUP_OK)
            status = check_bytes(check, &directory);
        dedup_directory_free(&directory);
    }
    close(fd);
    return status;
}

dedup_status dedup_check_containers(dedup_repo *repo, bool deep, dedup_findings *findings)
{
    container_check check = {.store = {.repo = repo}, .findings = findings};
    dedup_names names;
    uint64_t number;
    dedup_status status = dedup_container_names(repo->fd, &names);
    if (status != DEDUP_OK)
        return status;
    status = dedup_hasher_init(&check.store.hasher, repo->config.hash);
    for (size_t i = 0; status == DEDUP_OK && i < names.count; i++)
        if (dedup_container_number(names.name[i], &number))
            status = check_container(&check, number, deep);
    dedup_names_free(&names);
    bry_buffer_free(&check.file);
    bry_buffer_free(&check.raw);
    dedup_store_close(&check.store);
    return status;
}
