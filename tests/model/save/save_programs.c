/*
 * Runs save_model on generated programs until OBJECTS objects were created, saved and loaded.
 *
 *     save_programs OBJECTS LENGTH SEED [JOB …]    programs of at most LENGTH bytes; no job: all
 *
 * A program that fails is shrunk and printed, with the seed that made it.
 */
#include "model/programs.h"
#include "model/save/save_model.h"

static bool run(const saved_job *job, programs these)
{
    char name[64];
    save_counts start = save_counted;
    these.wanted += start.objects;
    save_model_choose(job);
    snprintf(name, sizeof name, "save_programs (%s)", job->name);
    uint64_t count = programs_run(&these, name, &save_model, &save_counted.objects);
    printf("%s: %ju programs, %ju objects, %ju operations, %ju loads\n", job->name,
           (uintmax_t)count, (uintmax_t)(save_counted.objects - start.objects),
           (uintmax_t)(save_counted.operations - start.operations),
           (uintmax_t)(save_counted.loads - start.loads));
    return count > 0;
}

int main(int argc, char **argv)
{
    programs these;
    if (!programs_read(&these, "save_programs", argc < 4 ? argc : 4, argv))
        return 2;
    bool good = true;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 4; i < argc; i++) {
        const saved_job *job = saved_job_find(argv[i]);
        if (!job) {
            fprintf(stderr, "save_programs: there is no job %s\n", argv[i]);
            return 2;
        }
        good &= run(job, these);
    }
    const saved_job *job;
    for (size_t i = 0; argc <= 4 && (job = saved_job_at(i)); i++)
        good &= run(job, these);
    return !good;
}
