/* Balancing: the paper's experiment, a thousand servers, and the cases that the paper leaves out. */
#include "apps/balance/slab_balance.h"
#include "support/cmocka_all.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* xorshift64*; the seeds are fixed. */
static double random_share(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (double)((*state * 0x2545F4914F6CDD1Du) >> 11) / 9007199254740992.0;
}

typedef struct cluster {
    uint32_t servers;
    size_t count;
    balance_slab *slabs;
    double *loads;
    balance_step *steps;
} cluster;

static cluster cluster_new(uint32_t servers, size_t slabs_each, size_t max_steps)
{
    cluster made = {servers, servers * slabs_each, NULL, NULL, NULL};
    made.slabs = calloc(made.count, sizeof *made.slabs);
    made.loads = calloc(servers, sizeof *made.loads);
    made.steps = calloc(max_steps, sizeof *made.steps);
    assert_true(made.slabs && made.loads && made.steps);
    for (size_t i = 0; i < made.count; i++)
        made.slabs[i].server = (uint32_t)(i / slabs_each);
    return made;
}

static void cluster_free(cluster *self)
{
    free(self->slabs);
    free(self->loads);
    free(self->steps);
}

static double rho_of(cluster *self)
{
    balance_loads(self->slabs, self->count, self->loads, self->servers);
    return balance_rho(self->loads, self->servers);
}

static balance_request request_of(const cluster *self, size_t max_steps, bool as_published)
{
    return (balance_request){.slabs = self->slabs,
                             .count = self->count,
                             .servers = self->servers,
                             .max_steps = max_steps,
                             .as_published = as_published};
}

/* Plans, and checks that each step lowers rho and that loads and slabs agree afterwards. */
static size_t run_plan(cluster *self, const balance_request *request)
{
    double before = rho_of(self);
    size_t taken = balance_plan(request, self->loads, self->steps);
    assert_true(taken <= request->max_steps);
    for (size_t i = 0; i < taken; i++) {
        assert_true(self->steps[i].rho < before);
        before = self->steps[i].rho;
    }
    assert_true(fabs(rho_of(self) - before) < 1e-9);
    return taken;
}

/* ---- the paper's experiment ------------------------------------------------------------------ */

typedef struct improvement {
    double mean, steps, moved;
} improvement;

/* Random slabs, each up to its capacity of 10^7 pairs. */
static improvement improve_many(uint32_t servers, size_t slabs_each, size_t max_steps, int settings,
                                bool as_published)
{
    uint64_t seed = 8;
    improvement sum = {0, 0, 0};
    cluster made = cluster_new(servers, slabs_each, max_steps);
    for (int round = 0; round < settings; round++) {
        for (size_t i = 0; i < made.count; i++)
            made.slabs[i] = (balance_slab){.load = floor(1e7 * random_share(&seed)),
                                           .server = (uint32_t)(i / slabs_each)};
        balance_request request = request_of(&made, max_steps, as_published);
        double before = rho_of(&made);
        size_t taken = run_plan(&made, &request);
        sum.mean += (1 - rho_of(&made) / before) / settings;
        sum.steps += (double)taken / settings;
        for (size_t i = 0; i < taken; i++)
            sum.moved += (made.steps[i].back == BALANCE_NONE ? 1.0 : 2.0) / settings;
    }
    cluster_free(&made);
    return sum;
}

static void say_improvement(const char *what, improvement seen)
{
    printf("%s: rho falls by %.2f %% with %.1f steps, %.1f slabs copied\n", what, 100 * seen.mean,
           seen.steps, seen.moved);
}

/* The paper: 60.86 % on average of 100 settings. */
TEST(five_servers_with_ten_slabs)
{
    improvement published = improve_many(5, 10, 10, 100, true);
    say_improvement("5 x 10, as published", published);
    assert_true(published.mean > 0.55 && published.mean < 0.65);
    improvement ours = improve_many(5, 10, 10, 100, false);
    say_improvement("5 x 10, with single moves", ours);
    assert_true(ours.mean > published.mean);
}

/* ---- a thousand servers ---------------------------------------------------------------------- */

static void print_rho(const char *what, const cluster *self, size_t taken, double before)
{
    static const size_t shown[] = {10, 100, 250, 500, 1000, 2000};
    printf("%s: rho %.4f", what, before);
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++)
        if (shown[i] <= taken)
            printf("; after %zu steps %.4f", shown[i], self->steps[shown[i] - 1].rho);
    printf("; after %zu, the last, %.4f\n", taken, taken ? self->steps[taken - 1].rho : before);
}

TEST(a_thousand_servers)
{
    enum { SERVERS = 1000, EACH = 32, MOST = 2000 };
    for (int published = 1; published >= 0; published--) {
        uint64_t seed = 9;
        cluster made = cluster_new(SERVERS, EACH, MOST);
        for (size_t i = 0; i < made.count; i++)
            made.slabs[i].load = floor(1e6 * random_share(&seed));
        balance_request request = request_of(&made, MOST, published);
        request.least = published ? 0 : 0.01;
        double before = rho_of(&made);
        size_t taken = run_plan(&made, &request);
        print_rho(published ? "1000 x 32, as published" : "1000 x 32, with single moves", &made,
                  taken, before);
        assert_true(taken > 500);
        assert_true(rho_of(&made) < before / 3);
        cluster_free(&made);
    }
}

/* Slabs of equal size, as a full map has them, and a hundred new servers. */
TEST(a_hundred_empty_servers_beside_nine_hundred)
{
    enum { SERVERS = 1000, USED = 900, EACH = 32, MOST = 4000 };
    uint64_t seed = 10;
    cluster made = cluster_new(SERVERS, EACH, MOST);
    for (size_t i = 0; i < made.count; i++)
        made.slabs[i] =
            (balance_slab){.load = 1e6 + 1e3 * random_share(&seed), .server = (uint32_t)(i % USED)};
    balance_request request = request_of(&made, MOST, false);
    request.least = 0.01;
    double before = rho_of(&made);
    size_t taken = run_plan(&made, &request);
    print_rho("900 x 35.6 and 100 empty", &made, taken, before);
    for (size_t i = 0; i < taken; i++)
        assert_int_equal(made.steps[i].back, BALANCE_NONE);
    assert_true(rho_of(&made) < 0.02);
    cluster_free(&made);
}

/* Many slabs, each a ten thousandth of a server's load: every move is small, but together they
 * fill the new server. */
TEST(many_small_slabs)
{
    enum { SERVERS = 4, EACH = 4096, MOST = 5000 };
    cluster made = cluster_new(SERVERS, EACH, MOST);
    for (size_t i = 0; i < made.count; i++)
        made.slabs[i] = (balance_slab){.load = 50, .server = (uint32_t)(i % 3)};
    balance_request request = request_of(&made, MOST, false);
    request.least = 0.01;
    size_t taken = run_plan(&made, &request);
    assert_true(taken > 4000 && taken <= 4096);
    assert_true(rho_of(&made) < 0.01);
    cluster_free(&made);
}

/* ---- cases ----------------------------------------------------------------------------------- */

static cluster of_loads(uint32_t servers, size_t slabs_each, const double *loads)
{
    cluster made = cluster_new(servers, slabs_each, 10);
    for (size_t i = 0; i < made.count; i++)
        made.slabs[i].load = loads[i];
    return made;
}

TEST(a_new_server_gets_slabs)
{
    cluster made = of_loads(3, 4, (double[]){5, 5, 5, 5, 5, 5, 5, 5, 0, 0, 0, 0});
    made.count = 8; /* the third server has none */
    balance_request published = request_of(&made, 10, true);
    assert_int_equal(run_plan(&made, &published), 0); /* there is nothing to exchange */
    balance_request ours = request_of(&made, 10, false);
    assert_int_equal(run_plan(&made, &ours), 2);
    assert_true(made.loads[2] > 9);
    cluster_free(&made);
}

TEST(a_single_hot_slab_stays)
{
    cluster made = of_loads(3, 2, (double[]){100, 0, 4, 2, 0, 0});
    balance_request request = request_of(&made, 10, false);
    assert_int_equal(run_plan(&made, &request), 1); /* between the other two servers */
    assert_int_equal(made.steps[0].from, 1);
    assert_int_equal(made.slabs[0].server, 0);
    cluster_free(&made);
}

TEST(slabs_that_rest_and_closed_servers)
{
    cluster made = of_loads(3, 2, (double[]){6, 5, 1, 1, 0, 0});
    made.slabs[0].rests = made.slabs[1].rests = true;
    balance_request request = request_of(&made, 10, false);
    run_plan(&made, &request);
    assert_int_equal(made.slabs[0].server, 0);
    assert_int_equal(made.slabs[1].server, 0);
    cluster_free(&made);

    bool closed[] = {false, false, true};
    made = of_loads(3, 2, (double[]){6, 5, 1, 1, 0, 0});
    request = request_of(&made, 10, false);
    request.closed = closed;
    assert_true(run_plan(&made, &request) > 0);
    for (size_t i = 0; i < 4; i++)
        assert_true(made.slabs[i].server < 2);
    cluster_free(&made);
}

TEST(nothing_is_copied_for_little)
{
    const double loads[] = {100, 102, 95, 99}; /* the exchange shifts 7 of a difference of 8 */
    cluster made = of_loads(2, 2, loads);
    balance_request request = request_of(&made, 10, false);
    request.least = 0.05;
    assert_int_equal(run_plan(&made, &request), 0);
    request.least = 0.03;
    assert_int_equal(run_plan(&made, &request), 1);
    cluster_free(&made);
    made = of_loads(2, 2, (double[]){100, 101, 100, 100});
    request = request_of(&made, 10, false);
    assert_int_equal(run_plan(&made, &request), 0); /* it would only swap the difference */
    cluster_free(&made);
}

TEST(no_load_and_no_servers)
{
    cluster made = of_loads(2, 2, (double[]){0, 0, 0, 0});
    balance_request request = request_of(&made, 10, false);
    assert_int_equal(run_plan(&made, &request), 0);
    assert_true(rho_of(&made) == 0);
    request.servers = 1;
    request.count = 2;
    assert_int_equal(balance_plan(&request, made.loads, made.steps), 0);
    request.servers = 0;
    request.count = 0;
    assert_int_equal(balance_plan(&request, made.loads, made.steps), 0);
    cluster_free(&made);
}
