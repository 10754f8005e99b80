/* Calls that take a key instead of its hash. */
#include <bloomery/window.h>

bry_hash bry_window_hash(const bry_window *window, const void *key, size_t len)
{
    return bry_hash_key(bry_window_seed(window), key, len);
}

bry_answer bry_window_has_key(const bry_window *window, const void *key, size_t len, uint64_t now)
{
    return bry_window_has(window, bry_window_hash(window, key, len), now);
}

bry_status bry_window_add_key(bry_window *window, const void *key, size_t len, uint64_t now,
                              bry_answer *was)
{
    return bry_window_add(window, bry_window_hash(window, key, len), now, was);
}

bry_status bry_window_del_key(bry_window *window, const void *key, size_t len, uint64_t now,
                              bry_answer *was)
{
    return bry_window_del(window, bry_window_hash(window, key, len), now, was);
}
