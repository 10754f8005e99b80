#include "model/save/saved_job.h"

#include <math.h>
#include <string.h>

const kept_job *const kept_jobs[KEPT_JOBS] = {
    &kept_filter_bloom,   &kept_filter_compact, &kept_map_compact,     &kept_map_kbf,
    &kept_window_compact, &kept_window_fbf,     &kept_counter_compact, &kept_counter_fbf,
    &kept_index_compact,  &kept_index_dba,
};

const kept_job *kept_find(const char *name)
{
    for (size_t i = 0; i < KEPT_JOBS; i++)
        if (strcmp(kept_jobs[i]->name, name) == 0)
            return kept_jobs[i];
    return NULL;
}

/* ---- notes ---- */

static void add_note(kept_notes *notes, kept_note note)
{
    if (notes->count < KEPT_NOTES)
        notes->note[notes->count++] = note;
}

void kept_number(kept_notes *notes, const char *label, uint64_t number)
{
    add_note(notes, (kept_note){label, number, 0});
}

void kept_real(kept_notes *notes, const char *label, double real)
{
    add_note(notes, (kept_note){label, 0, real});
}

void kept_bytes(kept_notes *notes, const char *label, const void *bytes, size_t len)
{
    kept_number(notes, label, len);
    if (len)
        kept_number(notes, label, bry_hash_key(1, bytes, len).lo);
}

bry_status kept_status(kept_notes *notes, const char *label, bry_status status)
{
    kept_number(notes, label, (uint64_t)(int64_t)status);
    notes->parted |= status == BRY_E_NOMEM;
    return status;
}

static bool same_note(const kept_note *a, const kept_note *b)
{
    return a->label == b->label && a->number == b->number &&
           (a->real == b->real || fabs(a->real - b->real) <= 1e-9 * fabs(a->real) + 1e-18 ||
            (isnan(a->real) && isnan(b->real)));
}

void kept_compare(const kept_notes *one, const kept_notes *other, model_reader *reader)
{
    for (size_t i = 0; i < one->count && i < other->count; i++) {
        const kept_note *a = &one->note[i], *b = &other->note[i];
        if (!same_note(a, b)) {
            model_fail(reader, "%s: %jd %.17g, after loading %s: %jd %.17g", a->label,
                       (intmax_t)a->number, a->real, b->label, (intmax_t)b->number, b->real);
            return;
        }
    }
    model_expect(reader, one->count == other->count);
}

/* ---- options and operands ---- */

static unsigned length_in_bits(uint64_t number)
{
    unsigned bits = 0;
    for (; number; number >>= 1)
        bits++;
    return bits;
}

uint64_t kept_scaled(model_reader *reader, uint64_t least, uint64_t most)
{
    unsigned kind = model_byte(reader);
    if (kind < 16)
        return least;
    if (kind >= 252)
        return most;
    uint64_t spread = bry_hash_key(2, &(unsigned){model_pair(reader)}, sizeof(unsigned)).lo;
    unsigned bits = kind % (length_in_bits(most - least) + 1);
    uint64_t above = bits ? spread >> (64 - bits) : 0;
    return above > most - least ? most : least + above;
}

double kept_rate(model_reader *reader, double least, double most)
{
    unsigned kind = model_byte(reader);
    if (kind < 16)
        return least;
    if (kind >= 240)
        return most;
    double share = model_pair(reader) / 65535.0;
    return fmin(most, fmax(least, least * pow(most / least, share)));
}

bool kept_chance(model_reader *reader, unsigned one_in)
{
    return model_below(reader, one_in) == one_in - 1;
}

bool kept_fits(model_reader *reader, uint64_t bytes, uint64_t bytes_empty)
{
    return bytes <= (kept_chance(reader, 32) ? 1 << 20 : 1 << 14) ||
           (bytes_empty <= 1 << 20 && kept_chance(reader, 256));
}

void *kept_made(model_reader *reader, bry_status planned, bry_status made, void *object)
{
    if (made != BRY_E_NOMEM)
        model_expect(reader, made == planned);
    return made == BRY_OK ? object : NULL;
}

bry_hash kept_key(uint64_t number)
{
    return bry_hash_key(1, &number, sizeof number);
}

size_t kept_batch(model_reader *reader, bry_hash *hashes)
{
    unsigned first = model_pair(reader) % 1024, stride = model_byte(reader) % 4;
    unsigned kind = model_byte(reader), count = kind % 4 ? kind / 16 : kind % KEPT_BATCH;
    for (unsigned i = 0; i < count; i++)
        hashes[i] = kept_key(first + (uint64_t)i * stride);
    model_say(reader, "  %u keys from %u, every %u", count, first, stride);
    return count;
}
