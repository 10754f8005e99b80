#include "module/core/replies.h"

#include "text/number_format.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_SIZE 512

/* While a server is loading, clients run none of our commands, unless it loads asynchronously. */
static bool flags_say_log(int flags)
{
    return (flags & SERVER_IS_LOADING) && !(flags & SERVER_IS_LOADING_ASIDE);
}

bool is_replayed(server_context *context)
{
    int flags = api.GetContextFlags(context);
    return flags_say_log(flags) || (flags & api.replicated_flags);
}

bool is_from_log(server_context *context)
{
    return flags_say_log(api.GetContextFlags(context));
}

int reply_ok(server_context *context)
{
    return api.ReplyWithSimpleString(context, "OK");
}

static char hidden_error[LINE_SIZE];

int reply_error_text(server_context *context, const char *text)
{
    if (!is_replayed(context))
        return api.ReplyWithError(context, text);
    snprintf(hidden_error, sizeof hidden_error, "%s", text);
    return reply_ok(context);
}

const char *reply_take_hidden_error(void)
{
    static char taken[LINE_SIZE];
    memcpy(taken, hidden_error, sizeof taken);
    hidden_error[0] = '\0';
    return taken[0] ? taken : NULL;
}

int reply_error(server_context *context, const char *word, const char *format, ...)
{
    char line[LINE_SIZE];
    int len = snprintf(line, sizeof line, "%s ", word);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line + len, sizeof line - (size_t)len, format, arguments);
    va_end(arguments);
    return reply_error_text(context, line);
}

int reply_status(server_context *context, bry_status status)
{
    return reply_error(context, bry_status_word(status), "%s", bry_status_text(status));
}

int reply_wrong_arity(server_context *context)
{
    return is_replayed(context) ? reply_error_text(context, "ERR wrong number of arguments")
                                : api.WrongArity(context);
}

int reply_wrong_type(server_context *context)
{
    return reply_error_text(context,
                            "WRONGTYPE Operation against a key holding the wrong kind of value");
}

int reply_no_key(server_context *context)
{
    return reply_error_text(context, "ERR no such key");
}

int reply_internal(server_context *context)
{
    return reply_error_text(
        context, "ERR this command is reserved for replication and the append-only file");
}

int reply_zeros(server_context *context, size_t n)
{
    api.ReplyWithArray(context, (long)n);
    for (size_t i = 0; i < n; i++)
        api.ReplyWithLongLong(context, 0);
    return SERVER_OK;
}

/* ---- pairs ---------------------------------------------------------------------------------- */

pair_reply reply_pairs_begin(server_context *context)
{
    api.ReplyWithMap(context, SERVER_POSTPONED);
    return (pair_reply){.context = context};
}

void reply_pairs_end(const pair_reply *self)
{
    api.ReplySetMapLength(self->context, self->count);
}

static void reply_pair_name(pair_reply *self, const char *name)
{
    api.ReplyWithSimpleString(self->context, name);
    self->count++;
}

void reply_pair_count(pair_reply *self, const char *name, uint64_t count)
{
    reply_pair_name(self, name);
    if (count <= INT64_MAX) {
        api.ReplyWithLongLong(self->context, (long long)count);
        return;
    }
    char text[24]; /* too large for an integer of the protocol */
    int len = snprintf(text, sizeof text, "%" PRIu64, count);
    api.ReplyWithStringBuffer(self->context, text, (size_t)len);
}

/* Number of decimals if the number were written without an exponent. */
static int decimals_of(const char *text)
{
    const char *point = strchr(text, '.'), *power = strchr(text, 'e');
    const char *end = power ? power : text + strlen(text);
    return (point ? (int)(end - point) - 1 : 0) - (power ? (int)strtol(power + 1, NULL, 10) : 0);
}

/*
 * The server's own ReplyWithDouble() prints 0.0005 as 0.00050000000000000001 on Redis 7.0. In RESP2
 * a number with a fraction is a string, so our own text is sent. RESP3 has a type for it, which
 * modules can send only through the server: it prints long doubles with 17 decimals without
 * trailing zeros, which is as short as ours if ours has no more than 17 decimals and the long
 * double is exact to that many.
 */
static void reply_decimal(server_context *context, const char *text)
{
    enum { LONG_DOUBLE_DECIMALS = 17, LONG_DOUBLE_MOST = 64 };
    if (!(api.GetContextFlags(context) & SERVER_CLIENT_RESP3)) {
        api.ReplyWithStringBuffer(context, text, strlen(text));
        return;
    }
    double number = strtod(text, NULL);
    if (number > 0 && number < LONG_DOUBLE_MOST && decimals_of(text) <= LONG_DOUBLE_DECIMALS)
        api.ReplyWithLongDouble(context, strtold(text, NULL));
    else
        api.ReplyWithDouble(context, number);
}

void reply_pair_number(pair_reply *self, const char *name, double number)
{
    char text[TEXT_NUMBER_SIZE];
    reply_pair_name(self, name);
    reply_decimal(self->context, text_rounded(number, text));
}

void reply_pair_parameter(pair_reply *self, const char *name, double number)
{
    char text[TEXT_NUMBER_SIZE];
    reply_pair_name(self, name);
    reply_decimal(self->context, text_number(number, text));
}

void reply_pair_text(pair_reply *self, const char *name, const char *text)
{
    reply_pair_name(self, name);
    api.ReplyWithStringBuffer(self->context, text, strlen(text));
}

void reply_pair_seed(pair_reply *self, uint64_t seed)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, seed);
    reply_pair_text(self, "seed", text);
}

void reply_pair_ahead(pair_reply *self, uint64_t time)
{
    uint64_t now = (uint64_t)api.Milliseconds();
    reply_pair_count(self, "ahead_ms", time > now ? time - now : 0);
}

/* ---- arguments in messages ------------------------------------------------------------------ */

const char *quoted(const server_string *string, char out[QUOTED_SIZE])
{
    size_t len, end = 0;
    const char *bytes = api.StringPtrLen(string, &len);
    out[end++] = '\'';
    for (size_t i = 0; i < len; i++) {
        unsigned char byte = (unsigned char)bytes[i];
        bool plain = byte >= 0x20 && byte < 0x7f;
        if (end + 9 > QUOTED_SIZE) { /* "\xNN", "...", quote, end */
            memcpy(out + end, "...", 3);
            end += 3;
            break;
        }
        end += (size_t)snprintf(out + end, QUOTED_SIZE - end, plain ? "%c" : "\\x%02x", byte);
    }
    out[end++] = '\'';
    out[end] = '\0';
    return out;
}
