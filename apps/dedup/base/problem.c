#include "apps/dedup/base/problem.h"

#include "cli/core/output/output.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char problem_text[1024];

void dedup_describe(const char *format, ...)
{
    int kept = errno;
    va_list list;
    va_start(list, format);
    int used = vsnprintf(problem_text, sizeof problem_text, format, list);
    va_end(list);
    size_t len = strlen(format);
    if (len > 2 && strcmp(format + len - 2, ": ") == 0 && used > 0 &&
        (size_t)used < sizeof problem_text)
        snprintf(problem_text + used, sizeof problem_text - (size_t)used, "%s", strerror(kept));
    errno = kept;
}

const char *dedup_problem_text(void)
{
    return problem_text;
}

int dedup_report(void)
{
    return cli_fail("%s", problem_text);
}
