/* The way back: from a digest to the verified bytes of a chunk. */
#include "apps/dedup/store/store.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

dedup_status dedup_store_container(dedup_store *store, uint64_t number, dedup_slot **slot)
{
    dedup_directory directory;
    int fd;
    if ((*slot = dedup_locality_container(&store->cache, number)) != NULL)
        return DEDUP_OK;
    dedup_status status = dedup_container_open(store->repo->fd, number, &fd);
    if (status != DEDUP_OK)
        return status;
    status = dedup_directory_read(fd, number, store->repo->config.hash, &directory);
    if (status == DEDUP_OK)
        status = dedup_locality_take(&store->cache, &directory, false, slot);
    if (status != DEDUP_OK) {
        close(fd);
        return status;
    }
    (*slot)->fd = fd;
    dedup_locality_opened(&store->cache, *slot);
    return DEDUP_OK;
}

dedup_status dedup_store_locate(dedup_store *store, const dedup_digest *digest, dedup_slot **slot,
                                uint32_t *place)
{
    dedup_location where;
    dedup_status status = dedup_exact_get(store->exact, digest, &where);
    if (status != DEDUP_OK)
        return status;
    status = dedup_store_container(store, where.container, slot);
    if (status != DEDUP_OK)
        return status;
    if (where.place >= (*slot)->directory.count ||
        memcmp(&(*slot)->directory.digest[where.place], digest, sizeof *digest) != 0)
        return dedup_container_disagrees(where.container);
    *place = where.place;
    return DEDUP_OK;
}

/* A number that cannot be noted is no problem: the exact index is asked then. */
static void note_next_in_unit(dedup_store *store, uint32_t unit, uint64_t number)
{
    if (unit >= store->next_room) {
        size_t room = unit + unit / 2 + 16;
        uint64_t *larger = realloc(store->next_in_unit, room * sizeof *larger);
        if (!larger)
            return;
        memset(larger + store->next_room, 0, (room - store->next_room) * sizeof *larger);
        store->next_in_unit = larger;
        store->next_room = room;
    }
    store->next_in_unit[unit] = number;
}

/* Looks for a chunk in the container where the unit is expected to go on, in the beginning its
 * first. That is a guess, which the directory of the container confirms; if that cannot be read,
 * whoever needs it will say so. */
static dedup_slot *read_next_in_unit(dedup_store *store, uint32_t unit, const dedup_digest *digest,
                                     uint32_t *place)
{
    uint64_t number = unit < store->next_room ? store->next_in_unit[unit] : 0;
    if (number == 0 && bry_index_get_tag(store->units.index, unit, &number) != BRY_OK)
        return NULL;
    const dedup_row *row = dedup_rows_from(&store->rows, number);
    dedup_slot *slot;
    if (!row || dedup_locality_container(&store->cache, row->number) ||
        dedup_store_container(store, row->number, &slot) != DEDUP_OK)
        return NULL;
    return dedup_locality_find(&store->cache, digest, place);
}

/* In `unit`, if that is not NULL. */
static dedup_status find_chunk(dedup_store *store, const dedup_digest *digest, const uint32_t *unit,
                               dedup_slot **slot, uint32_t *place)
{
    dedup_status status = DEDUP_OK;
    *slot = dedup_locality_find(&store->cache, digest, place);
    if (*slot) {
        store->counters.cache_hits++;
    } else if (unit && (*slot = read_next_in_unit(store, *unit, digest, place)) != NULL) {
        store->counters.read_ahead++;
    } else {
        store->counters.lookups++;
        status = dedup_store_locate(store, digest, slot, place);
    }
    if (status == DEDUP_OK && unit)
        note_next_in_unit(store, *unit, (*slot)->directory.number + 1);
    return status;
}

dedup_status dedup_store_has(dedup_store *store, const dedup_digest *digest, const uint32_t *unit,
                             bool *has)
{
    dedup_slot *slot;
    uint32_t place;
    dedup_status status = find_chunk(store, digest, unit, &slot, &place);
    if (status == DEDUP_MISSING)
        store->counters.false_alarms++;
    *has = status == DEDUP_OK;
    return status == DEDUP_MISSING ? DEDUP_OK : status;
}

static dedup_status bad_chunk(const dedup_digest *digest, const char *what)
{
    return dedup_problem(DEDUP_DAMAGED, "chunk %.16s… %s",
                         dedup_hex_of(digest->bytes, sizeof digest->bytes).text, what);
}

dedup_status dedup_store_decode(dedup_store *store, const dedup_digest *digest,
                                const dedup_entry *entry, const unsigned char *stored,
                                bry_buffer *raw)
{
    dedup_digest found;
    dedup_status status = dedup_buffer_reserve(raw, entry->raw ? entry->raw : 1);
    if (status != DEDUP_OK)
        return status;
    raw->len = entry->raw;
    if (entry->codec == DEDUP_STORED) {
        memcpy(raw->bytes, stored, entry->raw);
    } else {
        if (!store->decompressor && !(store->decompressor = ZSTD_createDCtx()))
            return dedup_no_memory();
        size_t len =
            ZSTD_decompressDCtx(store->decompressor, raw->bytes, entry->raw, stored, entry->stored);
        if (ZSTD_isError(len) || len != entry->raw)
            return bad_chunk(digest, "does not decompress");
    }
    status = dedup_hasher_run(&store->hasher, raw->bytes, raw->len, &found);
    if (status == DEDUP_OK && memcmp(&found, digest, sizeof found) != 0)
        status = bad_chunk(digest, "is damaged");
    return status;
}

/* Header and stored bytes of a chunk, into the scratch buffer. */
static dedup_status fetch_stored(dedup_store *store, dedup_slot *slot, uint32_t place)
{
    const dedup_entry *entry = &slot->directory.entry[place];
    unsigned char header[DEDUP_CHUNK_HEADER];
    size_t len = sizeof header + entry->stored, got;
    dedup_status status = DEDUP_OK;
    if (slot->fd < 0) {
        status = dedup_container_open(store->repo->fd, slot->directory.number, &slot->fd);
        if (status == DEDUP_OK)
            dedup_locality_opened(&store->cache, slot);
    }
    if (status == DEDUP_OK)
        status = dedup_buffer_reserve(&store->scratch, len);
    if (status == DEDUP_OK)
        status = dedup_read_at(slot->fd, store->scratch.bytes, len, entry->offset,
                               dedup_container_name_of(slot->directory.number).text, &got);
    if (status != DEDUP_OK)
        return status;
    dedup_chunk_header(entry, header);
    if (got != len || memcmp(header, store->scratch.bytes, sizeof header) != 0)
        return bad_chunk(&slot->directory.digest[place], "is damaged");
    return DEDUP_OK;
}

static dedup_status read_place(dedup_store *store, dedup_slot *slot, uint32_t place,
                               bry_buffer *raw)
{
    dedup_status status = fetch_stored(store, slot, place);
    if (status == DEDUP_OK)
        status =
            dedup_store_decode(store, &slot->directory.digest[place], &slot->directory.entry[place],
                               store->scratch.bytes + DEDUP_CHUNK_HEADER, raw);
    return status;
}

/* Whether there is a container that the exact index does not know. */
static bool has_unknown_container(const dedup_store *store)
{
    dedup_names names;
    uint64_t number;
    bool unknown = false;
    if (dedup_container_names(store->repo->fd, &names) != DEDUP_OK)
        return false;
    for (size_t i = 0; i < names.count && !unknown; i++)
        unknown = dedup_container_number(names.name[i], &number) &&
                  !dedup_rows_find(&store->rows, number);
    dedup_names_free(&names);
    return unknown;
}

dedup_status dedup_store_missing(const dedup_store *store, const dedup_digest *digest)
{
    if (has_unknown_container(store))
        return dedup_problem(DEDUP_FAILED, "the exact index is incomplete; \"dedup rebuild-index\" "
                                           "rebuilds it");
    bad_chunk(digest, "is missing");
    return DEDUP_MISSING;
}

dedup_status dedup_store_read(dedup_store *store, const dedup_digest *digest, bry_buffer *bytes)
{
    dedup_slot *slot;
    uint32_t place;
    dedup_status status = find_chunk(store, digest, NULL, &slot, &place);
    if (status == DEDUP_MISSING)
        return dedup_store_missing(store, digest);
    return status == DEDUP_OK ? read_place(store, slot, place, bytes) : status;
}

dedup_status dedup_store_read_stored(dedup_store *store, dedup_slot *slot, uint32_t place,
                                     const unsigned char **stored)
{
    dedup_status status = read_place(store, slot, place, &store->front);
    *stored = store->scratch.bytes + DEDUP_CHUNK_HEADER;
    return status;
}
