/* Merging compact windows. Entries keep their table, for a fingerprint cannot be made longer; of
 * two with the same fingerprint there the later generation stays. */
#include "window/compact/compact_window.h"

/* What the values of a window become where only generations from the oldest of `into` on count:
 * their names. NULL: no memory. */
static uint32_t *names_of(const bry__compact_window *into, const bry__compact_window *from)
{
    const bry__values *values = from->maplet.values;
    uint32_t room = values ? values->room : 0;
    uint32_t *names = bry__alloc_buffer(&into->maplet.allocator, room * sizeof *names);
    for (uint32_t value = 0; names && value < room; value++) {
        uint32_t name = values->name[value];
        bool kept =
            name != BRY__NO_NAME && from->newest - bry__window_age(from, name) >= into->oldest;
        names[value] = kept ? name : BRY__NOT_KEPT;
    }
    return names;
}

static void free_names(uint32_t *names, const bry__compact_window *into,
                       const bry__compact_window *from)
{
    const bry__values *values = from->maplet.values;
    bry__free(&into->maplet.allocator, names, (values ? values->room : 0) * sizeof *names);
}

typedef struct ages {
    const bry__compact_window *window;
} ages;

static bool is_later(void *context, uint32_t own, uint32_t other)
{
    const bry__compact_window *window = ((const ages *)context)->window;
    return bry__window_age(window, other) < bry__window_age(window, own);
}

bry_status bry__compact_unite(const bry__compact_window *window, const bry__compact_window *from,
                              bry__maplet *made)
{
    uint32_t *own = names_of(window, window), *others = names_of(window, from);
    ages by = {window};
    bry__single_source a = {&window->maplet, own}, b = {&from->maplet, others};
    bry_status status = own && others
                            ? bry__single_unite(made, &a, &b, window->shape.bits, is_later, &by)
                            : BRY_E_NOMEM;
    free_names(own, window, window);
    free_names(others, window, from);
    return status;
}
