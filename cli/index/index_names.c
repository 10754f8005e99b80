#include "cli/index/index_names.h"

#include "cli/core/array.h"
#include "cli/core/files/note_bytes.h"

#include <bloomery/hash.h>
#include <stdlib.h>
#include <string.h>

#define MOST_FILES ((size_t)1 << 31)
#define MOST_NAME 65535u /* longer than any system allows */

const char *cli_elements_name(cli_elements elements)
{
    static const char *const names[] = {"lines", "strings", "whole", "words", "fields"};
    return names[elements.kind];
}

bool cli_elements_equal(cli_elements a, cli_elements b)
{
    return a.kind == b.kind && a.fields.delimiter == b.fields.delimiter &&
           a.fields.count == b.fields.count &&
           memcmp(a.fields.number, b.fields.number, sizeof a.fields.number) == 0;
}

/* ---- the table of names -------------------------------------------------------------------- */

static size_t name_slot_of(const cli_names *names, const char *name)
{
    bry_hash hash = bry_hash_key(0, name, strlen(name));
    size_t slot = (size_t)hash.lo & (names->slots - 1);
    while (names->table[slot]) {
        const char *there = names->files[names->table[slot] - 1].name;
        if (there && strcmp(there, name) == 0)
            break;
        slot = (slot + 1) & (names->slots - 1);
    }
    return slot;
}

size_t cli_names_find(const cli_names *names, const char *name)
{
    if (names->slots == 0)
        return CLI_NO_FILE;
    uint32_t found = names->table[name_slot_of(names, name)];
    return found ? found - 1 : CLI_NO_FILE;
}

/* Makes room for one more file, and keeps the hash table at most half full. */
static bry_status reserve_named_file(cli_names *names)
{
    if (names->count == MOST_FILES)
        return BRY_E_FULL;
    if (!cli_array_reserve(&names->files, &names->capacity, names->count + 1, sizeof *names->files))
        return BRY_E_NOMEM;
    if ((names->count + 1) * 2 <= names->slots)
        return BRY_OK;
    size_t slots = names->slots ? names->slots * 2 : 64;
    uint32_t *table = calloc(slots, sizeof *table);
    if (!table)
        return BRY_E_NOMEM;
    free(names->table);
    names->table = table;
    names->slots = slots;
    for (size_t i = 0; i < names->count; i++)
        if (names->files[i].name)
            table[name_slot_of(names, names->files[i].name)] = (uint32_t)i + 1;
    return BRY_OK;
}

bry_status cli_names_add(cli_names *names, const char *name, cli_file_facts facts, size_t *file)
{
    bry_status status = reserve_named_file(names);
    if (status != BRY_OK)
        return status;
    char *copy = strdup(name);
    if (!copy)
        return BRY_E_NOMEM;
    names->table[name_slot_of(names, name)] = (uint32_t)names->count + 1;
    *file = names->count;
    names->files[names->count++] = (cli_named_file){.name = copy, .facts = facts};
    names->live++;
    return BRY_OK;
}

bry_status cli_names_add_piece(cli_named_file *file, cli_piece piece)
{
    uint32_t n = file->piece_count;
    if ((n & (n - 1)) == 0) { /* the capacity doubles at every power of two */
        cli_piece *pieces = realloc(file->pieces, (n ? (size_t)n * 2 : 1) * sizeof *pieces);
        if (!pieces)
            return BRY_E_NOMEM;
        file->pieces = pieces;
    }
    file->pieces[file->piece_count++] = piece;
    return BRY_OK;
}

void cli_pieces_free(cli_named_file *file)
{
    free(file->pieces);
    file->pieces = NULL;
    file->piece_count = 0;
}

/* The slot still refers to it, so that later ones in the probe sequence stay reachable; it matches
 * no name. */
void cli_names_del(cli_names *names, size_t file)
{
    free(names->files[file].name);
    cli_pieces_free(&names->files[file]);
    names->files[file] = (cli_named_file){0};
    names->live--;
}

void cli_names_free(cli_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        if (names->files[i].name)
            cli_names_del(names, i);
    free(names->files);
    free(names->table);
    *names = (cli_names){0};
}

/* ---- bytes --------------------------------------------------------------------------------- */

static const char magic[8] = {'B', 'R', 'Y', 'N', 'A', 'M', 'E', 'S'};
#define VERSION 3u

enum { /* the head */
       AT_MAGIC = 0,
       AT_VERSION = 8, /* u32 */
       AT_ELEMENTS = 12, /* u8 */
       AT_DELIMITER = 13, /* u8; two bytes of 0 follow */
       AT_FILES = 16, /* u64 */
       AT_NEXT_TAG = 24, /* u64 */
       AT_FIELDS = 32, /* CLI_FIELDS_BYTES */
       HEAD = AT_FIELDS + CLI_FIELDS_BYTES
};

enum { /* the record of a file; its name and its pieces follow */
       AT_SIZE = 0, /* u64 */
       AT_CHANGED = 8, /* i64 */
       AT_NAME_LEN = 16, /* u32 */
       AT_PIECES = 20, /* u32 */
       AT_FLAGS = 24, /* u32: APART; four bytes of 0 follow */
       RECORD = 32
};
#define APART 1u

enum { AT_TAG = 0, AT_FROM = 8, AT_TO = 16, PIECE = 24 };

static void write_file(const bry_sink *sink, const cli_named_file *file)
{
    unsigned char record[RECORD], bytes[PIECE];
    size_t len = strlen(file->name);
    cli_put(record + AT_SIZE, file->facts.size, 8);
    cli_put(record + AT_CHANGED, (uint64_t)file->facts.changed, 8);
    cli_put(record + AT_NAME_LEN, len, 4);
    cli_put(record + AT_PIECES, file->piece_count, 4);
    cli_put(record + AT_FLAGS, file->apart ? APART : 0, 8);
    sink->write(sink->opaque, record,
                sizeof record); /* to memory; failures are detected at the end */
    sink->write(sink->opaque, file->name, len);
    for (uint32_t i = 0; i < file->piece_count; i++) {
        cli_put(bytes + AT_TAG, file->pieces[i].tag, 8);
        cli_put(bytes + AT_FROM, file->pieces[i].from, 8);
        cli_put(bytes + AT_TO, file->pieces[i].to, 8);
        sink->write(sink->opaque, bytes, sizeof bytes);
    }
}

static uint64_t records_bytes(const cli_names *names)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < names->count; i++)
        if (names->files[i].name)
            bytes += RECORD + strlen(names->files[i].name) +
                     (uint64_t)names->files[i].piece_count * PIECE;
    return bytes;
}

bry_status cli_names_write(const cli_names *names, bry_buffer *note)
{
    bry_sink memory = bry_buffer_sink(note);
    unsigned char head[HEAD] = {0};
    memcpy(head + AT_MAGIC, magic, sizeof magic);
    cli_put(head + AT_VERSION, VERSION, 4);
    head[AT_ELEMENTS] = (unsigned char)names->elements.kind;
    head[AT_DELIMITER] = (unsigned char)names->elements.fields.delimiter;
    cli_put_fields(head + AT_FIELDS, &names->elements.fields);
    cli_put(head + AT_FILES, names->live, 8);
    cli_put(head + AT_NEXT_TAG, names->next_tag, 8);
    memory.write(memory.opaque, head, sizeof head);
    for (size_t i = 0; i < names->count; i++)
        if (names->files[i].name)
            write_file(&memory, &names->files[i]);
    return note->len == HEAD + records_bytes(names) ? BRY_OK : BRY_E_NOMEM;
}

/* ---- reading ------------------------------------------------------------------------------- */

static bry_status check_head(const bry_buffer *note, bry_load *load)
{
    const unsigned char *head = note->bytes;
    if (note->len < HEAD || memcmp(head + AT_MAGIC, magic, sizeof magic) != 0)
        return cli_note_refuse(load, "not an index of files");
    if (cli_get(head + AT_VERSION, 4) != VERSION)
        return cli_note_fail(load, BRY_E_VERSION, AT_VERSION,
                             "unsupported version of the file names");
    if (head[AT_ELEMENTS] > CLI_ELEMENT_FIELDS || cli_get(head + AT_DELIMITER + 1, 2) != 0)
        return cli_note_fail(load, BRY_E_BADDATA, AT_ELEMENTS, "unknown kind of elements");
    return BRY_OK;
}

/* Reads one record and advances *at past it. */
static bry_status read_file_record(cli_names *names, const unsigned char *bytes, uint64_t end,
                                   uint64_t *at, bry_load *load)
{
    static const char cut[] = "wrong length of the file names";
    if (end - *at < RECORD)
        return cli_note_fail(load, BRY_E_BADDATA, *at, cut);
    const unsigned char *record = bytes + *at;
    uint64_t len = cli_get(record + AT_NAME_LEN, 4), pieces = cli_get(record + AT_PIECES, 4);
    if (len == 0 || len > MOST_NAME || len > end - *at - RECORD || pieces == 0 ||
        pieces > (end - *at - RECORD - len) / PIECE)
        return cli_note_fail(load, BRY_E_BADDATA, *at, cut);
    char name[MOST_NAME + 1];
    memcpy(name, record + RECORD, (size_t)len);
    name[len] = '\0';
    uint64_t flags = cli_get(record + AT_FLAGS, 8);
    if (flags & ~(uint64_t)APART)
        return cli_note_fail(load, BRY_E_BADDATA, *at, "unknown flag of a file");
    if (strlen(name) != len || cli_names_find(names, name) != CLI_NO_FILE)
        return cli_note_fail(load, BRY_E_BADDATA, *at, "a file name is invalid or occurs twice");
    size_t file;
    cli_file_facts facts = {cli_get(record + AT_SIZE, 8), (int64_t)cli_get(record + AT_CHANGED, 8)};
    bry_status status = cli_names_add(names, name, facts, &file);
    if (status == BRY_OK)
        names->files[file].apart = flags & APART;
    const unsigned char *piece = record + RECORD + len;
    uint64_t before = 0;
    for (uint64_t i = 0; i < pieces && status == BRY_OK; i++, piece += PIECE) {
        cli_piece read = {.tag = cli_get(piece + AT_TAG, 8),
                          .from = cli_get(piece + AT_FROM, 8),
                          .to = cli_get(piece + AT_TO, 8)};
        if (read.tag >= names->next_tag || read.from < before || read.to < read.from)
            return cli_note_fail(load, BRY_E_BADDATA, *at, "a piece of a file is out of order");
        before = read.to;
        status = cli_names_add_piece(&names->files[file], read);
    }
    *at += RECORD + len + pieces * PIECE;
    return status == BRY_OK ? BRY_OK : cli_note_fail(load, status, *at, bry_status_text(status));
}

static bry_status read_all_names(cli_names *names, const bry_buffer *note, bry_load *load)
{
    const unsigned char *head = note->bytes;
    bry_status status = check_head(note, load);
    if (status != BRY_OK)
        return status;
    names->elements =
        (cli_elements){.kind = (cli_element_kind)head[AT_ELEMENTS],
                       .fields = cli_get_fields(head + AT_FIELDS, (char)head[AT_DELIMITER])};
    if ((names->elements.kind == CLI_ELEMENT_FIELDS) != (names->elements.fields.count > 0) ||
        (names->elements.fields.delimiter && !names->elements.fields.count))
        return cli_note_fail(load, BRY_E_BADDATA, AT_FIELDS, "invalid fields");
    names->next_tag = cli_get(head + AT_NEXT_TAG, 8);
    uint64_t at = HEAD;
    while (at < note->len && status == BRY_OK)
        status = read_file_record(names, note->bytes, note->len, &at, load);
    if (status == BRY_OK && names->count != cli_get(head + AT_FILES, 8))
        return cli_note_fail(load, BRY_E_BADDATA, AT_FILES, "wrong number of files");
    return status;
}

bry_status cli_names_read(cli_names *names, const bry_buffer *note, bry_load *load)
{
    *names = (cli_names){0};
    bry_status status = read_all_names(names, note, load);
    if (status != BRY_OK)
        cli_names_free(names);
    return status;
}
