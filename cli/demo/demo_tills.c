#include "cli/demo/demo_tills.h"

#include "cli/core/args.h"
#include "cli/core/output/output.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define REPLY_MS 500 /* a till asks again after that */
#define PATIENCE_MS 60000

typedef struct till {
    struct tills *shop;
    pthread_t thread;
    bryc_client *client;
    bryc_counters *table;
    bool plain; /* counts with INCR */
    bry_status status; /* why it ended */
    bool started;
} till;

struct tills {
    till each[2 * TILLS];
    bryc_client *client; /* for reading */
    bryc_counters *table;
    atomic_bool stop;
    atomic_int_fast64_t plain_orders, orders;
};

static const bryc_key counter_name = {"orders", 6};

static bry_status connect_one(const char *url, bryc_client **client, bryc_counters **table)
{
    bryc_options options = BRYC_OPTIONS;
    options.reply_ms = REPLY_MS;
    options.connect_ms = REPLY_MS;
    options.patience_ms = PATIENCE_MS;
    bryc_counters_options shape = BRYC_COUNTERS_OPTIONS;
    shape.parts = 1;
    bryc_counters_use use = BRYC_COUNTERS_USE;
    use.wait_ms = REPLY_MS / 2;
    use.retry_ms = PATIENCE_MS;
    bry_status status = bryc_open(url, &options, client);
    if (status == BRY_OK)
        status = bryc_counters_create(*client, TILLS_TABLE, &shape, &use, table);
    return status;
}

static bry_status count_plain(bryc_client *client)
{
    redisReply *reply;
    bry_status status =
        bryc_ask_key(client, TILLS_PLAIN, strlen(TILLS_PLAIN), 0, &reply, "INCR " TILLS_PLAIN);
    freeReplyObject(reply);
    return status;
}

static void *till_run(void *opaque)
{
    till *self = opaque;
    bryc_increment order = {counter_name, 1};
    atomic_int_fast64_t *orders = self->plain ? &self->shop->plain_orders : &self->shop->orders;
    while (!self->shop->stop && self->status == BRY_OK) {
        self->status = self->plain ? count_plain(self->client)
                                   : bryc_counters_add(self->table, &order, 1, NULL, NULL);
        *orders += self->status == BRY_OK;
    }
    return NULL;
}

int tills_start(const char *url, tills **started)
{
    tills *made = calloc(1, sizeof *made);
    *started = made;
    if (!made)
        return cli_no_memory();
    if (connect_one(url, &made->client, &made->table) != BRY_OK)
        return cli_fail("%s", bryc_error(made->client));
    for (int i = 0; i < 2 * TILLS; i++) {
        till *one = &made->each[i];
        one->shop = made;
        one->plain = i < TILLS;
        if (connect_one(url, &one->client, &one->table) != BRY_OK)
            return cli_fail("%s", bryc_error(one->client));
        int problem = pthread_create(&one->thread, NULL, till_run, one);
        if (problem != 0)
            return cli_fail("pthread_create: %s", strerror(problem));
        one->started = true;
    }
    return CLI_GO_ON;
}

bool tills_read(tills *self, tills_counts *counts)
{
    redisReply *reply;
    bool there;
    *counts = (tills_counts){.plain_orders = self->plain_orders, .orders = self->orders};
    if (bryc_ask_key(self->client, TILLS_PLAIN, strlen(TILLS_PLAIN), 0, &reply,
                     "GET " TILLS_PLAIN) != BRY_OK)
        return false;
    if (reply->type == REDIS_REPLY_STRING)
        counts->plain = strtoll(reply->str, NULL, 10);
    freeReplyObject(reply);
    return bryc_counters_get(self->table, &counter_name, 1, &counts->counted, &there) == BRY_OK;
}

uint32_t tills_owner(tills *self)
{
    bryc_refresh(self->client);
    return bryc_node_of_slot(self->client, bryc_slot(TILLS_PLAIN, strlen(TILLS_PLAIN)));
}

bryc_client *tills_client(tills *self)
{
    return self->client;
}

int tills_stop(tills *self)
{
    int code = CLI_GO_ON;
    self->stop = true;
    for (int i = 0; i < 2 * TILLS; i++) {
        till *one = &self->each[i];
        if (!one->started)
            continue;
        pthread_join(one->thread, NULL);
        one->started = false;
        if (one->status != BRY_OK && code == CLI_GO_ON)
            code = cli_fail("till %d: %s", i + 1, bryc_error(one->client));
    }
    return code;
}

void tills_free(tills *self)
{
    if (!self)
        return;
    for (int i = 0; i < 2 * TILLS; i++) {
        bryc_counters_close(self->each[i].table);
        bryc_close(self->each[i].client);
    }
    bryc_counters_close(self->table);
    bryc_close(self->client);
    free(self);
}
