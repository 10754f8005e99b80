/*
 * The figures of the papers, measured again. A figure is a function that is called once per seed
 * and reports points; the program bloomery-figures writes them as a table, which report/ plots and
 * explains, and which the tests compare with expected/.
 *
 * Everything but times depends on scale and seed alone, so that a run can be repeated.
 */
#ifndef BLOOMERY_BENCH_FIGURE_H
#define BLOOMERY_BENCH_FIGURE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Small is for the tests (about a second of processor time per figure), reduced for `make figures`
 * (under a minute), full for the sizes of the papers. */
typedef enum figure_scale { FIGURE_SMALL, FIGURE_REDUCED, FIGURE_FULL, FIGURE_SCALES } figure_scale;

typedef struct figure_run {
    figure_scale scale;
    unsigned repetitions; /* of the figure at this scale */
    unsigned number; /* of the repetition, from 0; what does not depend on a seed belongs to 0 */
    uint64_t seed; /* different for each repetition */
    FILE *out;
} figure_run;

typedef struct figure {
    const char *name; /* "kbf-05": the paper and the number in it; also the name of the table */
    const char *title;
    unsigned repetitions[FIGURE_SCALES]; /* each with another seed */
    /* False, after a message on stderr (cli_fail), if memory ran out or an answer was wrong that
     * must not be. */
    bool (*measure)(const figure_run *run);
    struct figure *next;
} figure;

/* A figure registers itself: FIGURE(kbf_05, "kbf-05", "Keys …", {8, 4, 2}, measure_keys); */
void figure_register(figure *one);
#define FIGURE(id, ...)                                                                            \
    __attribute__((constructor)) static void register_##id(void)                                   \
    {                                                                                              \
        static figure entry = {__VA_ARGS__, NULL};                                                 \
        figure_register(&entry);                                                                   \
    }                                                                                              \
    _Static_assert(true, "a semicolon follows")

/* A point. The panel distinguishes several plots of one figure, "" if there is one; neither text
 * has a comma or a quote. */
void figure_point(const figure_run *run, const char *panel, const char *series, double x, double y);

/* The same for a plot whose x is a word. */
void figure_bar(const figure_run *run, const char *panel, const char *series, const char *x,
                double y);

/* One of three numbers, by the scale. (No conditional: two of them may be equal, which clang-tidy
 * takes for a slip.) */
#define FIGURE_SIZE(run, small, reduced, full)                                                     \
    (((const __typeof__((small) + (reduced) + (full))[]){(small), (reduced), (full)})[(run)->scale])

#endif
