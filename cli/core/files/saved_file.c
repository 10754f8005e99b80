#include "cli/core/files/saved_file.h"

#include "cli/core/args.h"
#include "cli/core/output/output.h"
#include "text/number_format.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool cli_is_stream(const char *path)
{
    return strcmp(path, "-") == 0;
}

int cli_keys_given(const cli_syntax *syntax, char **argv, size_t *words, const char *what)
{
    size_t plain = *syntax->plain_words;
    for (size_t i = 1; i < *words && i<plain && * words> 2; i++)
        if (cli_is_stream(argv[i]))
            return cli_misuse("\"-\" cannot be combined with keys; after \"--\" "
                              "it is a key");
    if (*words == 2 && plain == 2 && cli_is_stream(argv[1]))
        *words = 1;
    if (*words == 1 && cli_is_stream(argv[0]))
        return cli_misuse("standard input cannot be both \"-\" and the %s", what);
    return CLI_GO_ON;
}

int cli_open_regular(const char *path, struct stat *facts, const char **problem)
{
    struct stat own;
    facts = facts ? facts : &own;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return -1;
    bool known = fstat(fd, facts) == 0;
    if (known && S_ISREG(facts->st_mode))
        return fd;
    int kept = known ? 0 : errno;
    if (known)
        *problem = S_ISDIR(facts->st_mode) ? strerror(EISDIR) : "not a regular file";
    close(fd);
    errno = kept;
    return -1;
}

int cli_differs(const char *path, const char *option, const char *has)
{
    return cli_fail("%s: was created with %s%s%s", cli_name(path).text, option, *has ? " " : "",
                    has);
}

int cli_differs_number(const char *path, const char *option, uint64_t has)
{
    char text[40];
    snprintf(text, sizeof text, "%llu", (unsigned long long)has);
    return cli_differs(path, option, text);
}

int cli_differs_span(const char *path, const char *option, uint64_t has)
{
    char text[40];
    text_span span = text_span_of(has);
    snprintf(text, sizeof text, "%llu%s", (unsigned long long)span.number, span.unit);
    return cli_differs(path, option, text);
}

int cli_differs_share(const char *path, const char *option, double has)
{
    char text[40];
    snprintf(text, sizeof text, "%g", has);
    return cli_differs(path, option, text);
}

int cli_differs_without(const char *path, const char *option)
{
    return cli_fail("%s: was created without %s", cli_name(path).text, option);
}

/* ---- loading ------------------------------------------------------------------------------- */

/* A file as a source, and how much of it was read. */
typedef struct cli_input {
    FILE *file;
    uint64_t given;
} cli_input;

static bry_status read_saved_bytes(void *opaque, void *bytes, size_t len, size_t *got)
{
    cli_input *input = opaque;
    *got = fread(bytes, 1, len, input->file);
    input->given += *got;
    return *got == 0 && ferror(input->file) ? BRY_E_IO : BRY_OK;
}

static FILE *open_saved(const char *path, const char **problem)
{
    errno = 0;
    if (cli_is_stream(path))
        return stdin;
    int fd = cli_open_regular(path, NULL, problem);
    return fd < 0 ? NULL : fdopen(fd, "rb");
}

bry_status cli_load_object(const char *path, bry_job job, bry_load *load, void **object)
{
    cli_input input = {.file = open_saved(path, &load->problem)};
    bry_source source = {read_saved_bytes, &input};
    void *read = NULL;
    bry_status status = input.file ? bry_job_load(job, &source, load, &read) : BRY_E_IO;
    if (status == BRY_OK && fgetc(input.file) != EOF) {
        load->offset = input.given;
        load->problem = "trailing data";
        status = BRY_E_BADDATA;
    }
    int kept = errno;
    if (input.file && input.file != stdin)
        fclose(input.file);
    errno = kept;
    if (status == BRY_OK)
        *object = read;
    else
        bry_job_destroy(job, read);
    return status;
}
