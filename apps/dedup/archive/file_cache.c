#include "apps/dedup/archive/file_cache.h"

#include "apps/dedup/base/record.h"
#include "cli/core/files/note_bytes.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char cache_magic[8] = {'B', 'R', 'Y', 'D', 'E', 'D', 'F', '\n'};
static const char saved_name[] = "cache/files", new_name[] = "cache/.new";
enum { CACHE_HEADER = 64, RECORD = 96, OLDEST = 10 };
enum { NOT_MET, MET, CHANGED }; /* states of an old file */

static uint64_t cache_sum(const void *bytes, size_t len)
{
    return bry_hash_key(0, bytes, len).lo;
}

dedup_cached_file dedup_cached_of(dedup_text path, const struct stat *facts)
{
    dedup_cached_file file = {.key = bry_hash_key(0, path.bytes, path.len),
                              .size = (uint64_t)facts->st_size,
                              .inode = facts->st_ino,
                              .modified = facts->st_mtim.tv_sec,
                              .modified_ns = (uint32_t)facts->st_mtim.tv_nsec,
                              .changed = facts->st_ctim.tv_sec,
                              .changed_ns = (uint32_t)facts->st_ctim.tv_nsec};
    return file;
}

static void encode_cached(const dedup_cached_file *file, unsigned char to[RECORD])
{
    const uint64_t words[] = {file->key.hi,
                              file->key.lo,
                              file->size,
                              file->inode,
                              (uint64_t)file->modified,
                              (uint64_t)file->changed,
                              file->modified_ns,
                              file->changed_ns,
                              file->offset,
                              file->len,
                              file->sum,
                              file->age};
    for (int i = 0; i < RECORD / 8; i++)
        cli_put(to + 8 * (size_t)i, words[i], 8);
}

static dedup_cached_file decode_cached(const unsigned char *from)
{
    uint64_t word[RECORD / 8];
    for (int i = 0; i < RECORD / 8; i++)
        word[i] = cli_get(from + 8 * (size_t)i, 8);
    dedup_cached_file file = {.key = {.hi = word[0], .lo = word[1]},
                              .size = word[2],
                              .inode = word[3],
                              .modified = (int64_t)word[4],
                              .changed = (int64_t)word[5],
                              .modified_ns = (uint32_t)word[6],
                              .changed_ns = (uint32_t)word[7],
                              .offset = word[8],
                              .len = word[9],
                              .sum = word[10],
                              .age = (uint32_t)word[11]};
    return file;
}

/* NULL, or what is wrong with the file. The items are not checked. */
static const char *cache_damage(const unsigned char *map, size_t len, uint64_t *table,
                                uint64_t *count)
{
    if (len < CACHE_HEADER || memcmp(map, cache_magic, sizeof cache_magic) != 0 ||
        cli_get(map + 56, 8) != cache_sum(map, 56))
        return "the header is damaged";
    if (cli_get(map + 8, 4) != DEDUP_FORMAT)
        return "it has another format";
    *table = cli_get(map + 32, 8);
    *count = cli_get(map + 16, 8);
    if (*table < CACHE_HEADER || *table > len || (len - *table) % RECORD != 0 ||
        (len - *table) / RECORD != *count ||
        cache_sum(map + *table, len - (size_t)*table) != cli_get(map + 40, 8))
        return "the table is damaged";
    return NULL;
}

static bool map_cache(const dedup_repo *repo, const unsigned char **map, size_t *len)
{
    struct stat facts;
    int fd = openat(repo->fd, saved_name, O_RDONLY | O_CLOEXEC);
    *map = NULL;
    if (fd < 0)
        return false;
    if (fstat(fd, &facts) == 0 && facts.st_size > 0) {
        void *at = mmap(NULL, (size_t)facts.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        *map = at == MAP_FAILED ? NULL : at;
        *len = (size_t)facts.st_size;
    }
    close(fd);
    return true;
}

static bool items_are_intact(const unsigned char *map, uint64_t table,
                             const dedup_cached_file *file)
{
    return file->offset >= CACHE_HEADER && file->offset <= table &&
           file->len <= table - file->offset &&
           cache_sum(map + file->offset, (size_t)file->len) == file->sum;
}

/* Drops a file if one of its chunks is gone. */
static dedup_status validate_cached(dedup_file_cache *cache, dedup_cached_file *file)
{
    dedup_text rest = {(const char *)cache->map + file->offset, (size_t)file->len};
    size_t digest_len = dedup_digest_len(cache->store->repo->config.hash);
    dedup_status status = DEDUP_OK;
    while (status == DEDUP_OK && rest.len > 0 && file->state != CHANGED) {
        dedup_item item;
        bool has = true;
        if (!dedup_next_item(&rest, digest_len, &item) || item.tag == 'E')
            file->state = CHANGED;
        else if (item.tag == 'C')
            status = dedup_store_has(cache->store, &item.digest, NULL, &has);
        if (!has)
            file->state = CHANGED;
    }
    return status;
}

static dedup_status load_old_cache(dedup_file_cache *cache)
{
    uint64_t table, count;
    if (!map_cache(cache->store->repo, &cache->map, &cache->map_len) || !cache->map ||
        cache_damage(cache->map, cache->map_len, &table, &count))
        return DEDUP_OK;
    cache->old = malloc(((size_t)count + 1) * sizeof *cache->old);
    if (!cache->old)
        return dedup_no_memory();
    cache->old_count = (size_t)count;
    for (size_t i = 0; i < cache->old_count; i++) {
        cache->old[i] = decode_cached(cache->map + table + RECORD * i);
        cache->old[i].state =
            items_are_intact(cache->map, table, &cache->old[i]) ? NOT_MET : CHANGED;
    }
    if (cli_get(cache->map + 24, 8) == cache->epoch)
        return DEDUP_OK;
    dedup_status status = DEDUP_OK;
    dedup_counters before = cache->store->counters; /* these look-ups are not of the put */
    for (size_t i = 0; status == DEDUP_OK && i < cache->old_count; i++)
        if (cache->old[i].state != CHANGED)
            status = validate_cached(cache, &cache->old[i]);
    cache->store->counters = before;
    return status;
}

dedup_status dedup_file_cache_open(dedup_file_cache *cache, dedup_store *store, bool use)
{
    *cache = (dedup_file_cache){.store = store};
    dedup_status status = dedup_exact_number(store->exact, "epoch", &cache->epoch);
    return status == DEDUP_OK && use ? load_old_cache(cache) : status;
}

/* The new file is begun when there is something to write. */
static dedup_status begin_new_cache(dedup_file_cache *cache)
{
    const unsigned char header[CACHE_HEADER] = {0};
    int fd =
        openat(cache->store->repo->fd, new_name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    cache->out = fd < 0 ? NULL : fdopen(fd, "w");
    cache->written = CACHE_HEADER;
    if (!cache->out || fwrite(header, 1, sizeof header, cache->out) != sizeof header)
        return dedup_problem(DEDUP_FAILED, "%s: ", new_name);
    return DEDUP_OK;
}

void dedup_file_cache_close(dedup_file_cache *cache)
{
    if (cache->out) {
        fclose(cache->out);
        unlinkat(cache->store->repo->fd, new_name, 0);
    }
    if (cache->map)
        munmap((void *)(uintptr_t)cache->map, cache->map_len);
    free(cache->old);
    free(cache->fresh);
    *cache = (dedup_file_cache){0};
}

static int compare_keys(const void *a, const void *b)
{
    const dedup_cached_file *x = a, *y = b;
    if (x->key.hi != y->key.hi)
        return x->key.hi < y->key.hi ? -1 : 1;
    return x->key.lo != y->key.lo ? (x->key.lo < y->key.lo ? -1 : 1) : 0;
}

bool dedup_file_cache_find(dedup_file_cache *cache, const dedup_cached_file *file,
                           dedup_text *items)
{
    dedup_cached_file *old = cache->old_count ? bsearch(file, cache->old, cache->old_count,
                                                        sizeof *cache->old, compare_keys)
                                              : NULL;
    if (!old || old->state == CHANGED)
        return false;
    old->state = CHANGED;
    if (old->size != file->size || old->inode != file->inode || old->modified != file->modified ||
        old->modified_ns != file->modified_ns || old->changed != file->changed ||
        old->changed_ns != file->changed_ns)
        return false;
    old->state = MET;
    *items = (dedup_text){(const char *)cache->map + old->offset, (size_t)old->len};
    return true;
}

dedup_status dedup_file_cache_keep(dedup_file_cache *cache, const dedup_cached_file *file,
                                   dedup_text items)
{
    dedup_status status = cache->out ? DEDUP_OK : begin_new_cache(cache);
    if (status == DEDUP_OK)
        status = dedup_make_room(&cache->fresh, &cache->fresh_room, cache->fresh_count + 1,
                                 sizeof *cache->fresh);
    if (status != DEDUP_OK)
        return status;
    dedup_cached_file *kept = &cache->fresh[cache->fresh_count++];
    *kept = *file;
    kept->offset = cache->written;
    kept->len = items.len;
    kept->sum = cache_sum(items.bytes, items.len);
    cache->written += items.len;
    if (items.len > 0 && fwrite(items.bytes, 1, items.len, cache->out) != items.len)
        return dedup_problem(DEDUP_FAILED, "%s: ", new_name);
    return DEDUP_OK;
}

static dedup_status write_table(dedup_file_cache *cache)
{
    size_t len = cache->fresh_count * RECORD;
    unsigned char *table = malloc(len + 1), header[CACHE_HEADER] = {0};
    if (!table)
        return dedup_no_memory();
    for (size_t i = 0; i < cache->fresh_count; i++)
        encode_cached(&cache->fresh[i], table + RECORD * i);
    memcpy(header, cache_magic, sizeof cache_magic);
    cli_put(header + 8, DEDUP_FORMAT, 4);
    cli_put(header + 16, cache->fresh_count, 8);
    cli_put(header + 24, cache->epoch, 8);
    cli_put(header + 32, cache->written, 8);
    cli_put(header + 40, cache_sum(table, len), 8);
    cli_put(header + 56, cache_sum(header, 56), 8);
    bool written =
        fwrite(table, 1, len, cache->out) == len && fseek(cache->out, 0, SEEK_SET) == 0 &&
        fwrite(header, 1, sizeof header, cache->out) == sizeof header && fflush(cache->out) == 0;
    free(table);
    return written ? DEDUP_OK : dedup_problem(DEDUP_FAILED, "%s: ", new_name);
}

/* Whether the new cache would be the old one. */
static bool is_unchanged(const dedup_file_cache *cache)
{
    bool same =
        cache->map && cache->fresh_count == 0 && cli_get(cache->map + 24, 8) == cache->epoch;
    for (size_t i = 0; same && i < cache->old_count; i++)
        same = cache->old[i].state != CHANGED;
    return same;
}

dedup_status dedup_file_cache_save(dedup_file_cache *cache)
{
    if (is_unchanged(cache))
        return DEDUP_OK;
    dedup_status status = cache->out ? DEDUP_OK : begin_new_cache(cache);
    for (size_t i = 0; status == DEDUP_OK && i < cache->old_count; i++) {
        dedup_cached_file *old = &cache->old[i];
        old->age = old->state == MET ? 0 : old->age + 1;
        if (old->state != CHANGED && old->age <= OLDEST)
            status = dedup_file_cache_keep(
                cache, old, (dedup_text){(const char *)cache->map + old->offset, (size_t)old->len});
    }
    if (status == DEDUP_OK && cache->fresh_count)
        qsort(cache->fresh, cache->fresh_count, sizeof *cache->fresh, compare_keys);
    if (status == DEDUP_OK)
        status = write_table(cache);
    if (status != DEDUP_OK)
        return status;
    int failed = fclose(cache->out);
    cache->out = NULL;
    /* Not synced: after a crash its checksums tell whether it is complete. */
    if (failed || renameat(cache->store->repo->fd, new_name, cache->store->repo->fd, saved_name))
        return dedup_problem(DEDUP_FAILED, "%s: ", saved_name);
    return DEDUP_OK;
}

dedup_status dedup_file_cache_check(const dedup_repo *repo)
{
    const unsigned char *map;
    size_t len = 0;
    uint64_t table, count;
    if (!map_cache(repo, &map, &len))
        return DEDUP_OK;
    const char *problem = map ? cache_damage(map, len, &table, &count) : "it is empty";
    uint64_t covered = CACHE_HEADER;
    for (uint64_t i = 0; !problem && i < count; i++) {
        dedup_cached_file file = decode_cached(map + table + RECORD * i);
        if (!items_are_intact(map, table, &file))
            problem = "the items are damaged";
        covered += file.len;
    }
    if (!problem && covered != table)
        problem = "the items are damaged";
    if (map)
        munmap((void *)(uintptr_t)map, len);
    return problem ? dedup_problem(DEDUP_DAMAGED, "%s: %s", saved_name, problem) : DEDUP_OK;
}
