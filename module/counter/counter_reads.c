/* COUNTER.GET, SCAN: the values of counters. None of these moves the time. */
#include "module/core/arguments.h"
#include "module/core/replies.h"
#include "module/counter/counter_type.h"
#include "text/number_parse.h"

#include <inttypes.h>
#include <stdio.h>

enum { PORTION = 64 };

/* Maximum number of counters in one reply of SCAN, whatever COUNT says: a few milliseconds. */
#define MOST_LISTED 8192u

/* Replies with the values of at most PORTION counters, null for those that do not exist. */
static void counter_reply_values(server_context *context, const bry_counters *counters,
                                 server_string **names, size_t n)
{
    const void *bytes[PORTION];
    size_t lens[PORTION];
    int64_t values[PORTION];
    bry_answer answers[PORTION];
    for (size_t i = 0; i < n; i++)
        bytes[i] = api.StringPtrLen(names[i], &lens[i]);
    if (n == 1)
        answers[0] = bry_counters_get(counters, bytes[0], lens[0], &values[0]);
    else
        bry_counters_get_n(counters, bytes, lens, n, values, answers);
    for (size_t i = 0; i < n; i++) {
        if (answers[i] == BRY_PRESENT)
            api.ReplyWithLongLong(context, values[i]);
        else
            api.ReplyWithNull(context);
    }
}

int counter_command_get(server_context *context, server_string **argv, int argc)
{
    opened_key opened;
    if (argc < 3)
        return api.WrongArity(context);
    if (!object_open(context, &counter_family, argv[1], SERVER_READ, &opened))
        return SERVER_OK;
    size_t n = (size_t)argc - 2;
    counter_family.totals.operations += n;
    api.ReplyWithArray(context, (long)n);
    for (size_t done = 0; done < n && opened.object; done += PORTION)
        counter_reply_values(context, table_of(opened.object)->counters, argv + 2 + done,
                             n - done < PORTION ? n - done : PORTION);
    for (size_t i = 0; i < n && !opened.object; i++)
        api.ReplyWithNull(context);
    return object_close(&opened);
}

/* ---- SCAN ---------------------------------------------------------------------------------- */

/* Sends alternating names and values; returns the next cursor. */
static uint64_t counter_reply_listing(server_context *context, const bry_counters *counters,
                                      uint64_t cursor, uint64_t count)
{
    long listed = 0;
    api.ReplyWithArray(context, SERVER_POSTPONED);
    do {
        bry_counters_entry entries[PORTION];
        size_t room = count < PORTION ? (size_t)count : PORTION;
        size_t n = bry_counters_scan(counters, &cursor, entries, room);
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
static uint64_t counter_cursor_after(const bry_counters *counters, uint64_t cursor, uint64_t count)
{
    do {
        bry_counters_entry entries[PORTION];
        count -= bry_counters_scan(counters, &cursor, entries,
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
    return !text_parse_plain(bytes, len, cursor) ||
           reply_false(context, "ERR",
                       "invalid cursor %s: use 0 or a cursor that COUNTER.SCAN returned",
                       quoted(argument, quote));
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
        !options_read(context, argv, argc, 3, options, 1) ||
        !object_open(context, &counter_family, argv[1], SERVER_READ, &opened))
        return SERVER_OK;
    if (count > MOST_LISTED)
        count = MOST_LISTED;
    const bry_counters *counters = opened.object ? table_of(opened.object)->counters : NULL;
    int len = snprintf(text, sizeof text, "%" PRIu64,
                       counters ? counter_cursor_after(counters, cursor, count) : 0);
    api.ReplyWithArray(context, 2);
    api.ReplyWithStringBuffer(context, text, (size_t)len);
    if (counters)
        counter_reply_listing(context, counters, cursor, count);
    else
        api.ReplyWithArray(context, 0);
    return object_close(&opened);
}
