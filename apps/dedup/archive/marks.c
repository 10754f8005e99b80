#include "apps/dedup/archive/marks.h"

#include "cli/core/output/output.h"

#include <stdlib.h>

enum { NEEDED = 1, ENTERED = 2 };

bool dedup_marks_has(const dedup_marks *marks, size_t row, uint32_t place)
{
    return marks->bits[row][place / 4] >> (2 * (place % 4)) & NEEDED;
}

/* Sets bits of a chunk and returns in *before those it had. */
static dedup_status set_marks(dedup_marks *marks, const dedup_digest *digest, unsigned bits,
                              unsigned *before)
{
    dedup_slot *slot;
    uint32_t place;
    dedup_status status = dedup_store_locate(marks->store, digest, &slot, &place);
    if (status != DEDUP_OK)
        return status;
    const dedup_row *row = dedup_rows_find(&marks->store->rows, slot->directory.number);
    if (!row || row->chunks != slot->directory.count)
        return dedup_container_disagrees(slot->directory.number);
    unsigned char *byte = &marks->bits[row - marks->store->rows.row][place / 4];
    unsigned shift = 2 * (place % 4);
    *before = *byte >> shift & 3;
    *byte |= (unsigned char)(bits << shift);
    return DEDUP_OK;
}

static bool enter_marked(void *context, const dedup_digest *digest, dedup_status *status)
{
    unsigned before = 0;
    *status = set_marks(context, digest, NEEDED | ENTERED, &before);
    if (*status == DEDUP_MISSING)
        *status = dedup_problem(DEDUP_DAMAGED, "a part of the manifest is missing");
    return !(before & ENTERED);
}

static dedup_status mark_item(void *context, const dedup_item *item)
{
    dedup_marks *marks = context;
    unsigned before;
    if (item->tag != 'C')
        return DEDUP_OK;
    dedup_status status = set_marks(marks, &item->digest, NEEDED, &before);
    if (status != DEDUP_MISSING)
        return status;
    marks->missing++;
    return DEDUP_OK;
}

static dedup_status mark_archives(dedup_marks *marks)
{
    const dedup_walk walk = {.context = marks, .enter = enter_marked, .item = mark_item};
    dedup_archive *archives;
    size_t count;
    dedup_status status = dedup_archive_list(marks->store->repo, &archives, &count, NULL, NULL);
    if (status != DEDUP_OK)
        return status;
    for (size_t i = 0; status == DEDUP_OK && i < count; i++) {
        status = dedup_manifest_walk(marks->store, &archives[i].root, archives[i].depth, &walk);
        if (status != DEDUP_OK) {
            char problem[512];
            snprintf(problem, sizeof problem, "%s", dedup_problem_text());
            dedup_describe("archive %s: %s", cli_name(archives[i].name).text, problem);
        }
    }
    free(archives);
    return status;
}

dedup_status dedup_marks_make(dedup_marks *marks, dedup_store *store)
{
    *marks = (dedup_marks){.store = store, .count = store->rows.count};
    marks->bits = calloc(marks->count + 1, sizeof *marks->bits);
    if (!marks->bits)
        return dedup_no_memory();
    for (size_t i = 0; i < marks->count; i++) {
        marks->bits[i] = calloc(1, (size_t)store->rows.row[i].chunks / 4 + 1);
        if (!marks->bits[i]) {
            dedup_marks_free(marks);
            return dedup_no_memory();
        }
    }
    dedup_status status = mark_archives(marks);
    if (status != DEDUP_OK)
        dedup_marks_free(marks);
    return status;
}

void dedup_marks_free(dedup_marks *marks)
{
    for (size_t i = 0; marks->bits && i < marks->count; i++)
        free(marks->bits[i]);
    free(marks->bits);
    marks->bits = NULL;
}
