/* bloomery index locate: the files that may contain the keys given as arguments or on standard
 * input. */
#include "cli/core/array.h"
#include "cli/core/files/saved_file.h"
#include "cli/core/input/words.h"
#include "cli/core/json/json_write.h"
#include "cli/index/index_command.h"
#include "cli/index/index_elements.h"
#include "cli/index/index_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BATCH 8192u
#define ROOM 4u /* candidates per key that a batch fetches */

typedef struct candidate_file {
    uint32_t key; /* its number */
    cli_owner owner;
    bool confirmed;
} candidate_file;

/* ---- candidates compared with the files ---------------------------------------------------- */

/* Candidates in one file, found by the hash of their key. */
typedef struct wanted_set {
    const cli_text *keys;
    const bry_hash *hashes;
    candidate_file **slots; /* NULL: free */
    size_t mask;
    size_t left; /* not yet confirmed */
} wanted_set;

static void want_candidate(wanted_set *w, candidate_file *candidate)
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
        candidate_file *candidate = w->slots[slot];
        const cli_text *key = &w->keys[candidate->key];
        if (!candidate->confirmed && key->len == element->text.len &&
            memcmp(key->bytes, element->text.bytes, key->len) == 0) {
            candidate->confirmed = true;
            w->left--;
        }
    }
}

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
static int scan_piece(const cli_file_index *index, wanted_set *w, candidate_file **group,
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
                         candidate_file *candidate)
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

static int compare_candidates(const void *a, const void *b)
{
    cli_owner x = (*(candidate_file *const *)a)->owner, y = (*(candidate_file *const *)b)->owner;
    if (x.file != y.file)
        return x.file < y.file ? -1 : 1;
    return (x.piece > y.piece) - (x.piece < y.piece);
}

static int confirm_lines(const cli_file_index *index, const cli_text *keys, const bry_hash *hashes,
                         candidate_file *candidates, size_t count)
{
    size_t slots = 4;
    while (slots < count * 2)
        slots *= 2;
    candidate_file **order = malloc(count * sizeof *order);
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

/*
 * Marks a candidate as confirmed if the file contains the key, byte by byte: in the candidate's
 * piece or, if the file has changed since it was read, anywhere. Each file is read once. In an
 * index of whole files the keys are file names, and confirmed candidates have the same content.
 * CLI_GO_ON; or CLI_FAILED after a message if some files could not be read, and then the others are
 * done.
 */
static int confirm_all(const cli_file_index *index, const cli_text *keys, const bry_hash *hashes,
                       candidate_file *candidates, size_t count)
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

/* ---- the look-up --------------------------------------------------------------------------- */

/* The output format. */
typedef struct style {
    bool json, confirm;
    bool file_alone;
    char end;
} style;

typedef struct locate_context {
    const cli_file_index *index;
    style how;
    uint64_t found, missing;
    bool failed; /* a file could not be read */
    uint32_t *seen; /* for each file, the last key that it was printed for, plus 1 */
    cli_text *keys;
    bry_hash *hashes;
    uint32_t *units;
    size_t *totals;
    candidate_file *candidates;
    size_t count, capacity;
} locate_context;

static bool locate_context_start(locate_context *a)
{
    a->seen = calloc(a->index->names.count + 1, sizeof *a->seen);
    a->keys = malloc(BATCH * sizeof *a->keys);
    a->hashes = malloc(BATCH * sizeof *a->hashes);
    a->units = malloc(sizeof *a->units * ROOM * BATCH);
    a->totals = malloc(BATCH * sizeof *a->totals);
    return a->seen && a->keys && a->hashes && a->units && a->totals;
}

static void locate_context_free(locate_context *a)
{
    free(a->seen);
    free(a->keys);
    free(a->hashes);
    free(a->units);
    free(a->totals);
    free(a->candidates);
}

/* ---- candidates ---------------------------------------------------------------------------- */

static bool add_candidates(locate_context *a, size_t key, const uint32_t *units, size_t n)
{
    if (!cli_array_reserve(&a->candidates, &a->capacity, a->count + n, sizeof *a->candidates))
        return false;
    for (size_t i = 0; i < n; i++)
        a->candidates[a->count++] =
            (candidate_file){(uint32_t)key, a->index->owners[units[i]], false};
    return true;
}

/* For a key with more candidates than were fetched. */
static bool add_many_candidates(locate_context *a, size_t key, size_t total)
{
    uint32_t *units = malloc(total * sizeof *units);
    bool good = units != NULL;
    if (good) {
        bry_index_locate(a->index->index, a->hashes[key], units, total);
        good = add_candidates(a, key, units, total);
    }
    free(units);
    return good;
}

/* Sets the hash of a key: that of its bytes, or of the file that it names, which is read. False
 * after a message if that is not possible. */
static bool locate_read_hash(locate_context *a, size_t i)
{
    uint64_t seed = bry_index_seed(a->index->index);
    cli_element_kind kind = a->index->names.elements.kind;
    if (kind == CLI_ELEMENT_WORDS && !cli_is_word(a->keys[i])) {
        cli_fail("%s is not one word, and the elements of this index are words",
                 cli_quote_text(a->keys[i]).text);
        a->failed = true;
        return false;
    }
    if (kind != CLI_ELEMENT_WHOLE) {
        a->hashes[i] = bry_hash_key(seed, a->keys[i].bytes, a->keys[i].len);
        return true;
    }
    cli_element_reader reader;
    cli_element element;
    bool more;
    bry_status status =
        cli_elements_open(&reader, a->keys[i].bytes, a->index->names.elements, seed);
    if (status == BRY_OK) {
        status = cli_elements_next(&reader, &element, &more);
        cli_elements_close(&reader);
    }
    if (status != BRY_OK) {
        cli_elements_failed(&reader, status, a->keys[i].bytes);
        a->failed = true;
        return false;
    }
    a->hashes[i] = element.hash;
    return true;
}

static bool collect_candidates(locate_context *a, size_t n)
{
    a->count = 0;
    bool readable[BATCH]; /* 8 KiB */
    for (size_t i = 0; i < n; i++) {
        readable[i] = locate_read_hash(a, i);
        if (!readable[i])
            a->hashes[i] = (bry_hash){0, 0};
    }
    bry_index_locate_n(a->index->index, a->hashes, n, a->units, ROOM, a->totals);
    for (size_t i = 0; i < n; i++) {
        if (readable[i] &&
            !(a->totals[i] > ROOM ? add_many_candidates(a, i, a->totals[i])
                                  : add_candidates(a, i, a->units + i * ROOM, a->totals[i])))
            return false;
    }
    return true;
}

/* ---- answers ------------------------------------------------------------------------------- */

static void print_file(const locate_context *a, cli_text key, const char *name, bool first)
{
    if (a->how.json) {
        fputs(first ? "{" : ",{", stdout);
        cli_json_line_member(stdout, "name", name, strlen(name));
        putchar('}');
        return;
    }
    if (!a->how.file_alone) {
        fwrite(key.bytes, 1, key.len, stdout);
        putchar('\t');
    }
    fputs(name, stdout);
    putchar(a->how.end);
}

/* Prints the answers for one key, each file once; advances *at past them. */
static void print_candidates(locate_context *a, size_t key, size_t *at)
{
    bool first = true;
    if (a->how.json) {
        putchar('{');
        cli_json_line_member(stdout, "key", a->keys[key].bytes, a->keys[key].len);
        fputs(",\"files\":[", stdout);
    }
    for (; *at < a->count && a->candidates[*at].key == key; ++*at) {
        const candidate_file *candidate = &a->candidates[*at];
        uint32_t file = candidate->owner.file;
        if ((a->how.confirm && !candidate->confirmed) || a->seen[file] == key + 1)
            continue;
        a->seen[file] = (uint32_t)key + 1;
        print_file(a, a->keys[key], a->index->names.files[file].name, first);
        first = false;
    }
    if (a->how.json)
        printf("]}%c", a->how.end);
    a->found += !first;
    a->missing += first;
}

/* Answers the first n keys. CLI_GO_ON, or an exit code after a message. */
static int locate_batch(void *context, size_t n)
{
    locate_context *a = context;
    if (n == 0)
        return CLI_GO_ON;
    if (!collect_candidates(a, n))
        return cli_no_memory();
    if (a->how.confirm &&
        confirm_all(a->index, a->keys, a->hashes, a->candidates, a->count) != CLI_GO_ON)
        a->failed = true;
    memset(a->seen, 0, a->index->names.count * sizeof *a->seen);
    size_t at = 0;
    for (size_t i = 0; i < n; i++)
        print_candidates(a, i, &at);
    return CLI_GO_ON;
}

/* For an index of whole files the key is a file name, which must be NUL-terminated. */
static bool end_locate_key(void *context, cli_text *key)
{
    const locate_context *a = context;
    if (a->index->names.elements.kind != CLI_ELEMENT_WHOLE)
        return true;
    if (memchr(key->bytes, '\0', key->len))
        return false;
    key->bytes[key->len] = '\0';
    return true;
}

int cli_index_locate(int argc, char **argv)
{
    style how = {0};
    bool nul = false;
    uint64_t max_bytes = 0;
    size_t plain_words;
    cli_option options[] = {
        {"confirm", CLI_FLAG, NULL, "read the candidates and print those that contain the key",
         &how.confirm},
        {"json", CLI_FLAG, NULL, "a line of JSON for each key", &how.json},
        {"0", CLI_FLAG, NULL, "keys and output lines end with a NUL instead of a newline", &nul},
        CLI_INDEX_MAX_MEMORY(&max_bytes),
    };
    const cli_syntax syntax = {
        .usage = "INDEX [KEY...] [options]",
        .about =
            "Prints the files that may contain one key, or lines \"key<TAB>file\" for several\n"
            "keys. Without KEY, and for -, reads keys from standard input, one per line. Files\n"
            "that were added last come first. In an index of whole files the keys are names of\n"
            "files, and the answers are files that may have the same content.",
        CLI_OPTIONS(options),
        .examples = "  bloomery index locate logs.idx 192.0.2.7 --confirm\n"
                    "  bloomery index locate logs.idx - --json < addresses",
        .more = "--json prints {\"key\":...,\"files\":[{\"name\":...},...]}, with key_base64 or\n"
                "name_base64 for bytes that are not UTF-8. A file that contains the key is always\n"
                "among the candidates, unless it has changed since it was read.\n"
                "Exit codes: 0 a file was found for every key, 1 none was found for some keys,\n"
                "3 failure, also if --confirm cannot read a candidate (the others are printed).",
        .most_words = (size_t)-1,
        .plain_words = &plain_words,
        CLI_INDEX_FIRST_WORD,
    };
    size_t words;
    int code = cli_read_args(&syntax, argc, argv, &words);
    if (code == CLI_GO_ON)
        code = cli_keys_given(&syntax, argv, &words, "keys");
    if (code != CLI_GO_ON)
        return code;
    cli_file_index index;
    code = cli_index_open(&index, max_bytes, argv[0]);
    locate_context a = {.index = &index, .how = how};
    a.how.file_alone = words == 2;
    a.how.end = nul ? '\0' : '\n';
    if (code == CLI_GO_ON && !locate_context_start(&a))
        code = cli_no_memory();
    const cli_key_batches batches = {a.keys, BATCH, locate_batch, end_locate_key, &a};
    if (code == CLI_GO_ON)
        code = words > 1 ? cli_answer_words(&batches, argv + 1, words - 1)
                         : cli_answer_lines(&batches, a.how.end);
    locate_context_free(&a);
    cli_index_close(&index);
    if (code != CLI_GO_ON)
        return code;
    return a.failed ? CLI_FAILED : a.missing ? CLI_NO : CLI_YES;
}
