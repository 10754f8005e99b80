#include "model/window/window_twin.h"

uint64_t window_twin_now(const window_twin *twin, uint64_t now)
{
    return now > twin->time ? now : twin->time;
}

window_duty window_twin_duty(const window_twin *twin, unsigned i, uint64_t now)
{
    if (!twin->known[i])
        return WINDOW_MUST_FORGET;
    uint64_t age = now - twin->at[i];
    return age <= twin->window    ? WINDOW_MUST_REMEMBER
           : age >= twin->longest ? WINDOW_MUST_FORGET
                                  : WINDOW_MAY_REMEMBER;
}

bool window_twin_on_grid(const window_twin *twin, unsigned i, uint64_t now)
{
    if (!twin->known[i])
        return false;
    uint64_t length = twin->longest - twin->window;
    uint64_t left = length - twin->at[i] % length; /* of its generation */
    return now - twin->at[i] < left + twin->window;
}

void window_twin_advance(window_twin *twin, uint64_t now)
{
    twin->time = window_twin_now(twin, now);
    twin->started = true;
}

void window_twin_remember(window_twin *twin, unsigned i)
{
    twin->known[i] = true;
    twin->at[i] = twin->time;
}

void window_twin_del(window_twin *twin, unsigned i)
{
    twin->known[i] = false;
}

void window_twin_clear(window_twin *twin)
{
    for (unsigned i = 0; i < WINDOW_TWIN_ELEMENTS; i++)
        twin->known[i] = false;
}

void window_twin_merge(window_twin *into, const window_twin *from)
{
    if (!from->started)
        return;
    window_twin_advance(into, from->time);
    for (unsigned i = 0; i < WINDOW_TWIN_ELEMENTS; i++)
        if (from->known[i] && (!into->known[i] || from->at[i] > into->at[i])) {
            into->known[i] = true;
            into->at[i] = from->at[i];
        }
}
