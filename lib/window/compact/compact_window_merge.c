/* Merges compact windows. Entries stay in their table, as a fingerprint cannot be made longer. If
 * two have the same fingerprint there, the later generation wins. */
#include "window/compact/compact_window.h"

/* The name for each value of `from`, or BRY__NOT_KEPT if its generation is too old for `into`.
 * NULL: out of memory. */
static uint32_t *compact_window_names(const bry__compact_window *into,
                                      const bry__compact_window *from)
{
    const bry__values *values = from->maplet.values;
    uint32_t room = values ? values->room : 0;
    uint32_t *names = bry__alloc_buffer(&into->maplet.allocator, room * sizeof *names);
    for (uint32_t value = 0; names && value < room; value++) {
        uint32_t name = value < values->first ? BRY__NO_NAME : values->name[value - values->first];
        bool kept = name != BRY__NO_NAME &&
                    from->newest - bry__window_age(from, name) >= bry__window_then(into);
        names[value] = kept ? name : BRY__NOT_KEPT;
    }
    return names;
}

static void compact_window_free_names(uint32_t *names, const bry__compact_window *into,
                                      const bry__compact_window *from)
{
    const bry__values *values = from->maplet.values;
    bry__free(&into->maplet.allocator, names, (values ? values->room : 0) * sizeof *names);
}

typedef struct ages {
    const bry__compact_window *window;
} ages;

static bool compact_window_is_later(void *context, uint32_t own, uint32_t other)
{
    const bry__compact_window *window = ((const ages *)context)->window;
    return bry__window_age(window, other) < bry__window_age(window, own);
}

bry_status bry__compact_window_unite(const bry__compact_window *window,
                                     const bry__compact_window *from, bry__maplet *made)
{
    uint32_t *own = compact_window_names(window, window),
             *others = compact_window_names(window, from);
    ages by = {window};
    bry__single_source a = {&window->maplet, own}, b = {&from->maplet, others};
    bry_status status = own && others ? bry__single_unite(made, &a, &b, window->shape.bits,
                                                          compact_window_is_later, &by)
                                      : BRY_E_NOMEM;
    compact_window_free_names(own, window, window);
    compact_window_free_names(others, window, from);
    return status;
}
