#include "cli/index/index_confirm.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Candidates in one file, found by the hash of their key. */
typedef struct wanted_set {
    const cli_text *keys;
    const bry_hash *hashes;
    cli_candidate **slots; /* NULL: free */
    size_t mask;
    size_t left; /* not yet confirmed */
} wanted_set;

static void want_candidate(wanted_set *w, cli_candidate *candidate)
{
    size_t slot = (size_t)w->hashes[candidate->key].lo & w->mask;
    while (w->slots[slot])
        slot = (slot + 1) & w->mask;
    w->slots[slot] = candidate;
    w->left++;
}

/* The same key may be looked up twice. */
static void confirm_candidates(wanted_set *w, const cli_element *element)
{
    for (size_t slot = (size_t)element->hash.lo & w->mask; w->slots[slot];
         slot = (slot + 1) & w->mask) {
        cli_candidate *candidate = w->slots[slot];
        const cli_text *key = &w->keys[candidate->key];
        if (!candidate->confirmed && key->len == element->text.len &&
            memcmp(key->bytes, element->text.bytes, key->len) == 0) {
            candidate->confirmed = true;
            w->left--;
        }
    }
}

/* ---- lines --------------------------------------------------------------------------------- */

static bry_status scan_file(cli_element_reader *reader, wanted_set *w)
{
    cli_element element;
    bool more = true;
    while (w->left > 0) {
        bry_status status = cli_elements_next(reader, &element, &more);
        if (status != BRY_OK || !more)
            return status;
        confirm_candidates(w, &element);
    }
    return BRY_OK;
}

/* `group` holds the candidates in one piece. */
static int scan_piece(const cli_file_index *index, wanted_set *w, cli_candidate **group,
                      size_t count)
{
    cli_owner owner = group[0]->owner;
    const cli_named_file *file = &index->names.files[owner.file];
    const cli_piece *piece = &file->pieces[owner.piece];
    cli_element_reader reader;
    bry_status status =
        cli_elements_open(&reader, file->name, index->names.elements, bry_index_seed(index->index));
    if (status != BRY_OK)
        return cli_elements_failed(&reader, status, file->name);
    memset(w->slots, 0, (w->mask + 1) * sizeof *w->slots);
    w->left = 0;
    for (size_t i = 0; i < count; i++)
        want_candidate(w, group[i]);
    if (cli_facts_equal(reader.facts, file->facts))
        status = cli_elements_seek(&reader, piece->from, piece->to);
    if (status == BRY_OK)
        status = scan_file(&reader, w);
    int code = status == BRY_OK ? CLI_GO_ON : cli_elements_failed(&reader, status, file->name);
    cli_elements_close(&reader);
    return code;
}

/* ---- whole files --------------------------------------------------------------------------- */

/* Both files are regular and readable, because they were hashed. */
static bool same_content(FILE *a, FILE *b)
{
    static char one[65536], other[65536];
    size_t held;
    do {
        held = fread(one, 1, sizeof one, a);
        if (fread(other, 1, sizeof other, b) != held || memcmp(one, other, held) != 0)
            return false;
    } while (held == sizeof one);
    return true;
}

static int compare_files(const cli_file_index *index, const cli_text *keys,
                         cli_candidate *candidate)
{
    const char *name = index->names.files[candidate->owner.file].name;
    const char *key = keys[candidate->key].bytes;
    cli_element_reader check; /* refuses anything but regular files */
    bry_status status = cli_elements_open(&check, name, index->names.elements, 0);
    if (status != BRY_OK)
        return cli_elements_failed(&check, status, name);
    cli_elements_close(&check);
    errno = 0;
    FILE *a = fopen(key, "rbe"), *b = a ? fopen(name, "rbe") : NULL;
    int problem = errno;
    if (b)
        candidate->confirmed = same_content(a, b);
    bool failed = !b || ferror(a) || ferror(b);
    if (a)
        fclose(a);
    if (b)
        fclose(b);
    return failed ? cli_fail("%s: %s", cli_name(a ? name : key).text,
                             problem ? strerror(problem) : "cannot read")
                  : CLI_GO_ON;
}

/* ---- all of them --------------------------------------------------------------------------- */

static int compare_candidates(const void *a, const void *b)
{
    cli_owner x = (*(cli_candidate *const *)a)->owner, y = (*(cli_candidate *const *)b)->owner;
    if (x.file != y.file)
        return x.file < y.file ? -1 : 1;
    return (x.piece > y.piece) - (x.piece < y.piece);
}

static int confirm_lines(const cli_file_index *index, const cli_text *keys, const bry_hash *hashes,
                         cli_candidate *candidates, size_t count)
{
    size_t slots = 4;
    while (slots < count * 2)
        slots *= 2;
    cli_candidate **order = malloc(count * sizeof *order);
    wanted_set w = {keys, hashes, malloc(slots * sizeof *w.slots), slots - 1, 0};
    int code = CLI_GO_ON;
    if (!order || !w.slots) {
        code = cli_no_memory();
    } else {
        for (size_t i = 0; i < count; i++)
            order[i] = &candidates[i];
        qsort(order, count, sizeof *order, compare_candidates);
        for (size_t i = 0, end; i < count; i = end) {
            for (end = i + 1; end < count && compare_candidates(&order[i], &order[end]) == 0;)
                end++;
            if (scan_piece(index, &w, order + i, end - i) != CLI_GO_ON)
                code = CLI_FAILED;
        }
    }
    free(order);
    free(w.slots);
    return code;
}

int cli_confirm(const cli_file_index *index, const cli_text *keys, const bry_hash *hashes,
                cli_candidate *candidates, size_t count)
{
    if (count == 0)
        return CLI_GO_ON;
    if (index->names.elements.kind != CLI_ELEMENT_WHOLE)
        return confirm_lines(index, keys, hashes, candidates, count);
    int code = CLI_GO_ON;
    for (size_t i = 0; i < count; i++)
        if (compare_files(index, keys, &candidates[i]) != CLI_GO_ON)
            code = CLI_FAILED;
    return code;
}
