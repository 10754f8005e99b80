/*
 * Likes that count once, and comments that appear once, however often they are sent:  likes PORT
 *
 * A click is sent until it is answered. If an answer is lost, the sender does not know whether the
 * click was counted: if it sends again, INCR may count it twice; if not, the click may be lost.
 * COUNTER.INCRBY takes an id with each click and counts each id once, so sending again is safe.
 * ONCE does the same for any other write command.
 */
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct timeval patience = {0, 500000};

/* Sends a command, which may arrive twice, until it is answered; NULL if all tries fail. */
static redisReply *until_answered(redisContext *server, int argc, const char **argv)
{
    for (int tries = 0; tries < 100; tries++) {
        redisReply *reply = redisCommandArgv(server, argc, argv, NULL);
        if (reply != NULL && reply->type == REDIS_REPLY_ARRAY)
            return reply;
        if (reply != NULL) {
            fprintf(stderr, "the server says: %s\n", reply->str);
            freeReplyObject(reply);
            return NULL;
        }
        /* A new connection, so that a late answer is not taken for that of the next command. */
        usleep(10000);
        if (redisReconnect(server) == REDIS_OK)
            redisSetTimeout(server, patience);
    }
    fprintf(stderr, "no answer: %s\n", server->errstr);
    return NULL;
}

/* All tries of one click have the same id: here the session and a number. */
static void like(redisContext *server, const char *who, const char *post, const char *click)
{
    const char *command[] = {"COUNTER.INCRBY", "example:likes", post, "1", click};
    redisReply *reply = until_answered(server, 5, command);
    if (reply != NULL) { /* one pair for each increment */
        redisReply **pair = reply->element[0]->element;
        printf("%s likes %s: %lld, %s\n", who, post, pair[0]->integer,
               pair[1]->integer ? "counted" : "an earlier try was counted");
    }
    freeReplyObject(reply);
}

static void comment(redisContext *server, const char *who, const char *post, const char *text,
                    const char *click)
{
    const char *command[] = {"ONCE", "example:once", click, "RPUSH", "example:comments", text};
    redisReply *reply = until_answered(server, 6, command);
    /* 1 and the reply of RPUSH, or only 0: replies are not stored. */
    if (reply != NULL)
        printf("%s comments on %s, %s\n", who, post,
               reply->element[0]->integer ? "stored" : "an earlier try was stored");
    freeReplyObject(reply);
}

/* Simulates a network fault: the server runs the command, but its answer is lost. */
static void lose_the_next_answer(redisContext *server)
{
    redisAppendCommand(server, "CLIENT REPLY SKIP");
}

/* The number that a command returns, alone or as the only element, or the one after a name in its
 * reply; -1 if there is none. */
static long long number(redisContext *server, const char *command, const char *name)
{
    redisReply *reply = redisCommand(server, command);
    long long found = reply != NULL && reply->type == REDIS_REPLY_INTEGER ? reply->integer : -1;
    if (reply != NULL && reply->type == REDIS_REPLY_ARRAY && reply->elements == 1)
        found = reply->element[0]->integer;
    for (size_t i = 0; reply != NULL && name != NULL && i + 1 < reply->elements; i += 2)
        if (strcmp(reply->element[i]->str, name) == 0)
            found = reply->element[i + 1]->integer;
    freeReplyObject(reply);
    return found;
}

static redisContext *connect_to(int port)
{
    redisContext *server = redisConnect("127.0.0.1", port);
    if (server == NULL || server->err != 0) {
        fprintf(stderr, "no server: %s\n", server != NULL ? server->errstr : "out of memory");
        exit(3);
    }
    return server;
}

int main(int argc, char **argv)
{
    int port = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 6379;
    redisContext *server = connect_to(port);
    freeReplyObject(redisCommand(server, "DEL example:likes example:once example:comments"));
    /* Ids are remembered for ten minutes, longer than any client retries. */
    freeReplyObject(redisCommand(server, "COUNTER.CREATE example:likes WINDOW 10m"));
    freeReplyObject(redisCommand(server, "ONCE.CREATE example:once WINDOW 10m"));

    redisContext *retrying = connect_to(port);
    redisSetTimeout(retrying, patience);
    like(retrying, "ann", "post:7", "session1-1");
    lose_the_next_answer(retrying);
    like(retrying, "ben", "post:7", "session2-1");
    like(retrying, "cleo", "post:7", "session3-1");
    lose_the_next_answer(retrying);
    comment(retrying, "cleo", "post:7", "the best yet", "session3-2");
    redisFree(retrying);

    long long requests = number(server, "COUNTER.INFO example:likes", "applied") +
                         number(server, "COUNTER.INFO example:likes", "repeats");
    long long likes = number(server, "COUNTER.GET example:likes post:7", NULL);
    long long comments = number(server, "LLEN example:comments", NULL);
    printf("3 clicks, %lld requests, %lld likes; %lld comment\n", requests, likes, comments);
    redisFree(server);
    return likes == 3 && comments == 1 ? 0 : 1;
}
