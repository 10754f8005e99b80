/*
 * Forges streams of every job and engine, and units of indexes, with a generator, and uses what can
 * be loaded (forged.h).
 *
 *     forged_programs STREAMS SEED [JOB …]      STREAMS forged streams; no job: of all
 *
 * A stream that fails is written to forged-JOB.bry, and its seed is printed.
 */
#include "model/programs.h"
#include "model/save/forge.h"
#include "model/save/forged.h"

#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { FORGED_OF_ONE = 8, PATIENCE = 60 };

/* ---- the time limit ---- */

static char running[96]; /* the command that repeats the current stream */

static void give_up(int signal)
{
    (void)signal;
    static const char text[] = "does not end, again: ";
    (void)!write(2, text, sizeof text - 1);
    (void)!write(2, running, strlen(running));
    _exit(1);
}

/* After this many seconds of processor time. */
static void give_up_later(const saved_job *job, uint64_t seed)
{
    struct itimerval after = {{0, 0}, {PATIENCE, 0}};
    snprintf(running, sizeof running, "forged_programs 1 %ju %s\n", (uintmax_t)seed, job->name);
    signal(SIGPROF, give_up);
    setitimer(ITIMER_PROF, &after, NULL);
}

/* ---- streams ---- */

static void tell(const saved_job *job, const bry_buffer *stream, const model_failure *failure)
{
    char name[64];
    snprintf(name, sizeof name, "forged-%s.bry", job->name);
    FILE *file = fopen(name, "wb");
    if (file) {
        fwrite(stream->bytes, 1, stream->len, file);
        fclose(file);
    }
    fprintf(stderr, "%s, %zu bytes: %s\nagain: %s", job->name, stream->len, failure->text, running);
}

typedef bool try_one(const saved_job *, const bry_buffer *, generator *, model_failure *);

/* Forges an honest stream several times, each time starting from the previous one or the honest
 * one. */
static bool run_seed(const saved_job *job, uint64_t seed)
{
    generator numbers = {seed};
    generator options = {seed ^ UINT64_C(0x5851f42d4c957f2d)}, same = options;
    bool unit = job->job == BRY_JOB_INDEX && seed % 4 == 3, good = true;
    bry_buffer honest = BRY_BUFFER;
    give_up_later(job, seed);
    if (forged_honest(job, &options, unit, &honest)) {
        for (int i = 0; i < FORGED_OF_ONE && good; i++) {
            bry_buffer forged = BRY_BUFFER;
            model_failure failure = {0};
            if (forge_stream(honest.bytes, honest.len, &numbers, &forged)) {
                generator operations = unit ? same : numbers, again = operations;
                try_one *one = unit ? forged_unit : forged_stream;
                good = one(job, &forged, &operations, &failure);
                if (!good) {
                    forged_listener = stderr;
                    one(job, &forged, &again, &(model_failure){0});
                    tell(job, &forged, &failure);
                }
            }
            bry_buffer_free(&forged);
        }
    }
    bry_buffer_free(&honest);
    return good;
}

static bool run(const saved_job *job, uint64_t streams, uint64_t seed)
{
    forged_counts start = forged_counted(), end = start;
    bool good = true;
    for (; good && end.streams - start.streams < streams; seed++, end = forged_counted())
        good = run_seed(job, seed);
    printf("%s: %ju streams, %ju loaded, %ju operations, %ju times memory compared\n", job->name,
           (uintmax_t)(end.streams - start.streams), (uintmax_t)(end.loaded - start.loaded),
           (uintmax_t)(end.operations - start.operations),
           (uintmax_t)(end.compared_memory - start.compared_memory));
    return good;
}

int main(int argc, char **argv)
{
    uint64_t streams = 0, seed = 0;
    if (argc < 3 || !programs_number(argv[1], &streams) || !programs_number(argv[2], &seed)) {
        fputs("usage: forged_programs STREAMS SEED [JOB …]\n", stderr);
        return 2;
    }
    bool good = true;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 3; i < argc; i++) {
        const saved_job *job = saved_job_find(argv[i]);
        good &= job && run(job, streams, seed);
    }
    const saved_job *job;
    for (size_t i = 0; argc == 3 && (job = saved_job_at(i)); i++)
        good &= run(job, streams, seed);
    return !good;
}
