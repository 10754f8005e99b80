/*
 * Files that this program saves and loads again: maps, indexes, states, units. "-" is standard
 * input or output. Anything else must be a regular file: the program would wait for a pipe without
 * a writer, and read a device forever.
 */
#ifndef BLOOMERY_CLI_SAVED_FILE_H
#define BLOOMERY_CLI_SAVED_FILE_H

#include <bloomery/job.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/* Whether the name means standard input or output. */
bool cli_is_stream(const char *path);

/*
 * For a command whose words are an object and keys, or the object and "-": the keys are on standard
 * input, and `what` names them. After "--" a "-" is a key. *words becomes 1 if the keys are on standard input. CLI_GO_ON,
 * or CLI_USAGE after a message if the object is standard input too, or "-" is one of several.
 */
struct cli_syntax;
int cli_keys_given(const struct cli_syntax *syntax, char **argv, size_t *words, const char *what);

/* Opens a regular file for reading and stores its stat if wanted. -1 with errno, or with errno 0
 * and *problem. */
int cli_open_regular(const char *path, struct stat *facts, const char **problem);

/* Messages about an option that differs from the one that the object at `path` was created with:
 * `has`, which may be "". Return CLI_FAILED. */
int cli_differs(const char *path, const char *option, const char *has);
int cli_differs_number(const char *path, const char *option, uint64_t has);
int cli_differs_span(const char *path, const char *option, uint64_t has); /* in milliseconds */
int cli_differs_share(const char *path, const char *option, double has);
int cli_differs_without(const char *path, const char *option);

/* Loads an object of that job, which is the whole file. BRY_E_IO with errno or load->problem, or the
 * status of the load. */
bry_status cli_load_object(const char *path, bry_job job, bry_load *load, void **object);

#endif
