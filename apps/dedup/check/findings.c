#include "apps/dedup/check/findings.h"

#include "cli/core/output/output.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for one more element. */
static bool grow_findings(dedup_findings *findings, void *list, size_t *room, size_t count,
                          size_t each)
{
    bool grown = dedup_make_room(list, room, count + 1, each) == DEDUP_OK;
    findings->no_memory |= !grown;
    return grown;
}

void dedup_found(dedup_findings *findings, const char *format, ...)
{
    char text[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (!findings->quiet)
        cli_note("%s", text);
    if (grow_findings(findings, &findings->text, &findings->room, findings->count,
                      sizeof *findings->text))
        findings->text[findings->count++] = strdup(text);
}

void dedup_found_lost(dedup_findings *findings, uint64_t container, uint32_t place)
{
    if (grow_findings(findings, &findings->lost, &findings->lost_room, findings->lost_count,
                      sizeof *findings->lost))
        findings->lost[findings->lost_count++] = container << 16 | place;
}

void dedup_found_damaged(dedup_findings *findings, uint64_t container)
{
    for (size_t i = 0; i < findings->damaged_count; i++)
        if (findings->damaged[i] == container)
            return;
    if (grow_findings(findings, &findings->damaged, &findings->damaged_room,
                      findings->damaged_count, sizeof *findings->damaged))
        findings->damaged[findings->damaged_count++] = container;
}

static int compare_lost(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

bool dedup_is_lost(dedup_findings *findings, dedup_location where)
{
    const uint64_t places[2] = {where.container << 16 | where.place,
                                where.container << 16 | DEDUP_ALL_PLACES};
    size_t count = findings->lost_count, each = sizeof *findings->lost;
    if (count == 0)
        return false;
    if (findings->lost_sorted != count)
        qsort(findings->lost, count, each, compare_lost);
    findings->lost_sorted = count;
    return bsearch(&places[0], findings->lost, count, each, compare_lost) ||
           bsearch(&places[1], findings->lost, count, each, compare_lost);
}

void dedup_findings_free(dedup_findings *findings)
{
    for (size_t i = 0; i < findings->count; i++)
        free(findings->text[i]);
    free(findings->text);
    free(findings->lost);
    free(findings->damaged);
}
