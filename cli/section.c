#include "section.h"

#include <bloomery/hash.h>

void cli_put_fields(unsigned char *to, const cli_fields *fields)
{
    for (size_t i = 0; i < CLI_MOST_FIELDS; i++)
        cli_put(to + 2 * i, i < fields->count ? fields->number[i] : 0, 2);
}

cli_fields cli_get_fields(const unsigned char *from, char delimiter)
{
    cli_fields fields = {.delimiter = delimiter};
    for (size_t i = 0; i < CLI_MOST_FIELDS; i++) {
        fields.number[i] = (uint16_t)cli_get(from + 2 * i, 2);
        if (fields.number[i] && fields.count == i)
            fields.count++;
    }
    return fields;
}

bry_status cli_section_write(const bry_buffer *buffer, const bry_sink *sink)
{
    unsigned char sum[CLI_SECTION_SUM];
    bry_hash hash = bry_hash_key(0, buffer->bytes, buffer->len);
    cli_put(sum, hash.lo, 8);
    cli_put(sum + 8, hash.hi, 8);
    bry_status status = sink->write(sink->opaque, buffer->bytes, buffer->len);
    return status == BRY_OK ? sink->write(sink->opaque, sum, sizeof sum) : status;
}

bry_status cli_section_fail(bry_load *load, bry_status status, uint64_t offset, const char *problem)
{
    load->offset = offset;
    load->problem = problem;
    return status;
}

bry_status cli_section_read(const bry_source *source, bry_load *load, bry_buffer *buffer,
                            uint64_t len, const char *too_long)
{
    if (load->max_bytes && len > load->max_bytes)
        return cli_section_fail(load, BRY_E_LIMIT, buffer->len, too_long);
    bry_sink sink = bry_buffer_sink(buffer);
    while (len > 0) {
        unsigned char some[16384];
        size_t got;
        bry_status status =
            source->read(source->opaque, some, len < sizeof some ? (size_t)len : sizeof some, &got);
        if (status != BRY_OK)
            return cli_section_fail(load, status, buffer->len, "the file cannot be read");
        if (got == 0)
            return cli_section_fail(load, BRY_E_BADDATA, buffer->len, "the data ends early");
        status = sink.write(sink.opaque, some, got);
        if (status != BRY_OK)
            return cli_section_fail(load, status, buffer->len, bry_status_text(status));
        len -= got;
    }
    return BRY_OK;
}

bool cli_section_is_whole(const bry_buffer *buffer)
{
    size_t end = buffer->len - CLI_SECTION_SUM;
    const unsigned char *sum = (const unsigned char *)buffer->bytes + end;
    bry_hash hash = bry_hash_key(0, buffer->bytes, end);
    return cli_get(sum, 8) == hash.lo && cli_get(sum + 8, 8) == hash.hi;
}
