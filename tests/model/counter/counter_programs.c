/*
 * Runs the counter's model on generated programs until OPERATIONS operations were compared.
 *
 *     counter_programs OPERATIONS LENGTH [SEED]    programs of at most LENGTH bytes
 *
 * A program that fails is shrunk and printed, with the seed that made it.
 */
#include "model/counter/counter_model.h"

#include "model/programs.h"

static uint64_t operations(void)
{
    return counter_model_counted().operations;
}

int main(int argc, char **argv)
{
    static const char name[] = "counter_programs";
    programs these;
    if (!programs_read(&these, name, argc, argv))
        return 2;
    uint64_t count = programs_run(&these, name, &counter_model, operations);
    if (count == 0)
        return 1;
    counter_model_counts counts = counter_model_counted();
    printf(
        "%ju programs, %ju operations, %ju of them repeats, %ju calls refused as full, %ju times "
        "opened again\n",
        (uintmax_t)count, (uintmax_t)counts.operations, (uintmax_t)counts.repeats,
        (uintmax_t)counts.full, (uintmax_t)counts.reopened);
    /* Each of these must have occurred often enough. */
    return counts.repeats < these.wanted / 50 || counts.full == 0 ||
           counts.reopened < these.wanted / 500;
}
