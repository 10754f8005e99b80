/*
 * A change of a compact window from beginning to end: time moves first, in a way that can be taken
 * back; what is not remembered any more is let go of when nothing can fail. compact_window.c tells
 * why a jump in time makes a past.
 */
#include "window/compact_change.h"

/* The copy: what is remembered of `window` at a later time. */
static bry_status copy_live(const bry__compact_window *window, uint64_t newest, uint64_t oldest,
                            bry__compact_window *copy)
{
    bry_status status = BRY_OK;
    if (oldest > window->newest) {
        *copy = *window;
        copy->levels = 0;
        copy->past = NULL;
        copy->trash = NULL;
    } else {
        status = bry__levels_clone(window, copy, &window->allocator);
        if (status != BRY_OK)
            return status;
        bry__window_move(copy, copy->newest, oldest);
        status = bry__levels_reclaim_all(copy);
    }
    if (status != BRY_OK) {
        bry__levels_free(copy);
        return status;
    }
    bry__window_move(copy, newest, oldest);
    return BRY_OK;
}

/* Whether numbers would be ambiguous with that newest generation. */
static bool is_too_far(const bry__compact_window *window, uint64_t newest)
{
    return window->levels > 0 && newest - window->least >= bry__window_slots(&window->shape);
}

/* The levels become the past, of which nothing may be remembered any more. BRY_E_NOMEM. */
static bry_status age(bry__compact_window *window, bry__changing *change)
{
    bry__compact_window *aged = bry__alloc(&window->allocator, sizeof *aged);
    if (!aged)
        return BRY_E_NOMEM;
    *aged = *window;
    aged->past = NULL;
    aged->trash = NULL;
    change->aged = window->past = aged;
    window->levels = 0;
    window->sweeping = false;
    return BRY_OK;
}

/* Lets go of what is not remembered at the new time, so that it can be taken back. BRY_E_NOMEM. */
static bry_status let_go(bry__compact_window *window, uint64_t newest, uint64_t oldest,
                         bry__changing *change)
{
    bool past_lives = window->past && oldest <= window->past->newest;
    if (!past_lives)
        window->past = NULL;
    if (window->levels > 0 && oldest > window->newest) {
        change->emptied = true;
        window->levels = 0;
        window->sweeping = false;
    } else if (is_too_far(window, newest) && !past_lives) {
        return age(window, change);
    }
    return BRY_OK;
}

/* Takes back what begin did in place. */
static void undo(bry__compact_window *window, const bry__changing *change)
{
    if (!change->moved)
        return;
    if (!change->aged && !change->emptied)
        bry__window_move(window, change->before.newest, change->before.oldest);
    if (change->aged)
        bry__free(&window->allocator, change->aged, sizeof *change->aged);
    *window = change->before;
    bry__window_recount(window);
    if (window->past) {
        window->past->oldest = change->past_oldest;
        bry__window_recount(window->past);
    }
}

/* Makes `now` the time of what the change works on. BRY_E_NOMEM. */
bry_status bry__change_begin(bry__compact_window *window, uint64_t now, bool copied,
                             bry__changing *change)
{
    uint64_t newest = bry__window_newest(&window->shape, now);
    uint64_t oldest = bry__window_oldest(&window->shape, now);
    /* Not beside a past, which may be large and would be copied too. */
    if (is_too_far(window, newest) && oldest <= window->newest && !window->past &&
        bry__levels_own(window) <= window->small) {
        bry_status status = bry__levels_reclaim_all(window);
        if (status != BRY_OK)
            return status;
        copied = copied || is_too_far(window, newest);
    }
    change->copied = copied;
    change->emptied = false;
    change->aged = NULL;
    if (copied) {
        change->window = &change->copy;
        return copy_live(window, newest, oldest, &change->copy);
    }
    change->window = window;
    change->moved = newest != window->newest || oldest != window->oldest;
    if (!change->moved)
        return BRY_OK;
    change->before = *window;
    change->past_oldest = window->past ? window->past->oldest : 0;
    bry_status status = let_go(window, newest, oldest, change);
    if (status == BRY_OK && is_too_far(window, newest)) {
        /* Two pasts would be needed: it cannot be, but a copy is always right. */
        undo(window, change);
        change->copied = true;
        change->window = &change->copy;
        return copy_live(window, newest, oldest, &change->copy);
    }
    if (status != BRY_OK) {
        undo(window, change);
        return status;
    }
    bry__window_move(window, newest, oldest);
    if (window->past)
        bry__window_move(window->past, window->past->newest, oldest);
    return BRY_OK;
}

/* After a failure, what was done is taken back already where it is not a copy. */
bry_status bry__change_end(bry__compact_window *window, bry__changing *change, bry_status status,
                           uint64_t added, uint64_t now)
{
    if (status != BRY_OK) {
        if (change->copied)
            bry__levels_free(&change->copy);
        else
            undo(window, change);
        return status;
    }
    if (change->copied) {
        change->copy.trash = window->trash; /* it goes on being freed in steps */
        window->trash = NULL;
        bry__levels_free(window);
        *window = change->copy;
    } else if (change->moved) {
        if (change->before.past && change->before.past != window->past)
            bry__past_discard(window, change->before.past);
        while (change->emptied && change->before.levels > 0)
            bry__level_discard(window, change->before.level[--change->before.levels]);
    }
    bry__levels_reclaim(window, added, now);
    return BRY_OK;
}
