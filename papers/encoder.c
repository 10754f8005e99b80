#include "papers/encoder.h"

#include "map/kbf/field.h"

uint32_t bry__encoder_triples(const bry__encoder *encoder, uint32_t v, uint32_t *members,
                              uint32_t room)
{
    uint32_t found = 0;
    for (uint32_t a = 0; a < encoder->count; a++) {
        if (!encoder->is_pair(encoder->self, v ^ encoder->encode(encoder->self, a)))
            continue;
        if (found < room)
            members[found] = a;
        found++;
    }
    return found;
}

static uint32_t algebraic_encode(const void *self, uint32_t index)
{
    return bry__gf_encode(self, index + 1);
}

static uint32_t algebraic_decode(const void *self, uint32_t v)
{
    uint32_t x = bry__gf_decode(self, v);
    return x ? x - 1 : BRY__ENCODER_NONE;
}

static bool algebraic_decode_pair(const void *self, uint32_t v, uint32_t *a, uint32_t *b)
{
    uint32_t x, y;
    if (!bry__gf_decode_pair(self, v, &x, &y))
        return false;
    *a = x - 1;
    *b = y - 1;
    return true;
}

static bool algebraic_is_pair(const void *self, uint32_t v)
{
    return v != 0 && bry__gf_is_two(self, v);
}

bry__encoder bry__algebraic_encoder(const struct bry__gf *gf)
{
    return (bry__encoder){
        .self = gf,
        .count = gf->order,
        .bits = 2 * gf->bits,
        .encode = algebraic_encode,
        .decode = algebraic_decode,
        .decode_pair = algebraic_decode_pair,
        .is_pair = algebraic_is_pair,
    };
}
