/*
 * Runs the index's model on generated programs until OPERATIONS operations were done.
 *
 *     index_programs OPERATIONS LENGTH [SEED]    programs of at most LENGTH bytes
 *
 * A program that fails is shrunk and printed, with the seed that made it.
 */
#include "model/index/index_model.h"
#include "model/programs.h"

int main(int argc, char **argv)
{
    static const char name[] = "index_programs";
    programs these;
    if (!programs_read(&these, name, argc, argv))
        return 2;
    uint64_t count = programs_run(&these, name, &index_model, index_model_operations);
    if (count == 0)
        return 1;
    printf("%ju programs, %ju operations, %ju elements asked for\n", (uintmax_t)count,
           (uintmax_t)index_model_operations(), (uintmax_t)index_model_answers());
    return 0;
}
