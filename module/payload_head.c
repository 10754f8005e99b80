#include "payload_head.h"

void head_store(unsigned char *to, uint64_t number)
{
    for (int i = 0; i < 8; i++)
        to[i] = (unsigned char)(number >> (8 * i));
}

uint64_t head_number(const unsigned char *from)
{
    uint64_t number = 0;
    for (int i = 0; i < 8; i++)
        number |= (uint64_t)from[i] << (8 * i);
    return number;
}

bry_status head_read(const bry_source *source, unsigned char *head, size_t size)
{
    bry_status status = BRY_OK;
    for (size_t have = 0, got; have < size && status == BRY_OK; have += got) {
        status = source->read(source->opaque, head + have, size - have, &got);
        if (status == BRY_OK && got == 0)
            status = BRY_E_BADDATA;
    }
    return status;
}
