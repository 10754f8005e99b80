#include "cli/index/index_elements.h"

#include "cli/core/files/saved_file.h"
#include "cli/core/input/words.h"
#include "cli/core/output/output.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK = 1 << 20 }; /* block in which a whole file is hashed */

static char element_end_of(cli_elements elements)
{
    return elements.kind == CLI_ELEMENT_STRINGS ? '\0' : '\n';
}

bry_status cli_elements_open(cli_element_reader *reader, const char *path, cli_elements elements,
                             uint64_t seed)
{
    struct stat facts;
    *reader = (cli_element_reader){.elements = elements, .seed = seed, .to = UINT64_MAX};
    if (cli_is_stream(path)) {
        reader->problem = "cannot be read again; \"index unit -\" makes units of it";
        return BRY_E_IO;
    }
    int fd = cli_open_regular(path, &facts, &reader->problem);
    if (fd < 0)
        return BRY_E_IO;
    reader->facts = (cli_file_facts){
        (uint64_t)facts.st_size,
        (int64_t)facts.st_mtim.tv_sec * 1000000000 + facts.st_mtim.tv_nsec,
    };
    reader->lines = (cli_lines)CLI_LINES(fd, element_end_of(elements));
    return BRY_OK;
}

void cli_elements_stream(cli_element_reader *reader, cli_elements elements, uint64_t seed)
{
    *reader = (cli_element_reader){.elements = elements, .seed = seed, .to = UINT64_MAX};
    reader->facts.size = UINT64_MAX; /* until it is read */
    reader->lines = (cli_lines)CLI_LINES(STDIN_FILENO, element_end_of(elements));
}

bry_status cli_elements_seek(cli_element_reader *reader, uint64_t from, uint64_t to)
{
    if (reader->elements.kind == CLI_ELEMENT_WHOLE)
        return BRY_OK;
    reader->at = from;
    reader->to = to;
    return lseek(reader->lines.fd, (off_t)from, SEEK_SET) >= 0 ? BRY_OK : BRY_E_IO;
}

uint64_t cli_path_bytes(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISREG(facts.st_mode) ? (uint64_t)facts.st_size : 0;
}

/*
 * Words repeat, and an index holds each of them once. The number of distinct words is estimated
 * from the bits of a bitmap that stay 0 (linear counting): n = -m ln(zeros / m), accurate to a
 * tenth of a percent up to many times m.
 */
static bry_status count_words(cli_element_reader *reader, uint64_t *count)
{
    enum { BITS = 1 << 23 };
    uint8_t *bits = calloc(BITS / 8, 1);
    bry_status status = bits ? BRY_OK : BRY_E_NOMEM;
    uint64_t words = 0, zeros = BITS;
    for (bool more = true; more && status == BRY_OK; words += more) {
        cli_element element;
        status = cli_elements_next(reader, &element, &more);
        if (status != BRY_OK || !more)
            continue;
        uint32_t bit = (uint32_t)element.hash.lo % BITS;
        zeros -= !(bits[bit / 8] >> bit % 8 & 1);
        bits[bit / 8] |= (uint8_t)(1u << bit % 8);
    }
    int kept = errno;
    free(bits);
    errno = kept;
    double differ = zeros ? BITS * log((double)BITS / (double)zeros) * 1.01 + 8 : (double)words;
    *count = differ < (double)words ? (uint64_t)differ : words;
    return status;
}

bry_status cli_elements_count(cli_element_reader *reader, uint64_t *count)
{
    bool exact;
    *count = 1;
    if (reader->elements.kind == CLI_ELEMENT_WORDS)
        return count_words(reader, count);
    return reader->elements.kind == CLI_ELEMENT_WHOLE
               ? BRY_OK
               : cli_lines_count(&reader->lines, count, &exact);
}

/* Hashes a file in blocks; each hash is seeded with that of the blocks before it. */
static bry_status hash_whole(cli_element_reader *reader, cli_element *element)
{
    unsigned char *block = malloc(sizeof(bry_hash) + BLOCK);
    if (!block)
        return BRY_E_NOMEM;
    unsigned char *content = block + sizeof(bry_hash);
    bry_hash hash = {0, 0};
    bry_status status = BRY_OK;
    for (bool ended = false; !ended && status == BRY_OK;) {
        size_t held = 0;
        while (held < BLOCK && !ended && status == BRY_OK) {
            ssize_t got = read(reader->lines.fd, content + held, BLOCK - held);
            if (got < 0 && errno != EINTR)
                status = BRY_E_IO;
            ended = got == 0;
            if (got > 0 && reader->lines.progress)
                cli_progress_read(reader->lines.progress, (uint64_t)got);
            held += got > 0 ? (size_t)got : 0;
        }
        for (int i = 0; i < 8; i++) {
            block[i] = (unsigned char)(hash.lo >> (8 * i));
            block[8 + i] = (unsigned char)(hash.hi >> (8 * i));
        }
        if (held > 0 || reader->at == 0)
            hash = bry_hash_key(reader->seed, block, sizeof(bry_hash) + held);
        reader->at += held;
    }
    int kept = errno;
    free(block);
    errno = kept;
    *element = (cli_element){.hash = hash, .end = reader->at};
    return status;
}

/* Reads the next line and advances reader->at past it. */
static bry_status next_line(cli_element_reader *reader, cli_text *line, bool *more)
{
    bry_status status = cli_lines_next(&reader->lines, line);
    if (status != BRY_OK)
        return status;
    *more = line->bytes != NULL;
    reader->done = !*more;
    reader->at += *more ? line->len + 1 : 0;
    return BRY_OK;
}

/* The end is directly after the word, so that a piece may begin within a line. */
static bry_status next_word(cli_element_reader *reader, cli_element *element, bool *more)
{
    cli_text word;
    while (!cli_next_word(&reader->rest, &word)) {
        if (reader->at >= reader->to)
            *more = false;
        bry_status status = *more ? next_line(reader, &reader->rest, more) : BRY_OK;
        if (status != BRY_OK || !*more)
            return status;
    }
    uint64_t end = reader->at - reader->rest.len - 1;
    *more = end <= reader->to;
    reader->done = !*more;
    *element = (cli_element){.text = word, .end = end};
    return BRY_OK;
}

static bry_status next_fields(cli_element_reader *reader, cli_element *element, bool *more)
{
    const cli_fields *fields = &reader->elements.fields;
    cli_text line, part[CLI_MOST_FIELDS];
    do {
        if (reader->at >= reader->to)
            *more = false;
        bry_status status = *more ? next_line(reader, &line, more) : BRY_OK;
        if (status != BRY_OK || !*more)
            return status;
    } while (cli_fields_find(fields->delimiter, fields->number, fields->count, line, part) != 0);
    element->end = reader->at;
    return cli_join(&reader->scratch, part, fields->count, fields->delimiter, &element->text)
               ? BRY_OK
               : BRY_E_NOMEM;
}

bry_status cli_elements_next(cli_element_reader *reader, cli_element *element, bool *more)
{
    bool words = reader->elements.kind == CLI_ELEMENT_WORDS;
    bry_status status;
    *more = !reader->done && (reader->at < reader->to || words);
    if (!*more)
        return BRY_OK;
    if (reader->elements.kind == CLI_ELEMENT_WHOLE) {
        reader->done = true;
        return hash_whole(reader, element);
    }
    if (words) {
        status = next_word(reader, element, more);
    } else if (reader->elements.kind == CLI_ELEMENT_FIELDS) {
        status = next_fields(reader, element, more);
    } else {
        status = next_line(reader, &element->text, more);
        element->end = reader->at;
    }
    if (status == BRY_OK && *more)
        element->hash = bry_hash_key(reader->seed, element->text.bytes, element->text.len);
    return status;
}

void cli_elements_close(cli_element_reader *reader)
{
    cli_lines_free(&reader->lines);
    free(reader->scratch.bytes);
    if (reader->lines.fd != STDIN_FILENO)
        close(reader->lines.fd);
}

bool cli_facts_equal(cli_file_facts a, cli_file_facts b)
{
    return a.size == b.size && a.changed == b.changed;
}

int cli_elements_failed(const cli_element_reader *reader, bry_status status, const char *path)
{
    int problem = errno;
    cli_quotation name = cli_name(path);
    if (status == BRY_E_TOOLONG)
        return cli_fail("%s: line %" PRIu64 ": longer than %zu bytes", name.text,
                        reader->lines.number + 1, CLI_LINE_MAX);
    if (status != BRY_E_IO)
        return cli_fail("%s: %s", name.text, bry_status_text(status));
    return cli_fail("%s: %s", name.text, reader->problem ? reader->problem : strerror(problem));
}
