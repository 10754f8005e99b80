#include "apps/dedup/archive/manifest.h"

#include <bloomery/hash.h>
#include <string.h>

enum {
    LEAST = 2048, /* bytes of a chunk of a manifest */
    AVERAGE = 8192,
    MOST = 1 << 16, /* unless a single item is longer */
    TREE_HEADER = 2,
};

void dedup_manifest_free(dedup_manifest *manifest)
{
    for (unsigned i = 0; i < DEDUP_LEVELS; i++)
        bry_buffer_free(&manifest->level[i]);
}

/* Whether a chunk ends after this item: with a probability in proportion to its length. */
static bool ends_chunk(const void *item, size_t len)
{
    uint64_t hash = bry_hash_key(0, item, len).lo;
    return len >= AVERAGE || hash < UINT64_MAX / AVERAGE * len;
}

static dedup_status add_to_level(dedup_manifest *manifest, unsigned level, const void *bytes,
                                 size_t len, bool *full)
{
    bry_buffer *buffer = &manifest->level[level];
    dedup_status status = DEDUP_OK;
    if (level >= manifest->levels)
        manifest->levels = level + 1;
    if (buffer->len == 0 && level > 0) {
        const unsigned char header[TREE_HEADER] = {'T', (unsigned char)level};
        status = dedup_append(buffer, header, sizeof header);
    }
    if (status == DEDUP_OK)
        status = dedup_append(buffer, bytes, len);
    *full = buffer->len >= MOST || (buffer->len >= LEAST && ends_chunk(bytes, len));
    return status;
}

static dedup_status store_level(dedup_manifest *manifest, unsigned level, dedup_digest *digest)
{
    bry_buffer *buffer = &manifest->level[level];
    dedup_status status = dedup_store_add(manifest->store, level ? DEDUP_TREE : DEDUP_ITEMS,
                                          buffer->bytes ? (void *)buffer->bytes : (void *)buffer,
                                          buffer->len, digest);
    buffer->len = 0;
    return status;
}

/* Stores the chunk of a level and adds its digest to the one above, as far up as chunks end. */
static dedup_status close_level(dedup_manifest *manifest, unsigned level)
{
    size_t digest_len = dedup_digest_len(manifest->store->repo->config.hash);
    for (bool full = true; full; level++) {
        dedup_digest digest;
        dedup_status status = store_level(manifest, level, &digest);
        if (status == DEDUP_OK && level + 1 == DEDUP_LEVELS)
            status = dedup_problem(DEDUP_FAILED, "the manifest has too many levels");
        if (status == DEDUP_OK)
            status = add_to_level(manifest, level + 1, digest.bytes, digest_len, &full);
        if (status != DEDUP_OK)
            return status;
    }
    return DEDUP_OK;
}

dedup_status dedup_manifest_add(dedup_manifest *manifest, const void *item, size_t len)
{
    bool full;
    dedup_status status = DEDUP_OK;
    /* A long item gets a chunk of its own, and chunks have a limit. */
    if (manifest->level[0].len > 0 && manifest->level[0].len + len > 2 * (size_t)MOST)
        status = close_level(manifest, 0);
    if (status == DEDUP_OK)
        status = add_to_level(manifest, 0, item, len, &full);
    return status == DEDUP_OK && full ? close_level(manifest, 0) : status;
}

dedup_status dedup_manifest_end(dedup_manifest *manifest, dedup_digest *root, unsigned *depth)
{
    size_t one = TREE_HEADER + dedup_digest_len(manifest->store->repo->config.hash);
    for (unsigned level = 0;; level++) {
        const bry_buffer *buffer = &manifest->level[level];
        bool top = level + 1 >= manifest->levels;
        if (top && level > 0 && buffer->len == one) { /* the level below is the root */
            memset(root, 0, sizeof *root);
            memcpy(root->bytes, buffer->bytes + TREE_HEADER, one - TREE_HEADER);
            *depth = level - 1;
            return DEDUP_OK;
        }
        if (top) {
            *depth = level;
            return store_level(manifest, level, root);
        }
        if (buffer->len == 0)
            continue;
        dedup_status status = close_level(manifest, level);
        if (status != DEDUP_OK)
            return status;
    }
}

/* A list of digests on the way to a leaf. */
typedef struct walk_level {
    bry_buffer bytes;
    size_t at;
} walk_level;

static dedup_status walk_items(dedup_store *store, const bry_buffer *leaf, const dedup_walk *walk)
{
    dedup_text rest = {(const char *)leaf->bytes, leaf->len};
    size_t digest_len = dedup_digest_len(store->repo->config.hash);
    while (rest.len > 0) {
        dedup_item item;
        if (!dedup_next_item(&rest, digest_len, &item))
            return dedup_problem(DEDUP_DAMAGED, "manifest is malformed");
        dedup_status status = walk->item(walk->context, &item);
        if (status != DEDUP_OK)
            return status;
    }
    return DEDUP_OK;
}

/* Reads the chunk of a level. *skip: the walk does not want it, or it is lost. */
static dedup_status enter_chunk(dedup_store *store, const dedup_digest *digest, unsigned level,
                                const dedup_walk *walk, walk_level *into, bool *skip)
{
    dedup_status status = DEDUP_OK;
    *skip = walk->enter && !walk->enter(walk->context, digest, &status);
    if (*skip || status != DEDUP_OK)
        return status;
    status = dedup_store_read(store, digest, &into->bytes);
    size_t digest_len = dedup_digest_len(store->repo->config.hash);
    const unsigned char *bytes = into->bytes.bytes;
    if (status == DEDUP_OK && level > 0 &&
        (into->bytes.len <= TREE_HEADER || bytes[0] != 'T' || bytes[1] != level ||
         (into->bytes.len - TREE_HEADER) % digest_len != 0))
        status = dedup_problem(DEDUP_DAMAGED, "manifest is malformed");
    into->at = TREE_HEADER;
    if ((status == DEDUP_DAMAGED || status == DEDUP_MISSING) && walk->lost) {
        *skip = true;
        return walk->lost(walk->context, digest, status);
    }
    return status;
}

static dedup_status walk_levels(dedup_store *store, unsigned depth, const dedup_walk *walk,
                                walk_level *levels)
{
    size_t digest_len = dedup_digest_len(store->repo->config.hash);
    for (unsigned level = depth;;) {
        walk_level *here = &levels[level];
        dedup_status status = DEDUP_OK;
        if (level == 0) {
            status = walk_items(store, &here->bytes, walk);
            if (status != DEDUP_OK || depth == 0)
                return status;
            level = 1;
        } else if (here->at == here->bytes.len) {
            if (level == depth)
                return DEDUP_OK;
            level++;
        } else {
            dedup_digest child = {{0}};
            bool skip;
            memcpy(child.bytes, here->bytes.bytes + here->at, digest_len);
            here->at += digest_len;
            status = enter_chunk(store, &child, level - 1, walk, &levels[level - 1], &skip);
            if (status != DEDUP_OK)
                return status;
            if (!skip)
                level--;
        }
    }
}

dedup_status dedup_manifest_walk(dedup_store *store, const dedup_digest *root, unsigned depth,
                                 const dedup_walk *walk)
{
    walk_level levels[DEDUP_LEVELS] = {{BRY_BUFFER, 0}};
    bool skip;
    if (depth >= DEDUP_LEVELS)
        return dedup_problem(DEDUP_DAMAGED, "manifest has too many levels");
    dedup_status status = enter_chunk(store, root, depth, walk, &levels[depth], &skip);
    if (status == DEDUP_OK && !skip)
        status = walk_levels(store, depth, walk, levels);
    for (unsigned i = 0; i < DEDUP_LEVELS; i++)
        bry_buffer_free(&levels[i].bytes);
    return status;
}
