#include "apps/dedup/store/store.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

static dedup_status begin_container(dedup_store *store)
{
    dedup_directory empty = {.number = store->next};
    dedup_slot *slot;
    dedup_status status = dedup_locality_take(&store->cache, &empty, true, &slot);
    if (status != DEDUP_OK)
        return status;
    if (!store->units.open && store->units.index) {
        status = dedup_units_next(&store->units, store->next);
        if (status != DEDUP_OK)
            return status;
    }
    store->filled = (uint32_t)(slot - store->cache.slot);
    store->filling = true;
    store->data.len = 0;
    store->next++;
    return DEDUP_OK;
}

static dedup_status note_pending(dedup_store *store, uint64_t number, int fd)
{
    dedup_status status = dedup_make_room(&store->pending, &store->pending_room,
                                          store->pending_count + 1, sizeof *store->pending);
    if (status == DEDUP_OK)
        store->pending[store->pending_count++] = (struct dedup_pending){number, fd};
    return status;
}

/* Writes the container being filled as NUMBER.new. */
static dedup_status write_container(dedup_store *store)
{
    dedup_directory *directory = &store->cache.slot[store->filled].directory;
    store->filling = false;
    dedup_container_name name = dedup_new_name_of(directory->number);
    dedup_status status = dedup_container_front(directory, store->repo->config.hash,
                                                store->data.bytes, &store->front);
    if (status != DEDUP_OK)
        return status;
    for (uint32_t i = 0; i < directory->count; i++) /* until now they were counted from the data */
        directory->entry[i].offset += (uint32_t)store->front.len;
    int fd = openat(store->repo->fd, name.text, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return dedup_problem(DEDUP_FAILED, "%s: ", name.text);
    status = note_pending(store, directory->number, fd);
    if (status != DEDUP_OK) {
        close(fd);
        return status;
    }
    status = dedup_write_all(fd, store->front.bytes, store->front.len, name.text);
    if (status == DEDUP_OK)
        status = dedup_write_all(fd, store->data.bytes, store->data.len, name.text);
    if (status == DEDUP_OK)
        status = dedup_write_all(fd, store->front.bytes, DEDUP_HEADER, name.text);
    if (status == DEDUP_OK) /* starts the writing, which the commit waits for */
        sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
    return status;
}

/* Adds the digest to the units; completes the container first if the unit is full. */
static dedup_status enter_unit(dedup_store *store, const dedup_digest *digest)
{
    dedup_status status = store->filling ? DEDUP_OK : begin_container(store);
    if (status != DEDUP_OK)
        return status;
    if (!store->units.index)
        return DEDUP_OK;
    status = dedup_units_add(&store->units, digest);
    if (status != DEDUP_FULL)
        return status;
    if (store->data.len > 0) {
        status = write_container(store);
        if (status == DEDUP_OK)
            status = begin_container(store);
        if (status != DEDUP_OK)
            return status;
    }
    status = dedup_units_next(&store->units, store->next - 1);
    if (status == DEDUP_OK)
        status = dedup_units_add(&store->units, digest);
    return status == DEDUP_FULL ? dedup_problem(status, "the index in memory is full") : status;
}

dedup_status dedup_store_append(dedup_store *store, const dedup_digest *digest,
                                const dedup_entry *source, const void *stored)
{
    unsigned char header[DEDUP_CHUNK_HEADER];
    dedup_status status = enter_unit(store, digest);
    if (status == DEDUP_OK)
        status =
            dedup_buffer_reserve(&store->data, store->data.len + sizeof header + source->stored);
    if (status != DEDUP_OK)
        return status;
    dedup_entry entry = *source;
    entry.offset = (uint32_t)store->data.len;
    status = dedup_locality_add(&store->cache, &store->cache.slot[store->filled], digest, &entry);
    if (status != DEDUP_OK)
        return status;
    dedup_chunk_header(&entry, header);
    memcpy(store->data.bytes + store->data.len, header, sizeof header);
    memcpy(store->data.bytes + store->data.len + sizeof header, stored, entry.stored);
    store->data.len += sizeof header + entry.stored;
    if (store->data.len >= DEDUP_CONTAINER_BYTES ||
        store->cache.slot[store->filled].directory.count == DEDUP_CONTAINER_CHUNKS)
        status = write_container(store);
    if (status == DEDUP_OK && store->pending_count >= DEDUP_COMMIT_CONTAINERS)
        status = dedup_store_commit(store);
    return status;
}

/* Compresses, if that makes it shorter. */
static dedup_status compress_chunk(dedup_store *store, const void *bytes, dedup_entry *entry,
                                   const void **stored)
{
    entry->stored = entry->raw;
    entry->codec = DEDUP_STORED;
    *stored = bytes;
    int level = store->repo->config.level;
    if (level == 0)
        return DEDUP_OK;
    if (!store->compressor && !(store->compressor = ZSTD_createCCtx()))
        return dedup_no_memory();
    dedup_status status = dedup_buffer_reserve(&store->scratch, ZSTD_compressBound(entry->raw));
    if (status != DEDUP_OK)
        return status;
    size_t len = ZSTD_compressCCtx(store->compressor, store->scratch.bytes, store->scratch.capacity,
                                   bytes, entry->raw, level);
    if (!ZSTD_isError(len) && len < entry->raw) {
        entry->stored = (uint32_t)len;
        entry->codec = DEDUP_ZSTD;
        *stored = store->scratch.bytes;
    }
    return DEDUP_OK;
}

static dedup_status store_new_chunk(dedup_store *store, dedup_kind kind, const void *bytes,
                                    size_t len, const dedup_digest *digest)
{
    dedup_entry entry = {.raw = (uint32_t)len, .kind = (uint8_t)kind};
    const void *stored;
    dedup_status status = compress_chunk(store, bytes, &entry, &stored);
    if (status == DEDUP_OK)
        status = dedup_store_append(store, digest, &entry, stored);
    if (status == DEDUP_OK) {
        store->counters.new_chunks++;
        store->counters.new_bytes += len;
        store->counters.stored_bytes += DEDUP_CHUNK_HEADER + entry.stored;
    }
    return status;
}

dedup_status dedup_store_add(dedup_store *store, dedup_kind kind, const void *bytes, size_t len,
                             dedup_digest *digest)
{
    if (len > DEDUP_CHUNK_MAX)
        return dedup_problem(DEDUP_FAILED, "a chunk is too long");
    dedup_status status = dedup_hasher_run(&store->hasher, bytes, len, digest);
    if (status != DEDUP_OK)
        return status;
    store->counters.chunks++;
    store->counters.bytes += len;
    bool known = false;
    uint32_t unit;
    size_t candidates = dedup_units_locate(&store->units, digest, &unit);
    if (candidates == 0)
        store->counters.decided++;
    else
        status = dedup_store_has(store, digest, candidates == 1 ? &unit : NULL, &known);
    return status != DEDUP_OK || known ? status : store_new_chunk(store, kind, bytes, len, digest);
}

static dedup_status sync_pending(dedup_store *store)
{
    dedup_status status = DEDUP_OK;
    for (size_t i = 0; status == DEDUP_OK && i < store->pending_count; i++) {
        status = dedup_sync(store->pending[i].fd, dedup_new_name_of(store->pending[i].number).text);
        close(store->pending[i].fd);
        store->pending[i].fd = -1;
    }
    for (size_t i = 0; status == DEDUP_OK && i < store->pending_count; i++) {
        dedup_container_name from = dedup_new_name_of(store->pending[i].number);
        dedup_container_name to = dedup_container_name_of(store->pending[i].number);
        if (renameat(store->repo->fd, from.text, store->repo->fd, to.text) != 0)
            status = dedup_problem(DEDUP_FAILED, "%s: ", to.text);
    }
    return status == DEDUP_OK ? dedup_sync_at(store->repo->fd, "containers") : status;
}

dedup_status dedup_entering_add(dedup_entering *list, const dedup_directory *directory, bool keep)
{
    dedup_status status = dedup_make_room(&list->changes, &list->room,
                                          list->count + directory->count, sizeof *list->changes);
    if (status != DEDUP_OK)
        return status;
    for (uint32_t i = 0; i < directory->count; i++)
        list->changes[list->count++] = (dedup_change){
            .digest = directory->digest[i], .where = {directory->number, i}, .keep = keep};
    return dedup_rows_add(&list->rows, (dedup_row){directory->number, directory->count});
}

dedup_status dedup_store_enter(dedup_store *store, dedup_entering *list)
{
    dedup_status status = dedup_exact_apply(store->exact, list->changes, list->count);
    if (status == DEDUP_OK)
        status =
            dedup_exact_finish(store->exact, list->rows.row, list->rows.count, NULL, 0, NULL, 0);
    list->count = list->rows.count = 0;
    return status;
}

void dedup_entering_free(dedup_entering *list)
{
    free(list->changes);
    free(list->rows.row);
}

/* Enters the pending containers into the exact index. */
static dedup_status enter_pending(dedup_store *store)
{
    dedup_entering list = {0};
    dedup_status status = DEDUP_OK;
    for (size_t i = 0; status == DEDUP_OK && i < store->pending_count; i++)
        status = dedup_entering_add(
            &list, &dedup_locality_container(&store->cache, store->pending[i].number)->directory,
            false);
    size_t rows = list.rows.count;
    if (status == DEDUP_OK)
        status = dedup_store_enter(store, &list);
    for (size_t i = 0; status == DEDUP_OK && i < rows; i++)
        status = dedup_rows_add(&store->rows, list.rows.row[i]);
    dedup_entering_free(&list);
    return status;
}

dedup_status dedup_store_commit(dedup_store *store)
{
    dedup_status status = DEDUP_OK;
    if (store->filling && store->data.len > 0)
        status = write_container(store);
    if (status != DEDUP_OK || store->pending_count == 0)
        return status;
    status = sync_pending(store);
    if (status == DEDUP_OK)
        status = enter_pending(store);
    if (status != DEDUP_OK)
        return status;
    store->pending_count = 0;
    dedup_locality_unpin(&store->cache);
    return store->units.index ? dedup_units_settle(&store->units) : DEDUP_OK;
}

dedup_status dedup_store_save(dedup_store *store)
{
    return dedup_units_save(&store->units, store->next);
}
