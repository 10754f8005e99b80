#include "module/core/arguments.h"

#include "module/core/replies.h"
#include "text/number_format.h"
#include "text/number_parse.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

bool is_word(const server_string *argument, const char *word)
{
    size_t len;
    const char *bytes = api.StringPtrLen(argument, &len);
    return len == strlen(word) && strncasecmp(bytes, word, len) == 0;
}

/* ---- keys ---------------------------------------------------------------------------------- */

/* Takes the first LIKE. No option accepts LIKE as its value, so if this one is not the option, the
 * command fails anyway. */
bool report_like_keys(server_context *context, server_string **argv, int argc)
{
    if (!api.IsKeysPositionRequest(context))
        return false;
    int at = 2;
    if (argc > 1)
        api.KeyAtPosWithFlags(context, 1, SERVER_SPEC_OW | SERVER_SPEC_INSERT);
    while (at < argc && !is_word(argv[at], "LIKE"))
        at++;
    if (at + 1 < argc)
        api.KeyAtPosWithFlags(context, at + 1, SERVER_SPEC_RO | SERVER_SPEC_ACCESS);
    return true;
}

/* ---- one number ---------------------------------------------------------------------------- */

static bool argument_refuse(server_context *context, const server_string *argument,
                            const char *name, const char *problem)
{
    char text[QUOTED_SIZE];
    return reply_false(context, "ERR", "%s %s %s", name, quoted(argument, text), problem);
}

typedef const char *typed_whole(const char *text, size_t len, uint64_t *value);

static bool argument_read_whole(server_context *context, const server_string *argument,
                                const char *name, typed_whole *typed, uint64_t least, uint64_t most,
                                uint64_t *value)
{
    char text[QUOTED_SIZE];
    size_t len;
    const char *bytes = api.StringPtrLen(argument, &len);
    uint64_t read = 0;
    const char *problem = typed(bytes, len, &read);
    if (problem && !text_is_out_of_range(problem))
        return argument_refuse(context, argument, name, problem);
    if (problem || read < least || read > most)
        return reply_false(context, "RANGE", "%s %s is not between %" PRIu64 " and %" PRIu64, name,
                           quoted(argument, text), least, most);
    *value = read;
    return true;
}

bool read_plain(server_context *context, const server_string *argument, const char *name,
                uint64_t least, uint64_t most, uint64_t *number)
{
    return argument_read_whole(context, argument, name, text_parse_plain, least, most, number);
}

static bool read_share(server_context *context, const server_string *argument, const char *name,
                       double least, double most, double *share)
{
    char text[QUOTED_SIZE];
    size_t len;
    const char *bytes = api.StringPtrLen(argument, &len);
    double read = 0;
    const char *problem = text_parse_share(bytes, len, &read);
    if (problem && !text_is_out_of_range(problem))
        return argument_refuse(context, argument, name, problem);
    if (problem || read < least || read > most)
        return reply_false(context, "RANGE", "%s %s is not between %g and %g", name,
                           quoted(argument, text), least, most);
    *share = read;
    return true;
}

/* ---- options ------------------------------------------------------------------------------- */

static bool option_read_engine(server_context *context, const command_option *option,
                               const server_string *argument)
{
    if (is_word(argument, bry_engine_name(BRY_ENGINE_AUTO))) {
        *(bry_engine *)option->into = BRY_ENGINE_AUTO;
        return true;
    }
    char list[128];
    int end = snprintf(list, sizeof list, "%s", bry_engine_name(BRY_ENGINE_AUTO));
    bry_engine engine = bry_job_engine_at(option->job, 0);
    for (size_t i = 0; engine != BRY_ENGINE_AUTO && end < (int)sizeof list; i++) {
        if (is_word(argument, bry_engine_name(engine))) {
            *(bry_engine *)option->into = engine;
            return true;
        }
        bry_engine next = bry_job_engine_at(option->job, i + 1);
        end += snprintf(list + end, sizeof list - (size_t)end, "%s%s",
                        next == BRY_ENGINE_AUTO ? " or " : ", ", bry_engine_name(engine));
        engine = next;
    }
    char text[QUOTED_SIZE];
    return reply_false(context, "ERR", "%s %s is not one of %s", option->name,
                       quoted(argument, text), list);
}

static bool option_read_value(server_context *context, const command_option *option,
                              server_string *argument)
{
    switch (option->kind) {
    case OPTION_COUNT:
        return argument_read_whole(context, argument, option->name, text_parse_count, option->least,
                                   option->most, option->into);
    case OPTION_PLAIN:
        return argument_read_whole(context, argument, option->name, text_parse_plain, option->least,
                                   option->most, option->into);
    case OPTION_MOMENT:
        return argument_read_whole(context, argument, option->name, text_parse_moment,
                                   option->least, option->most, option->into);
    case OPTION_BYTES:
        return argument_read_whole(context, argument, option->name, text_parse_bytes, option->least,
                                   option->most, option->into);
    case OPTION_SPAN:
        return argument_read_whole(context, argument, option->name, text_parse_span_or_ms,
                                   option->least, option->most, option->into);
    case OPTION_SHARE:
        return read_share(context, argument, option->name, option->least_share, option->most_share,
                          option->into);
    case OPTION_ENGINE:
        return option_read_engine(context, option, argument);
    case OPTION_STRING:
        *(server_string **)option->into = argument;
        return true;
    case OPTION_FLAG:
        break;
    }
    return true;
}

static command_option *option_find(command_option *options, size_t count,
                                   const server_string *argument)
{
    for (size_t i = 0; i < count; i++)
        if (is_word(argument, options[i].name))
            return &options[i];
    return NULL;
}

/* True if one of these arguments is the word `stop`. */
static bool options_stop(server_string **argv, int argc, int from, const char *stop)
{
    while (from < argc && !is_word(argv[from], stop))
        from++;
    return from < argc;
}

/* Reads up to the word `stop`, if it is not NULL, or the end. Returns the position of that word, or
 * argc; 0 after an error reply. */
static int options_read_part(server_context *context, server_string **argv, int argc, int from,
                             command_option *options, size_t count, const char *stop)
{
    char text[QUOTED_SIZE];
    int at = from;
    for (; at < argc && !(stop && is_word(argv[at], stop)); at++) {
        command_option *found = option_find(options, count, argv[at]);
        if (!found) {
            if (stop && !options_stop(argv, argc, at, stop))
                reply_error(context, "ERR", "%s is required before %s", stop,
                            quoted(argv[at], text));
            else
                reply_error(context, "ERR", "unknown argument %s%s%s", quoted(argv[at], text),
                            stop ? " before " : "", stop ? stop : "");
            return 0;
        }
        if (found->given) {
            reply_error(context, "ERR", "%s is given twice", found->name);
            return 0;
        }
        found->given = true;
        if (found->kind == OPTION_FLAG) {
            *(uint32_t *)found->into = 1;
            continue;
        }
        if (++at == argc) {
            reply_error(context, "ERR", "%s needs a value", found->name);
            return 0;
        }
        if (!option_read_value(context, found, argv[at]))
            return 0;
    }
    return at;
}

bool options_read(server_context *context, server_string **argv, int argc, int from,
                  command_option *options, size_t count)
{
    return options_read_part(context, argv, argc, from, options, count, NULL) != 0;
}

bool options_read_until(server_context *context, server_string **argv, int argc, int from,
                        command_option *options, size_t count, const char *stop, int *first)
{
    int at = options_read_part(context, argv, argc, from, options, count, stop);
    if (at == 0)
        return false;
    if (at + 1 >= argc)
        return reply_false(context, "ERR", at == argc ? "%s is required" : "nothing follows %s",
                           stop);
    *first = at + 1;
    return true;
}

/* What the option holds as text; NULL: 0, or a string. */
static const char *option_text(const command_option *option, char out[TEXT_NUMBER_SIZE])
{
    if (option->kind == OPTION_SHARE)
        return text_number(*(double *)option->into, out);
    if (option->kind == OPTION_ENGINE)
        return bry_engine_name(*(bry_engine *)option->into);
    if (option->kind == OPTION_FLAG)
        return *(uint32_t *)option->into ? "" : NULL;
    if (option->kind == OPTION_STRING || *(uint64_t *)option->into == 0)
        return NULL;
    snprintf(out, TEXT_NUMBER_SIZE, "%" PRIu64, *(uint64_t *)option->into);
    return out;
}

void options_replicate(server_context *context, const char *command, server_string *name,
                       const option_list *list)
{
    server_string *words[2 * OPTIONS_MOST];
    size_t n = 0;
    for (size_t i = 0; i < list->count; i++) {
        const command_option *option = &list->rows[i];
        char out[TEXT_NUMBER_SIZE];
        const char *text = option_text(option, out);
        if (text)
            words[n++] = api.CreateString(context, option->name, strlen(option->name));
        if (text && option->kind != OPTION_FLAG)
            words[n++] = api.CreateString(context, text, strlen(text));
    }
    api.Replicate(context, command, "sv", name, words, n);
    while (n > 0)
        api.FreeString(context, words[--n]);
}

size_t options_given(const command_option *options, size_t count)
{
    size_t given = 0;
    for (size_t i = 0; i < count; i++)
        given += options[i].given;
    return given;
}
