#include "apps/dedup/store/locality.h"

#include "cli/core/files/note_bytes.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    BUCKETS = 1 << 18,
    MOST_ENTRIES = 1 << 18, /* with 52 bytes each: 13 MB */
    MOST_FILES = 64,
    NONE = 0, /* node + 1 is stored, so 0 is no node */
};

dedup_status dedup_locality_init(dedup_locality *cache)
{
    *cache = (dedup_locality){.most_entries = MOST_ENTRIES};
    cache->bucket = calloc(BUCKETS, sizeof *cache->bucket);
    return cache->bucket ? DEDUP_OK : dedup_no_memory();
}

static uint32_t *bucket_of(const dedup_locality *cache, const dedup_digest *digest)
{
    return &cache->bucket[cli_get(digest->bytes, 8) % BUCKETS];
}

static uint32_t *next_node(const dedup_locality *cache, uint32_t node)
{
    return &cache->slot[(node - 1) >> 16].next[(node - 1) & 0xffff];
}

static void close_slot(dedup_locality *cache, dedup_slot *slot)
{
    if (slot->fd >= 0) {
        close(slot->fd);
        cache->open_files--;
    }
    slot->fd = -1;
}

dedup_slot *dedup_locality_find(dedup_locality *cache, const dedup_digest *digest, uint32_t *place)
{
    for (uint32_t node = *bucket_of(cache, digest); node != NONE; node = *next_node(cache, node)) {
        dedup_slot *slot = &cache->slot[(node - 1) >> 16];
        uint32_t at = (node - 1) & 0xffff;
        if (memcmp(&slot->directory.digest[at], digest, sizeof *digest) == 0) {
            slot->used_at = ++cache->clock;
            *place = at;
            return slot;
        }
    }
    return NULL;
}

dedup_slot *dedup_locality_container(dedup_locality *cache, uint64_t number)
{
    for (uint32_t i = 0; i < cache->slots; i++)
        if (cache->slot[i].used && cache->slot[i].directory.number == number)
            return &cache->slot[i];
    return NULL;
}

static void link_node(dedup_locality *cache, dedup_slot *slot, uint32_t place)
{
    uint32_t *bucket = bucket_of(cache, &slot->directory.digest[place]);
    slot->next[place] = *bucket;
    *bucket = ((uint32_t)(slot - cache->slot) << 16 | place) + 1;
}

static void unlink_node(dedup_locality *cache, const dedup_slot *slot, uint32_t place)
{
    uint32_t node = ((uint32_t)(slot - cache->slot) << 16 | place) + 1;
    uint32_t *at = bucket_of(cache, &slot->directory.digest[place]);
    while (*at != node)
        at = next_node(cache, *at);
    *at = slot->next[place];
}

void dedup_locality_remove(dedup_locality *cache, dedup_slot *slot)
{
    for (uint32_t i = 0; i < slot->directory.count; i++)
        unlink_node(cache, slot, i);
    if (!slot->pinned)
        cache->entries -= slot->directory.count;
    close_slot(cache, slot);
    dedup_directory_free(&slot->directory);
    free(slot->next);
    *slot = (dedup_slot){.fd = -1};
}

void dedup_locality_free(dedup_locality *cache)
{
    for (uint32_t i = 0; i < cache->slots; i++)
        if (cache->slot[i].used)
            dedup_locality_remove(cache, &cache->slot[i]);
    free(cache->slot);
    free(cache->bucket);
    *cache = (dedup_locality){0};
}

/* The unpinned slot that was not used for the longest time. */
static dedup_slot *oldest_slot(dedup_locality *cache, bool with_file)
{
    dedup_slot *oldest = NULL;
    for (uint32_t i = 0; i < cache->slots; i++) {
        dedup_slot *slot = &cache->slot[i];
        if (slot->used && (with_file ? slot->fd >= 0 : !slot->pinned) &&
            (!oldest || slot->used_at < oldest->used_at))
            oldest = slot;
    }
    return oldest;
}

static void make_locality_room(dedup_locality *cache)
{
    while (cache->entries > cache->most_entries) {
        dedup_slot *oldest = oldest_slot(cache, false);
        if (!oldest)
            return;
        dedup_locality_remove(cache, oldest);
    }
}

static dedup_slot *free_locality_slot(dedup_locality *cache)
{
    for (uint32_t i = 0; i < cache->slots; i++)
        if (!cache->slot[i].used)
            return &cache->slot[i];
    uint32_t count = cache->slots ? 2 * cache->slots : 64;
    dedup_slot *larger = count <= 0x8000 ? realloc(cache->slot, count * sizeof *larger) : NULL;
    if (!larger)
        return NULL;
    for (uint32_t i = cache->slots; i < count; i++)
        larger[i] = (dedup_slot){.fd = -1};
    cache->slot = larger;
    dedup_slot *slot = &larger[cache->slots];
    cache->slots = count;
    return slot;
}

static dedup_status reserve_next(dedup_slot *slot, uint32_t room)
{
    if (room <= slot->room)
        return DEDUP_OK;
    uint32_t *larger = realloc(slot->next, room * sizeof *larger);
    if (!larger)
        return dedup_no_memory();
    slot->next = larger;
    slot->room = room;
    return DEDUP_OK;
}

dedup_status dedup_locality_take(dedup_locality *cache, dedup_directory *directory, bool pinned,
                                 dedup_slot **taken)
{
    make_locality_room(cache);
    dedup_slot *slot = free_locality_slot(cache);
    if (!slot)
        return dedup_no_memory();
    dedup_status status = reserve_next(slot, directory->count ? directory->count : 64);
    if (status != DEDUP_OK)
        return status;
    slot->directory = *directory;
    *directory = (dedup_directory){0};
    slot->used = true;
    slot->pinned = pinned;
    slot->used_at = ++cache->clock;
    for (uint32_t i = 0; i < slot->directory.count; i++)
        link_node(cache, slot, i);
    if (!pinned)
        cache->entries += slot->directory.count;
    *taken = slot;
    return DEDUP_OK;
}

dedup_status dedup_locality_add(dedup_locality *cache, dedup_slot *slot, const dedup_digest *digest,
                                const dedup_entry *entry)
{
    dedup_status status = DEDUP_OK;
    if (slot->directory.count == slot->room)
        status = reserve_next(slot, 2 * slot->room);
    if (status == DEDUP_OK)
        status = dedup_directory_add(&slot->directory, digest, entry);
    if (status == DEDUP_OK)
        link_node(cache, slot, slot->directory.count - 1);
    return status;
}

void dedup_locality_unpin(dedup_locality *cache)
{
    for (uint32_t i = 0; i < cache->slots; i++)
        if (cache->slot[i].used && cache->slot[i].pinned) {
            cache->slot[i].pinned = false;
            cache->entries += cache->slot[i].directory.count;
        }
    make_locality_room(cache);
}

void dedup_locality_opened(dedup_locality *cache, const dedup_slot *slot)
{
    cache->open_files++;
    while (cache->open_files > MOST_FILES) {
        dedup_slot *oldest = oldest_slot(cache, true);
        if (oldest == slot)
            return;
        close_slot(cache, oldest);
    }
}
