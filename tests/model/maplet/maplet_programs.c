/*
 * Runs the maplet's model on generated programs until OPERATIONS operations were compared.
 *
 *     maplet_programs OPERATIONS LENGTH [SEED]    programs of at most LENGTH bytes
 *
 * A program that fails is shrunk and printed, with the seed that made it.
 */
#include "model/maplet/maplet_model.h"
#include "model/programs.h"

int main(int argc, char **argv)
{
    static const char name[] = "maplet_programs";
    programs these;
    if (!programs_read(&these, name, argc, argv))
        return 2;
    uint64_t count = programs_run(&these, name, &maplet_model, maplet_model_operations);
    if (count == 0)
        return 1;
    printf("%ju programs, %ju operations\n", (uintmax_t)count,
           (uintmax_t)maplet_model_operations());
    return 0;
}
