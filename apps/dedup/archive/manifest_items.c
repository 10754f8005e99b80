#include "apps/dedup/archive/manifest_items.h"

#include "apps/dedup/base/disk.h"

#include <string.h>

static dedup_status put_varint(bry_buffer *to, uint64_t number)
{
    unsigned char bytes[10];
    size_t len = 0;
    for (; number >= 128; number >>= 7)
        bytes[len++] = (unsigned char)(number | 128);
    bytes[len++] = (unsigned char)number;
    return dedup_append(to, bytes, len);
}

static dedup_status put_item_text(bry_buffer *to, dedup_text text)
{
    dedup_status status = put_varint(to, text.len);
    return status == DEDUP_OK ? dedup_append(to, text.bytes, text.len) : status;
}

static uint64_t zigzag_of(int64_t number)
{
    return (uint64_t)number << 1 ^ (uint64_t) - (int64_t)(number < 0);
}

static int64_t unzigzag(uint64_t number)
{
    return (int64_t)(number >> 1 ^ -(number & 1));
}

static dedup_status put_payload(bry_buffer *to, const dedup_file_entry *entry)
{
    const char type = (char)entry->type;
    const uint64_t numbers[] = {
        entry->mode,        entry->user, entry->group, zigzag_of(entry->seconds),
        entry->nanoseconds, entry->size, entry->device};
    dedup_status status = dedup_append(to, &type, 1);
    if (status == DEDUP_OK)
        status = put_item_text(to, entry->path);
    for (size_t i = 0; status == DEDUP_OK && i < sizeof numbers / sizeof numbers[0]; i++)
        status = put_varint(to, numbers[i]);
    if (status == DEDUP_OK)
        status = put_item_text(to, entry->target);
    if (status == DEDUP_OK)
        status = put_varint(to, entry->attributes);
    if (status == DEDUP_OK)
        status = dedup_append(to, entry->attribute_bytes.bytes, entry->attribute_bytes.len);
    return status;
}

dedup_status dedup_put_entry(bry_buffer *to, const dedup_file_entry *entry)
{
    bry_buffer payload = BRY_BUFFER;
    dedup_status status = put_payload(&payload, entry);
    if (status == DEDUP_OK)
        status = dedup_append(to, "E", 1);
    if (status == DEDUP_OK)
        status = put_item_text(to, (dedup_text){(const char *)payload.bytes, payload.len});
    bry_buffer_free(&payload);
    return status;
}

dedup_status dedup_put_chunk(bry_buffer *to, const dedup_digest *digest, size_t digest_len,
                             uint64_t len)
{
    dedup_status status = dedup_append(to, "C", 1);
    if (status == DEDUP_OK)
        status = dedup_append(to, digest->bytes, digest_len);
    return status == DEDUP_OK ? put_varint(to, len) : status;
}

dedup_status dedup_put_hole(bry_buffer *to, uint64_t len)
{
    dedup_status status = dedup_append(to, "Z", 1);
    return status == DEDUP_OK ? put_varint(to, len) : status;
}

dedup_status dedup_put_attribute(bry_buffer *to, dedup_text name, dedup_text value)
{
    dedup_status status = put_item_text(to, name);
    return status == DEDUP_OK ? put_item_text(to, value) : status;
}

static bool take_varint(dedup_text *rest, uint64_t *number)
{
    *number = 0;
    for (unsigned shift = 0; shift < 64 && rest->len > 0; shift += 7) {
        unsigned char byte = (unsigned char)*rest->bytes;
        if (shift == 63 && byte > 1)
            return false;
        *number |= (uint64_t)(byte & 127) << shift;
        rest->bytes++;
        rest->len--;
        if (byte < 128)
            return true;
    }
    return false;
}

static bool take_text(dedup_text *rest, dedup_text *text)
{
    uint64_t len;
    if (!take_varint(rest, &len) || len > rest->len)
        return false;
    *text = (dedup_text){rest->bytes, (size_t)len};
    rest->bytes += len;
    rest->len -= (size_t)len;
    return true;
}

static bool take_number32(dedup_text *rest, uint32_t *number)
{
    uint64_t wide;
    if (!take_varint(rest, &wide) || wide > UINT32_MAX)
        return false;
    *number = (uint32_t)wide;
    return true;
}

static bool text_has_nul(dedup_text text)
{
    return text.len > 0 && memchr(text.bytes, 0, text.len) != NULL;
}

static bool take_entry(dedup_text payload, dedup_file_entry *entry)
{
    uint64_t seconds;
    if (payload.len == 0 || payload.bytes[0] == 0 || !strchr("fdlhpcb", payload.bytes[0]))
        return false;
    entry->type = (dedup_type)payload.bytes[0];
    payload.bytes++;
    payload.len--;
    if (!take_text(&payload, &entry->path) || !take_number32(&payload, &entry->mode) ||
        !take_number32(&payload, &entry->user) || !take_number32(&payload, &entry->group) ||
        !take_varint(&payload, &seconds) || !take_number32(&payload, &entry->nanoseconds) ||
        !take_varint(&payload, &entry->size) || !take_varint(&payload, &entry->device) ||
        !take_text(&payload, &entry->target) || !take_varint(&payload, &entry->attributes))
        return false;
    entry->seconds = unzigzag(seconds);
    entry->attribute_bytes = payload;
    dedup_text name, value;
    for (uint64_t i = 0; i < entry->attributes; i++)
        if (!dedup_next_attribute(&payload, &name, &value))
            return false;
    return payload.len == 0 && entry->nanoseconds < 1000000000 && entry->mode <= 07777 &&
           (dedup_path_is_safe(entry->path) || dedup_path_is_root(entry->path)) &&
           !text_has_nul(entry->target) &&
           (entry->type != DEDUP_HARDLINK || dedup_path_is_safe(entry->target));
}

bool dedup_next_attribute(dedup_text *rest, dedup_text *name, dedup_text *value)
{
    return take_text(rest, name) && take_text(rest, value) && name->len > 0 && !text_has_nul(*name);
}

bool dedup_next_item(dedup_text *rest, size_t digest_len, dedup_item *item)
{
    dedup_text payload;
    if (rest->len == 0)
        return false;
    item->tag = *rest->bytes++;
    rest->len--;
    switch (item->tag) {
    case 'E':
        return take_text(rest, &payload) && take_entry(payload, &item->entry);
    case 'C':
        if (rest->len < digest_len)
            return false;
        memset(&item->digest, 0, sizeof item->digest);
        memcpy(item->digest.bytes, rest->bytes, digest_len);
        rest->bytes += digest_len;
        rest->len -= digest_len;
        return take_varint(rest, &item->len);
    case 'Z':
        return take_varint(rest, &item->len);
    default:
        return false;
    }
}

bool dedup_path_is_safe(dedup_text path)
{
    if (path.len == 0 || text_has_nul(path))
        return false;
    for (size_t at = 0; at <= path.len;) {
        const char *slash = memchr(path.bytes + at, '/', path.len - at);
        size_t len = slash ? (size_t)(slash - path.bytes) - at : path.len - at;
        const char *part = path.bytes + at;
        if (len == 0 || (part[0] == '.' && (len == 1 || (len == 2 && part[1] == '.'))))
            return false;
        at += len + 1;
    }
    return true;
}

bool dedup_path_is_root(dedup_text path)
{
    return path.len == 1 && path.bytes[0] == '.';
}

bool dedup_path_is_under(dedup_text path, const char *dir)
{
    size_t len = strlen(dir);
    return path.len >= len && memcmp(path.bytes, dir, len) == 0 &&
           (path.len == len || path.bytes[len] == '/');
}
