#include "model/save/saved_job.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const saved_calls *const calls[] = {
    [BRY_JOB_FILTER] = &saved_filters, [BRY_JOB_MAP] = &saved_maps,
    [BRY_JOB_WINDOW] = &saved_windows, [BRY_JOB_COUNTERS] = &saved_counters,
    [BRY_JOB_INDEX] = &saved_indexes,
};

enum { MOST_SAVED_JOBS = 32 };
static saved_job saved_jobs[MOST_SAVED_JOBS];
static size_t saved_job_count;

static void list_saved_jobs(void)
{
    for (bry_job job = 0; bry_job_name(job); job++)
        for (size_t i = 0; bry_job_engine_at(job, i) != BRY_ENGINE_AUTO; i++) {
            saved_job *made = &saved_jobs[saved_job_count++];
            made->job = job;
            made->engine = bry_job_engine_at(job, i);
            made->calls = calls[job];
            snprintf(made->name, sizeof made->name, "%s-%s", bry_job_name(job),
                     bry_engine_name(made->engine));
        }
}

const saved_job *saved_job_at(size_t i)
{
    if (saved_job_count == 0)
        list_saved_jobs();
    return i < saved_job_count ? &saved_jobs[i] : NULL;
}

const saved_job *saved_job_find(const char *name)
{
    const saved_job *job;
    for (size_t i = 0; (job = saved_job_at(i)); i++)
        if (strcmp(job->name, name) == 0)
            return job;
    return NULL;
}

/* ---- notes ---- */

static void add_note(answer_notes *notes, answer_note note)
{
    if (notes->count < MOST_NOTES)
        notes->note[notes->count++] = note;
}

void note_number(answer_notes *notes, const char *label, uint64_t number)
{
    add_note(notes, (answer_note){label, number, 0});
}

void note_real(answer_notes *notes, const char *label, double real)
{
    add_note(notes, (answer_note){label, 0, real});
}

void note_bytes(answer_notes *notes, const char *label, const void *bytes, size_t len)
{
    note_number(notes, label, len);
    if (len)
        note_number(notes, label, bry_hash_key(1, bytes, len).lo);
}

bry_status note_status(answer_notes *notes, const char *label, bry_status status)
{
    note_number(notes, label, (uint64_t)(int64_t)status);
    notes->parted |= status == BRY_E_NOMEM;
    return status;
}

static bool same_note(const answer_note *a, const answer_note *b)
{
    return a->label == b->label && a->number == b->number &&
           (a->real == b->real || fabs(a->real - b->real) <= 1e-9 * fabs(a->real) + 1e-18 ||
            (isnan(a->real) && isnan(b->real)));
}

void compare_notes(const answer_notes *one, const answer_notes *other, model_reader *reader)
{
    for (size_t i = 0; i < one->count && i < other->count; i++) {
        const answer_note *a = &one->note[i], *b = &other->note[i];
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

uint64_t read_scaled(model_reader *reader, uint64_t least, uint64_t most)
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

double read_rate(model_reader *reader, double least, double most)
{
    unsigned kind = model_byte(reader);
    if (kind < 16)
        return least;
    if (kind >= 240)
        return most;
    double share = model_pair(reader) / 65535.0;
    return fmin(most, fmax(least, least * pow(most / least, share)));
}

bool read_chance(model_reader *reader, unsigned one_in)
{
    return model_below(reader, one_in) == one_in - 1;
}

bool plan_fits(model_reader *reader, uint64_t bytes, uint64_t bytes_empty)
{
    return bytes <= (read_chance(reader, 32) ? 1 << 20 : 1 << 14) ||
           (bytes_empty <= 1 << 20 && read_chance(reader, 256));
}

void *check_planned(model_reader *reader, bry_job job, bry_status planned, uint64_t bytes_empty,
                    bry_status made, void *object)
{
    if (made != BRY_E_NOMEM)
        model_expect(reader, made == planned);
    if (made != BRY_OK)
        return NULL;
    model_expect(reader, bry_job_bytes(job, object) == bytes_empty);
    return object;
}

bry_hash key_number(uint64_t number)
{
    return bry_hash_key(1, &number, sizeof number);
}

size_t read_batch(model_reader *reader, bry_hash *hashes)
{
    unsigned first = model_pair(reader) % 1024, stride = model_byte(reader) % 4;
    unsigned kind = model_byte(reader), count = kind % 4 ? kind / 16 : kind % MOST_BATCH;
    for (unsigned i = 0; i < count; i++)
        hashes[i] = key_number(first + (uint64_t)i * stride);
    model_say(reader, "  %u keys from %u, every %u", count, first, stride);
    return count;
}
