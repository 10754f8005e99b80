#include "bench/harness/kbf_workload.h"

#include "bench/harness/keys.h"
#include "hash/derive.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The digits needed to make texts distinct, which is also their minimum length. */
#define KEY_DIGITS 8u
#define VALUE_DIGITS 4u

static const char digits[] = "abcdefghijklmnopqrstuvwxyz0123456789";
enum { BASE = sizeof digits - 1 };

double kbf_key_size(double u)
{
    const double mu = 30.7984, sigma = 8.20449, k = 0.078688;
    return mu + sigma / k * (pow(-log(u), -k) - 1);
}

double kbf_value_size(double u)
{
    const double theta = 0, sigma = 214.476, k = 0.348238;
    return theta + sigma / k * (pow(1 - u, -k) - 1);
}

/* Independent random numbers for several purposes. */
enum kind { KEY_SIZE, KEY_TEXT, VALUE_SIZE, VALUE_TEXT, FIRST_VALUE, LATER_VALUE, ORDER };

static uint64_t random_of(enum kind kind, uint64_t i)
{
    return bench_random(((uint64_t)kind + 1) << 56 | i);
}

static size_t text_size_for(enum kind kind, uint64_t i)
{
    bool key = kind == KEY_SIZE;
    double u = ((double)(random_of(kind, i) >> 11) + 0.5) * 0x1p-53;
    double size = round(key ? kbf_key_size(u) : kbf_value_size(u));
    return (size_t)fmin(fmax(size, key ? KEY_DIGITS : VALUE_DIGITS),
                        key ? KBF_KEY_MOST : KBF_VALUE_MOST);
}

/* Number i in the digits needed to be distinct, then random digits. */
static void write_text(char *text, size_t len, enum kind kind, uint64_t i)
{
    unsigned fixed = kind == KEY_TEXT ? KEY_DIGITS : VALUE_DIGITS;
    uint64_t left = i, random = random_of(kind, i);
    for (unsigned d = 0; d < fixed; d++, left /= BASE)
        text[d] = digits[left % BASE];
    for (size_t d = fixed; d < len; d++, random = bench_random(random))
        text[d] = digits[random % BASE];
}

/* Creates `count` texts, at least one, in one buffer. */
static bool make_texts(uint64_t count, bool keys, kbf_text **texts, char **bytes)
{
    enum kind size = keys ? KEY_SIZE : VALUE_SIZE, text = keys ? KEY_TEXT : VALUE_TEXT;
    uint64_t total = 0;
    for (uint64_t i = 0; i < count; i++)
        total += text_size_for(size, i);
    if (total == 0)
        return false;
    *texts = malloc(count * sizeof **texts);
    *bytes = malloc(total);
    if (!*texts || !*bytes)
        return false;
    char *at = *bytes;
    for (uint64_t i = 0; i < count; i++) {
        size_t len = text_size_for(size, i);
        write_text(at, len, text, i);
        (*texts)[i] = (kbf_text){at, len};
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
