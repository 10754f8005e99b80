#include "apps/dedup/store/container.h"

#include "apps/dedup/base/record.h"
#include "cli/core/files/note_bytes.h"

#include <bloomery/hash.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char magic[8] = {'B', 'R', 'Y', 'D', 'E', 'D', 'C', '\n'};
enum { LENGTHS = 8 }; /* bytes of an entry after its digest */

static uint64_t seeded_sum(uint64_t number, const void *bytes, size_t len)
{
    return bry_hash_key(number, bytes, len).lo;
}

bool dedup_chunk_entry(const unsigned char lengths[DEDUP_CHUNK_HEADER], dedup_entry *entry)
{
    uint32_t word = (uint32_t)cli_get(lengths, 4);
    *entry = (dedup_entry){.stored = word & 0xffffff,
                           .raw = (uint32_t)cli_get(lengths + 4, 4),
                           .codec = (uint8_t)(word >> 24 & 15),
                           .kind = (uint8_t)(word >> 28)};
    return entry->raw <= DEDUP_CHUNK_MAX && entry->codec <= DEDUP_ZSTD &&
           entry->kind <= DEDUP_TREE &&
           (entry->codec != DEDUP_STORED || entry->raw == entry->stored);
}

void dedup_chunk_header(const dedup_entry *entry, unsigned char out[DEDUP_CHUNK_HEADER])
{
    cli_put(out, entry->stored | (uint32_t)entry->codec << 24 | (uint32_t)entry->kind << 28, 4);
    cli_put(out + 4, entry->raw, 4);
}

uint64_t dedup_data_offset(uint64_t chunks, dedup_hash hash)
{
    return DEDUP_HEADER + chunks * (dedup_digest_len(hash) + LENGTHS);
}

void dedup_directory_free(dedup_directory *directory)
{
    free(directory->entry);
    free(directory->digest);
    directory->entry = NULL;
    directory->digest = NULL;
    directory->count = directory->room = 0;
}

static dedup_status reserve_entries(dedup_directory *directory, uint32_t room)
{
    if (room <= directory->room)
        return DEDUP_OK;
    dedup_entry *entry = realloc(directory->entry, room * sizeof *entry);
    if (!entry)
        return dedup_no_memory();
    directory->entry = entry;
    dedup_digest *digest = realloc(directory->digest, room * sizeof *digest);
    if (!digest)
        return dedup_no_memory();
    directory->digest = digest;
    directory->room = room;
    return DEDUP_OK;
}

dedup_status dedup_directory_add(dedup_directory *directory, const dedup_digest *digest,
                                 const dedup_entry *entry)
{
    if (directory->count == directory->room) {
        dedup_status status =
            reserve_entries(directory, directory->room ? 2 * directory->room : 64);
        if (status != DEDUP_OK)
            return status;
    }
    directory->digest[directory->count] = *digest;
    directory->entry[directory->count++] = *entry;
    directory->data += DEDUP_CHUNK_HEADER + entry->stored;
    return DEDUP_OK;
}

dedup_status dedup_container_front(const dedup_directory *directory, dedup_hash hash,
                                   const unsigned char *data, bry_buffer *front)
{
    size_t digest = dedup_digest_len(hash), each = digest + LENGTHS;
    size_t len = (size_t)dedup_data_offset(directory->count, hash);
    dedup_status status = dedup_buffer_reserve(front, len);
    if (status != DEDUP_OK)
        return status;
    front->len = len;
    unsigned char *at = front->bytes + DEDUP_HEADER;
    for (uint32_t i = 0; i < directory->count; i++, at += each) {
        memcpy(at, directory->digest[i].bytes, digest);
        dedup_chunk_header(&directory->entry[i], at + digest);
    }
    unsigned char *header = front->bytes;
    memcpy(header, magic, sizeof magic);
    cli_put(header + 8, DEDUP_FORMAT, 4);
    cli_put(header + 12, hash, 4);
    cli_put(header + 16, directory->number, 8);
    cli_put(header + 24, directory->count, 8);
    cli_put(header + 32, directory->data, 8);
    cli_put(header + 40, seeded_sum(directory->number, header + DEDUP_HEADER, len - DEDUP_HEADER),
            8);
    cli_put(header + 48, seeded_sum(directory->number, data, directory->data), 8);
    cli_put(header + 56, seeded_sum(directory->number, header, 56), 8);
    return DEDUP_OK;
}

static dedup_status damaged_container(uint64_t number, const char *what)
{
    return dedup_problem(DEDUP_DAMAGED, "%s: %s", dedup_container_name_of(number).text, what);
}

dedup_status dedup_container_disagrees(uint64_t number)
{
    return dedup_problem(DEDUP_DAMAGED,
                         "the exact index disagrees with %s; \"dedup rebuild-index\" rebuilds it",
                         dedup_container_name_of(number).text);
}

static dedup_status read_header(const unsigned char *header, uint64_t number, dedup_hash hash,
                                dedup_directory *directory, uint64_t size)
{
    if (memcmp(header, magic, sizeof magic) != 0 ||
        cli_get(header + 56, 8) != seeded_sum(number, header, 56))
        return damaged_container(number, "the header is damaged");
    if (cli_get(header + 8, 4) != DEDUP_FORMAT)
        return dedup_problem(DEDUP_VERSION, "%s: has a format that this build does not read",
                             dedup_container_name_of(number).text);
    uint64_t count = cli_get(header + 24, 8), data = cli_get(header + 32, 8);
    if (cli_get(header + 12, 4) != (uint64_t)hash || cli_get(header + 16, 8) != number ||
        count > DEDUP_CONTAINER_CHUNKS || data > UINT32_MAX / 2 ||
        dedup_data_offset(count, hash) + data + DEDUP_HEADER != size)
        return damaged_container(number, "the header does not belong to this file");
    directory->number = number;
    directory->count = (uint32_t)count;
    directory->data = data;
    directory->data_sum = cli_get(header + 48, 8);
    return DEDUP_OK;
}

/* Whether the lengths of the chunks fill the data exactly. */
static bool fill_directory(dedup_directory *directory, const unsigned char *bytes, size_t digest)
{
    uint64_t at = DEDUP_HEADER + directory->count * (digest + LENGTHS), end = at + directory->data;
    for (uint32_t i = 0; i < directory->count; i++, bytes += digest + LENGTHS) {
        dedup_entry entry;
        bool valid = dedup_chunk_entry(bytes + digest, &entry);
        entry.offset = (uint32_t)at;
        at += DEDUP_CHUNK_HEADER + (uint64_t)entry.stored;
        if (!valid || at > end)
            return false;
        memset(&directory->digest[i], 0, sizeof directory->digest[i]);
        memcpy(directory->digest[i].bytes, bytes, digest);
        directory->entry[i] = entry;
    }
    return at == end;
}

static dedup_status read_entries(int fd, uint64_t sum, dedup_hash hash, dedup_directory *directory)
{
    size_t digest = dedup_digest_len(hash), len = directory->count * (digest + LENGTHS), got = 0;
    uint64_t number = directory->number;
    unsigned char *bytes = malloc(len ? len : 1);
    if (!bytes)
        return dedup_no_memory();
    dedup_status status = reserve_entries(directory, directory->count);
    if (status == DEDUP_OK)
        status =
            dedup_read_at(fd, bytes, len, DEDUP_HEADER, dedup_container_name_of(number).text, &got);
    if (status == DEDUP_OK && (got != len || seeded_sum(number, bytes, len) != sum ||
                               !fill_directory(directory, bytes, digest)))
        status = damaged_container(number, "the directory is damaged");
    free(bytes);
    return status;
}

dedup_status dedup_container_open(int repo, uint64_t number, int *fd)
{
    dedup_container_name name = dedup_container_name_of(number);
    *fd = openat(repo, name.text, O_RDONLY | O_CLOEXEC);
    return *fd >= 0
               ? DEDUP_OK
               : dedup_problem(errno == ENOENT ? DEDUP_DAMAGED : DEDUP_FAILED, "%s: ", name.text);
}

dedup_status dedup_directory_of(int repo, uint64_t number, dedup_hash hash,
                                dedup_directory *directory)
{
    int fd;
    dedup_status status = dedup_container_open(repo, number, &fd);
    if (status != DEDUP_OK)
        return status;
    status = dedup_directory_read(fd, number, hash, directory);
    close(fd);
    return status;
}

dedup_status dedup_container_names(int repo, dedup_names *names)
{
    int dir = openat(repo, "containers", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return dedup_problem(DEDUP_FAILED, "containers: ");
    return dedup_names_read(dir, "containers", names);
}

dedup_status dedup_directory_read(int fd, uint64_t number, dedup_hash hash,
                                  dedup_directory *directory)
{
    unsigned char header[DEDUP_HEADER];
    struct stat facts;
    size_t got;
    dedup_container_name name = dedup_container_name_of(number);
    if (fstat(fd, &facts) != 0)
        return dedup_problem(DEDUP_FAILED, "%s: ", name.text);
    *directory = (dedup_directory){0};
    dedup_status status = dedup_read_at(fd, header, sizeof header, 0, name.text, &got);
    if (status == DEDUP_OK && got < sizeof header)
        status = damaged_container(number, "the file is too short");
    if (status == DEDUP_OK)
        status = read_header(header, number, hash, directory, (uint64_t)facts.st_size);
    if (status == DEDUP_OK)
        status = read_entries(fd, cli_get(header + 40, 8), hash, directory);
    if (status != DEDUP_OK)
        dedup_directory_free(directory);
    return status;
}

dedup_container_name dedup_container_name_of(uint64_t number)
{
    dedup_container_name name;
    snprintf(name.text, sizeof name.text, "containers/%016llx", (unsigned long long)number);
    return name;
}

dedup_container_name dedup_new_name_of(uint64_t number)
{
    dedup_container_name name;
    snprintf(name.text, sizeof name.text, "containers/%016llx.new", (unsigned long long)number);
    return name;
}

bool dedup_container_number(const char *name, uint64_t *number)
{
    char *end;
    if (strlen(name) != 16 || strspn(name, "0123456789abcdef") != 16)
        return false;
    *number = strtoull(name, &end, 16);
    return *end == 0;
}
