/*
 * Runs a model on generated programs until OPERATIONS operations were done.
 *
 *     MODEL_programs OPERATIONS LENGTH [SEED]    programs of at most LENGTH bytes
 *
 * A program that fails is shrunk and printed, with the seed that made it. The build names the model
 * (GENERATED_MODEL).
 */
#include "model/programs.h"

int main(int argc, char **argv)
{
    const model *which = &GENERATED_MODEL;
    char name[64];
    programs these;
    snprintf(name, sizeof name, "%s_programs", which->name);
    if (!programs_read(&these, name, argc, argv))
        return 2;
    uint64_t count = programs_run(&these, name, which, which->operations);
    if (count == 0)
        return 1;
    printf("%ju programs, %ju operations\n", (uintmax_t)count, (uintmax_t)*which->operations);
    return which->report && !which->report(count, these.wanted);
}
