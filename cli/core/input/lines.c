#include "cli/core/input/lines.h"

#include "cli/core/args.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 256 * 1024, AHEAD = 4 << 20, COLUMNS = 64 };

/* Appends up to `room` bytes from the input to the buffer, and enlarges it if necessary. */
static bry_status read_more_input(cli_lines *lines, size_t room)
{
    if (lines->may_read && !lines->may_read(lines->context)) {
        lines->ended = true;
        lines->held = lines->at;
        return BRY_OK;
    }
    if (lines->capacity - lines->held < room) {
        size_t capacity = lines->capacity ? lines->capacity : PIECE;
        while (capacity - lines->held < room)
            capacity *= 2;
        char *grown = realloc(lines->buffer, capacity);
        if (!grown)
            return BRY_E_NOMEM;
        lines->buffer = grown;
        lines->capacity = capacity;
    }
    ssize_t got;
    do
        got = read(lines->fd, lines->buffer + lines->held, room);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return BRY_E_IO;
    lines->ended = got == 0;
    lines->held += (size_t)got;
    if (lines->progress)
        cli_progress_read(lines->progress, (uint64_t)got);
    return BRY_OK;
}

static char *find_line_end(const cli_lines *lines, size_t from)
{
    return from < lines->held ? memchr(lines->buffer + from, lines->end, lines->held - from) : NULL;
}

bool cli_lines_ready(const cli_lines *lines)
{
    return find_line_end(lines, lines->at) || (lines->ended && lines->at < lines->held);
}

bry_status cli_lines_next(cli_lines *lines, cli_text *line)
{
    size_t searched = lines->at;
    char *found;
    while (!(found = find_line_end(lines, searched)) && !lines->ended) {
        if (lines->at > 0) {
            memmove(lines->buffer, lines->buffer + lines->at, lines->held - lines->at);
            lines->held -= lines->at;
            lines->at = 0;
        }
        if (lines->held > CLI_LINE_MAX)
            return BRY_E_TOOLONG;
        searched = lines->held;
        bry_status status = read_more_input(lines, PIECE);
        if (status != BRY_OK)
            return status;
    }
    *line = (cli_text){NULL, 0};
    if (!found && lines->at == lines->held)
        return BRY_OK;
    line->bytes = lines->buffer + lines->at;
    line->len = (size_t)((found ? found : lines->buffer + lines->held) - line->bytes);
    if (line->len > CLI_LINE_MAX)
        return BRY_E_TOOLONG;
    lines->at += line->len + (found != NULL);
    lines->number++;
    return BRY_OK;
}

/* Sums up to 255 in single bytes, which compilers vectorize. */
static uint64_t count_ends(const char *bytes, size_t len, char end)
{
    const size_t most = (size_t)255 * COLUMNS;
    uint64_t count = 0;
    for (size_t from = 0; from < len; from += most) {
        unsigned char column[COLUMNS] = {0};
        size_t stop = len - from < most ? len : from + most, at = from;
        for (; stop - at >= COLUMNS; at += COLUMNS)
            for (size_t i = 0; i < COLUMNS; i++)
                column[i] += bytes[at + i] == end;
        for (size_t i = 0; i < COLUMNS; i++)
            count += column[i];
        for (; at < stop; at++)
            count += bytes[at] == end;
    }
    return count;
}

/* Counts from the file's current offset to its end, without moving the offset. */
static bry_status count_lines_of_file(const cli_lines *lines, off_t at, uint64_t *count)
{
    char *piece = malloc(PIECE);
    if (!piece)
        return BRY_E_NOMEM;
    char last = lines->end;
    bry_status status = BRY_OK;
    for (*count = 0;;) {
        ssize_t got = pread(lines->fd, piece, PIECE, at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            status = BRY_E_IO;
        if (got <= 0)
            break;
        *count += count_ends(piece, (size_t)got, lines->end);
        last = piece[got - 1];
        at += got;
    }
    int kept = errno;
    free(piece);
    errno = kept;
    *count += last != lines->end;
    return status;
}

bry_status cli_lines_count(cli_lines *lines, uint64_t *count, bool *exact)
{
    struct stat facts;
    off_t at = lseek(lines->fd, 0, SEEK_CUR);
    *exact = true;
    if (at >= 0 && fstat(lines->fd, &facts) == 0 && S_ISREG(facts.st_mode))
        return count_lines_of_file(lines, at, count);

    while (lines->held < AHEAD && !lines->ended) {
        bry_status status = read_more_input(lines, PIECE);
        if (status != BRY_OK)
            return status;
    }
    *exact = lines->ended;
    *count = count_ends(lines->buffer, lines->held, lines->end);
    *count += lines->ended && lines->held > 0 && lines->buffer[lines->held - 1] != lines->end;
    return BRY_OK;
}

cli_quotation cli_quote_text(cli_text text)
{
    char word[sizeof((cli_quotation *)0)->text];
    size_t len = text.len < sizeof word - 1 ? text.len : sizeof word - 1;
    for (size_t i = 0; i < len; i++)
        word[i] = text.bytes[i] ? text.bytes[i] : '\x01'; /* NUL-terminated below */
    word[len] = '\0';
    return cli_quote(word);
}

cli_place cli_lines_place(const cli_lines *lines, uint64_t number)
{
    cli_place place;
    cli_quotation name = cli_name(lines->name ? lines->name : "");
    snprintf(place.text, sizeof place.text, "%s%sline %" PRIu64, lines->name ? name.text : "",
             lines->name ? ": " : "", number);
    return place;
}

void cli_lines_free(cli_lines *lines)
{
    free(lines->buffer);
    lines->buffer = NULL;
}

int cli_lines_failed(const cli_lines *lines, bry_status status)
{
    int problem = errno;
    cli_place place = cli_lines_place(lines, lines->number + 1);
    if (status == BRY_E_IO)
        return cli_fail("%s: %s", lines->name ? cli_name(lines->name).text : "standard input",
                        strerror(problem));
    if (status == BRY_E_TOOLONG)
        return cli_fail("%s: longer than %zu bytes", place.text, CLI_LINE_MAX);
    return cli_fail("%s: %s", place.text, bry_status_text(status));
}

/* ---- keys ---------------------------------------------------------------------------------- */

int cli_answer_lines(const cli_key_batches *batches, char end)
{
    cli_progress progress = cli_progress_start(cli_bytes_left(STDIN_FILENO), true);
    cli_lines lines = CLI_LINES(STDIN_FILENO, end);
    lines.progress = &progress;
    int code = CLI_GO_ON;
    bool more = true;
    while (more && code == CLI_GO_ON && !ferror(stdout)) {
        size_t n = 0;
        bool valid = true;
        bry_status status;
        do {
            cli_text *key = &batches->keys[n];
            status = cli_lines_next(&lines, key);
            more = status == BRY_OK && key->bytes;
            valid = !more || !batches->accept || batches->accept(batches->context, key);
            n += more && valid;
        } while (more && valid && n < batches->most && cli_lines_ready(&lines));
        code = batches->answer(batches->context, n);
        cli_progress_add(&progress, n);
        if (code == CLI_GO_ON && status != BRY_OK)
            code = cli_lines_failed(&lines, status);
        if (code == CLI_GO_ON && !valid)
            code = cli_fail("line %" PRIu64 ": invalid file name", lines.number);
        if (!cli_lines_ready(&lines))
            fflush(stdout);
    }
    cli_progress_end(&progress);
    cli_lines_free(&lines);
    return code;
}

int cli_answer_words(const cli_key_batches *batches, char **words, size_t count)
{
    int code = CLI_GO_ON;
    for (size_t done = 0, n; done < count && code == CLI_GO_ON; done += n) {
        n = count - done < batches->most ? count - done : batches->most;
        for (size_t i = 0; i < n; i++)
            batches->keys[i] = (cli_text){words[done + i], strlen(words[done + i])};
        code = batches->answer(batches->context, n);
    }
    return code;
}

int cli_take_lines(char end, int (*take)(void *context, cli_text line, const cli_lines *lines),
                   void *context)
{
    cli_progress progress = cli_progress_start(cli_bytes_left(STDIN_FILENO), false);
    cli_lines lines = CLI_LINES(STDIN_FILENO, end);
    lines.progress = &progress;
    cli_text line = {NULL, 0};
    int code = CLI_GO_ON;
    do {
        bry_status status = cli_lines_next(&lines, &line);
        if (status != BRY_OK)
            code = cli_lines_failed(&lines, status);
        else if (line.bytes)
            code = take(context, line, &lines);
        progress.done++;
    } while (code == CLI_GO_ON && line.bytes);
    cli_progress_end(&progress);
    cli_lines_free(&lines);
    return code;
}
