#include "map/kbf/field.h"

/* Primitive polynomials, bit i for the power i: the element 2 generates all others. They are part
 * of the file format. */
static const uint16_t polynomials[] = {
    0x11d, 0x211, 0x409, 0x805, 0x1053, 0x201b, 0x4443,
};

unsigned bry__gf_bits_for(uint64_t codes)
{
    for (unsigned bits = BRY__GF_MIN_BITS; bits <= BRY__GF_MAX_BITS; bits++)
        if (codes <= ((uint64_t)1 << bits) - 1)
            return bits;
    return 0;
}

size_t bry__gf_bytes(unsigned bits)
{
    return ((size_t)5 << bits) * sizeof(uint16_t);
}

bry_status bry__gf_init(bry__gf *gf, unsigned bits, const bry_allocator *allocator)
{
    uint16_t *tables = bry__alloc(allocator, bry__gf_bytes(bits));
    if (!tables)
        return BRY_E_NOMEM;
    size_t size = (size_t)1 << bits;
    *gf = (bry__gf){
        .bits = bits,
        .order = (uint32_t)size - 1,
        .log = tables,
        .exp = tables + size,
        .cube = tables + 3 * size,
        .root = tables + 4 * size,
    };
    uint32_t power = 1;
    for (uint32_t i = 0; i < gf->order; i++) {
        gf->log[power] = (uint16_t)i;
        gf->exp[i] = gf->exp[i + gf->order] = (uint16_t)power;
        power <<= 1;
        if (power >> bits)
            power ^= polynomials[bits - BRY__GF_MIN_BITS];
    }
    for (uint32_t x = 1; x < size; x++) {
        uint32_t square = bry__gf_mul(gf, x, x);
        gf->cube[x] = (uint16_t)bry__gf_mul(gf, square, x);
        if (x > 1) /* 0 and 1 solve c = 0, which means "none" */
            gf->root[square ^ x] = (uint16_t)x;
    }
    return BRY_OK;
}

void bry__gf_free(bry__gf *gf, const bry_allocator *allocator)
{
    bry__free(allocator, gf->log, bry__gf_bytes(gf->bits));
    *gf = (bry__gf){0};
}
