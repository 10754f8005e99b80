/*
 * A crawler that fetches each page at most once a day:  crawl PORT
 *
 * Any number of crawlers share one window on the server. WINDOW.INSERT checks and marks in one step,
 * so of all crawlers that find a link at the same moment only one gets to fetch it. At an error of
 * 1e-6 one new page in a million is taken for a known one, and missed until it is found again
 * another day; no page is fetched twice within the window. A page takes 5 bytes, however long its
 * address.
 */
#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGES = 8, LINKS = 4, QUEUE = 64 };

static const struct page {
    const char *name;
    const char *links[LINKS];
} site[PAGES] = {
    {"/", {"/news", "/shop", "/about"}},         {"/news", {"/", "/news/1", "/news/2"}},
    {"/news/1", {"/news", "/news/2"}},           {"/news/2", {"/news", "/news/1", "/shop"}},
    {"/shop", {"/", "/shop/tea", "/shop/pots"}}, {"/shop/tea", {"/shop", "/shop/pots"}},
    {"/shop/pots", {"/shop", "/shop/tea"}},      {"/about", {"/"}},
};

/* Stands for a request to the site; one page fails at the first try. */
static const struct page *fetch(const char *name)
{
    static bool trouble = true;
    if (trouble && strcmp(name, "/shop") == 0) {
        trouble = false;
        return NULL;
    }
    const struct page *page = site;
    while (strcmp(page->name, name) != 0)
        page++;
    return page;
}

/* The answer for the one page of a command; frees the reply. */
static long long only_answer(redisContext *server, redisReply *reply)
{
    if (reply == NULL || reply->type != REDIS_REPLY_ARRAY) {
        fprintf(stderr, "%s\n", reply != NULL ? reply->str : server->errstr);
        exit(3);
    }
    long long answer = reply->element[0]->integer;
    freeReplyObject(reply);
    return answer;
}

/* Marks the page as seen; true if it is new. */
static bool mark(redisContext *server, const char *page, long long now)
{
    return only_answer(server, redisCommand(server, "WINDOW.INSERT example:seen AT %lld ITEMS %s",
                                            now, page)) == 1;
}

static void remove_mark(redisContext *server, const char *page)
{
    only_answer(server, redisCommand(server, "WINDOW.DEL example:seen %s", page));
}

/* Crawls the site at that hour; returns how many pages were fetched. */
static int crawl(redisContext *server, int hour)
{
    /* Passes times explicitly, so that the example need not run for two days. Without EVENTTIME
     * below it is the server's clock, and WINDOW.ADD is enough. */
    const long long now = 1800000000000 + hour * 3600000LL;
    freeReplyObject(redisCommand(server, "WINDOW.ADVANCE example:seen AT %lld", now));
    const char *queue[QUEUE] = {"/"};
    int fetched = 0, known = 0, queued = 1;
    for (int next = 0; next < queued; next++) {
        if (!mark(server, queue[next], now)) {
            known++;
            continue;
        }
        const struct page *page = fetch(queue[next]);
        if (page == NULL) {
            /* It was marked but not fetched: remove the mark and try again later. */
            remove_mark(server, queue[next]);
            printf("  %s failed, to be tried again\n", queue[next]);
            queue[queued++] = queue[next];
            continue;
        }
        fetched++;
        for (int i = 0; i < LINKS && page->links[i] != NULL && queued < QUEUE; i++)
            queue[queued++] = page->links[i];
    }
    printf("hour %d: %d pages fetched, %d links to known ones\n", hour, fetched, known);
    return fetched;
}

int main(int argc, char **argv)
{
    redisContext *server =
        redisConnect("127.0.0.1", argc > 1 ? (int)strtol(argv[1], NULL, 10) : 6379);
    if (server == NULL || server->err != 0) {
        fprintf(stderr, "no server: %s\n", server != NULL ? server->errstr : "out of memory");
        redisFree(server);
        return 3;
    }
    freeReplyObject(redisCommand(server, "DEL example:seen"));
    freeReplyObject(redisCommand(server, "WINDOW.CREATE example:seen WINDOW 24h ERROR 1e-6 "
                                         "EVENTTIME SKEW 1min"));
    int first = crawl(server, 0), again = crawl(server, 6), later = crawl(server, 48);
    redisFree(server);
    return first == PAGES && again == 0 && later == PAGES ? 0 : 1;
}
