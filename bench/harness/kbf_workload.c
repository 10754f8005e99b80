#include "bench/harness/kbf_workload.h"

#include "bench/harness/keys.h"
#include "hash/derive.h"

#include <math.h>
#include <stdlib.h>

/* The digits that make texts distinct. No key is shorter; of shorter values there are as many as
 * their size allows. */
#define KEY_DIGITS 8u
#define VALUE_DIGITS 4u

static const char digits[] = "abcdefghijklmnopqrstuvwxyz0123456789";
enum { BASE = sizeof digits - 1 };

double kbf_key_size(double u)
{
    const double mu = 30.7984, sigma = 8.20449, k = 0.078688;
    return mu + sigma / k * (pow(-log(u), -k) - 1);
}

/* The share of values of 0 to 14 bytes, which follow no law: table 5 of "Workload Analysis of a
 * Large-Scale Key-Value Store" (SIGMETRICS 2012), from which the papers take all these numbers. */
static const double short_values[] = {0.00536, 0.00047, 0.17820, 0.09239, 0.00018,
                                      0.02740, 0.00065, 0.00606, 0.00023, 0.00837,
                                      0.00837, 0.08989, 0.00092, 0.00326, 0.01980};
enum { SHORT_VALUES = sizeof short_values / sizeof short_values[0] };

double kbf_value_size(double u)
{
    const double sigma = 214.476, k = 0.348238;
    double below = 0;
    for (unsigned size = 0; size < SHORT_VALUES; size++)
        if (u < (below += short_values[size]))
            return size;
    /* The Pareto distribution holds for larger values: its share above the table is scaled up. */
    double above = pow(1 + k * SHORT_VALUES / sigma, -1 / k) * (1 - u) / (1 - below);
    return sigma / k * (pow(above, -k) - 1);
}

/* Independent random numbers for several purposes. */
enum kind { KEY_SIZE, KEY_TEXT, VALUE_SIZE, VALUE_TEXT, FIRST_VALUE, LATER_VALUE, ORDER };

static uint64_t random_of(enum kind kind, uint64_t i)
{
    return bench_random(((uint64_t)kind + 1) << 56 | i);
}

static size_t text_size_for(enum kind kind, uint64_t i)
{
    double u = ((double)(random_of(kind, i) >> 11) + 0.5) * 0x1p-53;
    if (kind == KEY_SIZE)
        return (size_t)fmin(fmax(round(kbf_key_size(u)), KEY_DIGITS), KBF_KEY_MOST);
    return (size_t)fmin(round(kbf_value_size(u)), KBF_VALUE_MOST);
}

/* A number in the digits needed to be distinct, then random digits. */
static void write_text(char *text, size_t len, enum kind kind, uint64_t i, uint64_t number)
{
    size_t fixed = kind == KEY_TEXT ? KEY_DIGITS : VALUE_DIGITS;
    uint64_t random = random_of(kind, i);
    for (size_t d = 0; d < fixed && d < len; d++, number /= BASE)
        text[d] = digits[number % BASE];
    for (size_t d = fixed; d < len; d++, random = bench_random(random))
        text[d] = digits[random % BASE];
}

/* Short values, by size: how many there are, and how many there can be. */
typedef struct short_texts {
    uint64_t used[VALUE_DIGITS];
} short_texts;

/* This size, or the next larger one if all texts of this size are used. */
static size_t size_left(short_texts *texts, size_t size)
{
    uint64_t room = 1;
    for (size_t i = 0; i < size && i < VALUE_DIGITS; i++)
        room *= BASE;
    for (; size < VALUE_DIGITS && texts->used[size] == room; size++)
        room *= BASE;
    if (size < VALUE_DIGITS)
        texts->used[size]++;
    return size;
}

/* Creates `count` texts, at least one, in one buffer. */
static bool make_texts(uint64_t count, bool keys, kbf_text **texts, char **bytes)
{
    enum kind size = keys ? KEY_SIZE : VALUE_SIZE, text = keys ? KEY_TEXT : VALUE_TEXT;
    uint64_t total = 1; /* not 0, even if the only text is empty */
    short_texts planned = {{0}}, written = {{0}};
    *texts = malloc(count * sizeof **texts);
    if (!*texts)
        return false;
    for (uint64_t i = 0; i < count; i++) {
        (*texts)[i].len = size_left(&planned, text_size_for(size, i));
        total += (*texts)[i].len;
    }
    *bytes = malloc(total);
    if (!*bytes)
        return false;
    char *at = *bytes;
    for (uint64_t i = 0; i < count; i++) {
        size_t len = (*texts)[i].len;
        write_text(at, len, text, i, len < VALUE_DIGITS ? written.used[len]++ : i);
        (*texts)[i].bytes = at;
        at += len;
    }
    return true;
}

bool kbf_workload_make(kbf_workload *load, uint64_t pairs, uint64_t asked, uint32_t values)
{
    *load = (kbf_workload){.pairs = pairs, .asked = asked, .values = values};
    load->place = malloc(asked * sizeof *load->place);
    if (!load->place || !make_texts(pairs + asked, true, &load->key, &load->key_bytes) ||
        !make_texts(values, false, &load->value, &load->value_bytes)) {
        kbf_workload_free(load);
        return false;
    }
    for (uint64_t i = 0; i < asked; i++)
        load->place[i] = i * (pairs / asked);
    for (uint64_t i = asked; i > 1; i--) {
        uint64_t other = bry__scale(random_of(ORDER, i), i), kept = load->place[i - 1];
        load->place[i - 1] = load->place[other];
        load->place[other] = kept;
    }
    return true;
}

void kbf_workload_free(kbf_workload *load)
{
    free(load->key);
    free(load->value);
    free(load->place);
    free(load->key_bytes);
    free(load->value_bytes);
    *load = (kbf_workload){0};
}

const kbf_text *kbf_first_value(const kbf_workload *load, uint64_t pair)
{
    return &load->value[bry__scale(random_of(FIRST_VALUE, pair), load->values)];
}

const kbf_text *kbf_later_value(const kbf_workload *load, uint64_t pair)
{
    return &load->value[bry__scale(random_of(LATER_VALUE, pair), load->values)];
}

kbf_workload_facts kbf_workload_look(const kbf_workload *load)
{
    kbf_workload_facts facts = {0};
    for (uint64_t i = 0; i < load->pairs; i++) {
        facts.key_bytes += (double)load->key[i].len;
        facts.value_bytes += (double)kbf_first_value(load, i)->len;
    }
    facts.key_bytes /= (double)load->pairs;
    facts.value_bytes /= (double)load->pairs;
    return facts;
}
