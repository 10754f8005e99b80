/*
 * What went wrong: a status for the program and a description for people. A problem is described
 * once, where it is noticed, and printed by the command.
 */
#ifndef BLOOMERY_DEDUP_PROBLEM_H
#define BLOOMERY_DEDUP_PROBLEM_H

typedef enum dedup_status {
    DEDUP_OK = 0, /* Done. */
    DEDUP_FAILED, /* The system refused something, or the request is not possible. */
    DEDUP_NO_MEMORY, /* Memory ran out. */
    DEDUP_MISSING, /* There is no such file, archive or chunk. */
    DEDUP_DAMAGED, /* Something in the repository is damaged. */
    DEDUP_VERSION, /* Something in the repository has a format that this build does not read. */
    DEDUP_FULL, /* A unit of the index in memory is full. */
} dedup_status;

/* Describes what went wrong, for this thread, and is the status. A description ending in ": " gets
 * the text of errno, which stays as it is. */
#define dedup_problem(status, ...) (dedup_describe(__VA_ARGS__), (status))
__attribute__((format(printf, 1, 2))) void dedup_describe(const char *format, ...);

/* Describes that memory ran out; DEDUP_NO_MEMORY. */
static inline dedup_status dedup_no_memory(void)
{
    return dedup_problem(DEDUP_NO_MEMORY, "out of memory");
}

/* The last description of this thread. */
const char *dedup_problem_text(void);

/* Prints it as the error message of the command and returns the exit code. */
int dedup_report(void);

#endif
