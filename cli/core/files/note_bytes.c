#include "cli/core/files/note_bytes.h"

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

bry_status cli_note_fail(bry_load *load, bry_status status, uint64_t at, const char *problem)
{
    /* After the header of the file, in frames of 64 KiB with 16 bytes before and 8 after each. */
    load->offset = 64 + 16 + at + (at >> 16) * 24;
    load->problem = problem;
    return status;
}

bry_status cli_note_refuse(bry_load *load, const char *problem)
{
    load->offset = 0;
    load->problem = problem;
    return BRY_E_BADDATA;
}
