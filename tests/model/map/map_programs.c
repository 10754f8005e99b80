/*
 * Runs the map's model on programs from a generator until they did that many operations: calls for
 * one key, for up to 200 or for the whole map, after each of which keys are looked up and compared.
 *
 *     map_programs OPERATIONS LENGTH [SEED]    programs of at most LENGTH bytes
 *
 * A program that fails is shrunk and printed, with the seed that made it. Either engine must have
 * its share of the operations. Wrong answers of kbf must not be more than its error allows, for
 * each error by itself; and no more than one answer in a thousand may be unsure.
 */
#include "model/map/map_model.h"
#include "model/programs.h"

#include <math.h>

static uint64_t operations(void)
{
    return map_model_counted().operations;
}

int main(int argc, char **argv)
{
    static const char name[] = "map_programs";
    programs these;
    if (!programs_read(&these, name, argc, argv))
        return 2;
    uint64_t count = programs_run(&these, name, &map_model, operations);
    if (count == 0)
        return 1;
    map_model_counts counts = map_model_counted();
    printf("%ju operations, %ju of them with kbf; %ju programs, %ju with kbf, %ju of which met a "
           "wrong answer; %ju answers, %ju unsure\n",
           (uintmax_t)counts.operations, (uintmax_t)counts.operations_kbf, (uintmax_t)count,
           (uintmax_t)counts.programs_kbf, (uintmax_t)counts.programs_wrong,
           (uintmax_t)counts.compared, (uintmax_t)counts.unsure);
    bool good = counts.unsure * 1000 <= counts.compared;
    uint64_t compact = counts.operations - counts.operations_kbf;
    if (count > 100 && (compact < these.wanted / 3 || counts.operations_kbf < these.wanted / 3)) {
        puts("one of the engines has next to no part in this");
        good = false;
    }
    for (int i = 0; i < MAP_MODEL_ERRORS; i++)
        if ((double)counts.wrong[i] >
            counts.may_be_wrong[i] + 5 * sqrt(counts.may_be_wrong[i]) + 1) {
            printf("wrong answers in %ju programs, where %g may have one\n",
                   (uintmax_t)counts.wrong[i], counts.may_be_wrong[i]);
            good = false;
        }
    return !good;
}
