/*
 * A cache in front of a database that also knows which rows do not exist:  row_cache PORT
 *
 * Look-ups of rows that do not exist, because of typing errors or because somebody tries all names,
 * miss an ordinary cache and reach the database each time. Here a filter holds the name of every
 * row. It never denies a row whose name was added; of unknown names it reports at most one in a
 * hundred as a row, which costs a query but gives no wrong answer. To keep it that way:
 *
 * - A name is added to the filter before its row is inserted into the database. A process that dies
 *   in between leaves an extra name, which costs a query now and then.
 * - Names of deleted rows stay in the filter. BF.DEL could run after somebody has inserted the row
 *   again, and sometimes removes another name with the same fingerprint. When many rows are gone,
 *   make a new filter.
 * - A filter is used only if it contains a mark, which is added last. A lost or incomplete filter
 *   would deny rows that exist; without the mark, the database is queried.
 */
#include <hiredis/hiredis.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { USERS = 1000, UNKNOWN = 2000, TEXT = 64 };

static redisContext *server;
static sqlite3 *database;
static int queries;

static redisReply *checked(redisReply *reply)
{
    if (reply == NULL || reply->type == REDIS_REPLY_ERROR) {
        fprintf(stderr, "the server says: %s\n", reply != NULL ? reply->str : server->errstr);
        exit(3);
    }
    return reply;
}

static void command(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    freeReplyObject(checked(redisvCommand(server, format, arguments)));
    va_end(arguments);
}

static redisReply *next_reply(void)
{
    void *reply = NULL;
    redisGetReply(server, &reply);
    return checked(reply);
}

/* Runs a statement with up to two values; mail[] gets the first column, if any. */
static bool query(const char *sql, const char *first, const char *second, char mail[TEXT])
{
    sqlite3_stmt *statement = NULL;
    sqlite3_prepare_v2(database, sql, -1, &statement, NULL);
    if (first != NULL)
        sqlite3_bind_text(statement, 1, first, -1, SQLITE_STATIC);
    if (second != NULL)
        sqlite3_bind_text(statement, 2, second, -1, SQLITE_STATIC);
    bool row = sqlite3_step(statement) == SQLITE_ROW;
    if (row && mail != NULL)
        snprintf(mail, TEXT, "%s", (const char *)sqlite3_column_text(statement, 0));
    if (sqlite3_finalize(statement) != SQLITE_OK) {
        fprintf(stderr, "the database says: %s\n", sqlite3_errmsg(database));
        exit(3);
    }
    return row;
}

/* Call this while nobody inserts rows. */
static void make_filter(void)
{
    sqlite3_stmt *statement = NULL;
    command("DEL example:names");
    command("BF.RESERVE example:names 0.01 %d", 2 * USERS);
    sqlite3_prepare_v2(database, "SELECT name FROM users", -1, &statement, NULL);
    while (sqlite3_step(statement) == SQLITE_ROW)
        command("BF.ADD example:names %s", (const char *)sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    command("BF.ADD example:names (complete)");
}

/* The mail address of a user; false if there is no such user. */
static bool look_up(const char *name, char mail[TEXT])
{
    /* Both in one round trip. */
    redisAppendCommand(server, "GET example:row:%s", name);
    redisAppendCommand(server, "BF.MEXISTS example:names %s (complete)", name);
    redisReply *cached = next_reply(), *filter = next_reply();
    bool hit = cached->type == REDIS_REPLY_STRING;
    bool absent = filter->element[1]->integer && !filter->element[0]->integer;
    if (hit)
        snprintf(mail, TEXT, "%s", cached->str);
    freeReplyObject(cached);
    freeReplyObject(filter);
    if (hit || absent)
        return hit;
    queries++;
    if (!query("SELECT mail FROM users WHERE name = ?", name, NULL, mail))
        return false;
    command("SET example:row:%s %s EX 60", name, mail);
    return true;
}

static void insert(const char *name, const char *mail)
{
    command("BF.ADD example:names %s", name);
    query("INSERT INTO users VALUES (?, ?)", name, mail, NULL);
}

static void delete_row(const char *name)
{
    query("DELETE FROM users WHERE name = ?", name, NULL, NULL);
    command("DEL example:row:%s", name);
}

/* How many of word0, word1 … exist, and how many queries that took. */
static int found(const char *word, int n, int *took)
{
    int there = 0, before = queries;
    for (int i = 0; i < n; i++) {
        char name[TEXT], mail[TEXT];
        snprintf(name, sizeof name, "%s%d", word, i);
        there += look_up(name, mail);
    }
    *took = queries - before;
    return there;
}

int main(int argc, char **argv)
{
    char name[TEXT], mail[TEXT];
    server = redisConnect("127.0.0.1", argc > 1 ? (int)strtol(argv[1], NULL, 10) : 6379);
    if (server == NULL || server->err != 0 || sqlite3_open(":memory:", &database) != SQLITE_OK) {
        fprintf(stderr, "no server: %s\n", server != NULL ? server->errstr : "out of memory");
        return 3;
    }
    query("CREATE TABLE users (name TEXT PRIMARY KEY, mail TEXT)", NULL, NULL, NULL);
    command("DEL example:row:eve"); /* of an earlier run */
    for (int i = 0; i < USERS; i++) {
        snprintf(name, sizeof name, "user%d", i);
        snprintf(mail, sizeof mail, "user%d@example.org", i);
        command("DEL example:row:%s", name);
        query("INSERT INTO users VALUES (?, ?)", name, mail, NULL);
    }
    make_filter();

    int took, again;
    int there = found("nobody", UNKNOWN, &took);
    printf("%d unknown names: %d found, %d queries\n", UNKNOWN, there, took);
    /* At most 20 queries are expected; 42 is five standard deviations more. */
    bool right = there == 0 && took <= 42;

    int first = found("user", USERS, &took), second = found("user", USERS, &again);
    printf("%d users: %d found, %d queries; again: %d found, %d queries\n", USERS, first, took,
           second, again);
    right = right && first == USERS && took == USERS && second == USERS && again == 0;

    insert("eve", "eve@example.org");
    delete_row("user7");
    bool inserted = look_up("eve", mail), deleted = look_up("user7", mail);
    printf("one inserted: %d found; one deleted: %d found\n", inserted, deleted);
    command("DEL example:names");
    int without = look_up("eve", mail);
    without += look_up("user8", mail);
    printf("the filter is lost: 2 users, %d found\n", without);
    right = right && inserted && !deleted && without == 2;

    sqlite3_close(database);
    redisFree(server);
    return right ? 0 : 1;
}
