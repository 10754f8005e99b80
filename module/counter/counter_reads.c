/* COUNTER.GET, MGET, SCAN: the values of counters. None of these moves the time. */
#include "module/core/arguments.h"
#include "module/core/replies.h"
#include "module/counter/counter_type.h"
#include "text/number_parse.h"

#include <inttypes.h>
#include <stdio.h>

enum { PORTION = 64 };

/* Maximum number of counters in one reply of SCAN, whatever COUNT says: a few milliseconds. */
#define MOST_LISTED 8192u

/* Replies with the counter's value, or null. */
static void counter_reply_value(server_context *context, const held_object *object,
                                const server_string *counter)
{
    size_t len;
    const char *name = api.StringPtrLen(counter, &len);
    int64_t value;
    if (object && bry_counter_get(table_of(object)->counters, name, len, &value) == BRY_PRESENT)
        api.ReplyWithLongLong(context, value);
    else
        api.ReplyWithNull(context);
}

static int counter_get_all(server_context *context, server_string **argv, int argc, bool many)
{
    opened_key opened;
    if (!object_open(context, &counter_family, argv[1], SERVER_READ, &opened))
        return SERVER_OK;
    counter_family.totals.operations += (uint64_t)argc - 2;
    if (many)
        api.ReplyWithArray(context, argc - 2);
    for (int i = 2; i < argc; i++)
        counter_reply_value(context, opened.object, argv[i]);
    object_close(&opened);
    return SERVER_OK;
}

int counter_command_get(server_context *context, server_string **argv, int argc)
{
    return argc == 3 ? counter_get_all(context, argv, argc, false) : api.WrongArity(context);
}

int counter_command_mget(server_context *context, server_string **argv, int argc)
{
    return argc >= 3 ? counter_get_all(context, argv, argc, true) : api.WrongArity(context);
}

/* ---- SCAN ---------------------------------------------------------------------------------- */

/* Sends alternating names and values; returns the next cursor. */
static uint64_t counter_reply_listing(server_context *context, const bry_counter *counters,
                                      uint64_t cursor, uint64_t count)
{
    long listed = 0;
    api.ReplyWithArray(context, SERVER_POSTPONED);
    do {
        bry_counter_entry entries[PORTION];
        size_t room = count < PORTION ? (size_t)count : PORTION;
        size_t n = bry_counter_scan(counters, &cursor, entries, sizeof *entries, room);
        for (size_t i = 0; i < n; i++) {
            api.ReplyWithStringBuffer(context, entries[i].name, entries[i].name_len);
            api.ReplyWithLongLong(context, entries[i].value);
        }
        listed += 2 * (long)n;
        count -= n;
    } while (cursor != 0 && count > 0);
    api.ReplySetArrayLength(context, listed);
    return cursor;
}

/* The cursor comes before the list in the reply but is known only after it. So it is determined
 * first, by a pass without a reply: that doubles the cost and takes no memory. */
static uint64_t counter_cursor_after(const bry_counter *counters, uint64_t cursor, uint64_t count)
{
    do {
        bry_counter_entry entries[PORTION];
        count -= bry_counter_scan(counters, &cursor, entries, sizeof *entries,
                                  count < PORTION ? (size_t)count : PORTION);
    } while (cursor != 0 && count > 0);
    return cursor;
}

/* False after an error reply. */
static bool counter_read_cursor(server_context *context, const server_string *argument,
                                uint64_t *cursor)
{
    char quote[QUOTED_SIZE];
    size_t len;
    const char *bytes = api.StringPtrLen(argument, &len);
    if (!text_parse_plain(bytes, len, cursor))
        return true;
    reply_error(context, "ERR", "invalid cursor %s: use 0 or a cursor that COUNTER.SCAN returned",
                quoted(argument, quote));
    return false;
}

int counter_command_scan(server_context *context, server_string **argv, int argc)
{
    uint64_t cursor, count = 10;
    char text[24];
    opened_key opened;
    command_option options[] = {option_count("COUNT", 1000000, &count)};
    if (argc < 3)
        return api.WrongArity(context);
    if (!counter_read_cursor(context, argv[2], &cursor) ||
        !options_read(context, argv, argc, 3, options, 1, NULL, NULL) ||
        !object_open(context, &counter_family, argv[1], SERVER_READ, &opened))
        return SERVER_OK;
    if (count > MOST_LISTED)
        count = MOST_LISTED;
    const bry_counter *counters = opened.object ? table_of(opened.object)->counters : NULL;
    int len = snprintf(text, sizeof text, "%" PRIu64,
                       counters ? counter_cursor_after(counters, cursor, count) : 0);
    api.ReplyWithArray(context, 2);
    api.ReplyWithStringBuffer(context, text, (size_t)len);
    if (counters)
        counter_reply_listing(context, counters, cursor, count);
    else
        api.ReplyWithArray(context, 0);
    object_close(&opened);
    return SERVER_OK;
}
