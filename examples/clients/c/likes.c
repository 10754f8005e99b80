/*
 * Likes that count once, however often they are sent:  likes PORT
 *
 * A click is sent until it is answered. When an answer is lost, the sender cannot know whether the
 * click was counted: sent again, INCR would count it twice; not sent again, it may be lost.
 * COUNTER.INCRBY takes an id with each click and counts each id once, so sending again is safe.
 */
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Counts a like. All tries of one click share its id, such as the session and a number in it.
 * Returns how many likes the post has then, -1 when the server refuses or is not reached. */
static long long like(redisContext *server, const char *who, const char *post, const char *click)
{
    for (int try = 0; try < 100; try++) {
        redisReply *reply =
            redisCommand(server, "COUNTER.INCRBY example:likes %s 1 %s", post, click);
        if (reply != NULL) {
            long long likes = -1;
            if (reply->type == REDIS_REPLY_ARRAY && reply->elements == 2) {
                likes = reply->element[0]->integer;
                printf("%s likes %s: %lld, %s\n", who, post, likes,
                       reply->element[1]->integer ? "counted" : "an earlier try was counted");
            } else {
                fprintf(stderr, "the server says: %s\n", reply->str);
            }
            freeReplyObject(reply);
            return likes;
        }
        /* No answer. A new connection: one that comes too late must not meet the next command. */
        usleep(10000);
        redisReconnect(server);
    }
    fprintf(stderr, "no answer: %s\n", server->errstr);
    return -1;
}

/* What a network does now and then: the server does its work, its answer does not arrive. */
static void lose_the_next_answer(redisContext *server)
{
    redisAppendCommand(server, "CLIENT REPLY SKIP");
}

/* An integer out of COUNTER.INFO's names and values. */
static long long field(const redisReply *info, const char *name)
{
    for (size_t i = 0; info != NULL && i + 1 < info->elements; i += 2)
        if (strcmp(info->element[i]->str, name) == 0)
            return info->element[i + 1]->integer;
    return -1;
}

int main(int argc, char **argv)
{
    const struct timeval patience = {0, 500000};
    redisContext *server = redisConnectWithTimeout(
        "127.0.0.1", argc > 1 ? (int)strtol(argv[1], NULL, 10) : 6379, patience);
    if (server == NULL || server->err != 0) {
        fprintf(stderr, "no server: %s\n", server != NULL ? server->errstr : "out of memory");
        redisFree(server);
        return 3;
    }
    freeReplyObject(redisCommand(server, "DEL example:likes"));
    /* Ids are remembered for ten minutes: longer than anyone retries. */
    freeReplyObject(redisCommand(server, "COUNTER.CREATE example:likes WINDOW 10m"));
    redisSetTimeout(server, patience);

    like(server, "ann", "post:7", "session1-1");
    lose_the_next_answer(server);
    like(server, "ben", "post:7", "session2-1");
    long long likes = like(server, "cleo", "post:7", "session3-1");

    redisReply *info = redisCommand(server, "COUNTER.INFO example:likes");
    printf("3 clicks, %lld requests, %lld likes\n", field(info, "applied") + field(info, "repeats"),
           likes);
    freeReplyObject(info);
    redisFree(server);
    return likes == 3 ? 0 : 1;
}
