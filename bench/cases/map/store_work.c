#include "bench/cases/map/store_work.h"

#include <string.h>

static bool same_text(const kbf_text *a, const kbf_text *b)
{
    return a->len == b->len && memcmp(a->bytes, b->bytes, a->len) == 0;
}

static size_t next_keys(const store_work *work, uint64_t done, uint64_t all)
{
    return all - done < work->at_once ? (size_t)(all - done) : work->at_once;
}

/* All pairs with their first values, or the `asked` ones with their later values. */
static bool store_put(const store_work *work, bool later)
{
    const kbf_text *keys[MAP_STORE_MOST_KEYS], *values[MAP_STORE_MOST_KEYS];
    const kbf_workload *load = work->load;
    uint64_t all = later ? load->asked : load->pairs;
    bool good = true;
    for (uint64_t done = 0; done < all && good; done += work->at_once) {
        size_t n = next_keys(work, done, all);
        for (size_t i = 0; i < n; i++) {
            uint64_t pair = later ? load->place[done + i] : done + i;
            keys[i] = &load->key[pair];
            values[i] = later ? kbf_later_value(load, pair) : kbf_first_value(load, pair);
        }
        good = work->store->set(work->state, keys, values, n, !later);
    }
    return good;
}

bool store_fill(const store_work *work)
{
    return store_put(work, false);
}

bool store_update(const store_work *work)
{
    return store_put(work, true);
}

bool store_look_up(const store_work *work, bool there, uint64_t *wrong)
{
    const kbf_text *keys[MAP_STORE_MOST_KEYS];
    kbf_text values[MAP_STORE_MOST_KEYS];
    uint8_t answers[MAP_STORE_MOST_KEYS];
    const kbf_workload *load = work->load;
    for (uint64_t done = 0; done < load->asked; done += work->at_once) {
        size_t n = next_keys(work, done, load->asked);
        for (size_t i = 0; i < n; i++)
            keys[i] = &load->key[there ? load->place[done + i] : load->pairs + done + i];
        if (!work->store->get(work->state, keys, n, values, answers))
            return false;
        for (size_t i = 0; i < n; i++)
            *wrong += there
                          ? answers[i] != BRY_PRESENT ||
                                !same_text(&values[i], kbf_first_value(load, load->place[done + i]))
                          : answers[i] == BRY_PRESENT;
    }
    return true;
}

bool store_delete(const store_work *work, uint64_t *wrong)
{
    const kbf_text *keys[MAP_STORE_MOST_KEYS];
    uint8_t answers[MAP_STORE_MOST_KEYS];
    const kbf_workload *load = work->load;
    for (uint64_t done = 0; done < load->asked; done += work->at_once) {
        size_t n = next_keys(work, done, load->asked);
        for (size_t i = 0; i < n; i++)
            keys[i] = &load->key[load->place[done + i]];
        if (!work->store->del(work->state, keys, n, answers))
            return false;
        for (size_t i = 0; i < n; i++)
            *wrong += answers[i] != BRY_PRESENT;
    }
    return true;
}
