/* Parts of the cluster client that need no server: addresses, slots, records, the choice of a
 * slab. */
#include "clients/c/cluster_client.h"
#include "clients/c/map_record.h"
#include "clients/c/slab_choice.h"
#include "support/cmocka_all.h"

#include <stdio.h>
#include <string.h>

static const char *shown(const char *text)
{
    return text ? text : "-";
}

TEST(addresses)
{
    static const struct {
        const char *text, *user, *password, *host, *name;
        uint32_t port;
    } cases[] = {
        {"redis://localhost", "-", "-", "localhost", "", 6379},
        {"REDIS://h:7000/", "-", "-", "h", "", 7000},
        {"redis://h:7000/users", "-", "-", "h", "users", 7000},
        {"redis://:secret@h/n", "-", "secret", "h", "n", 6379},
        {"redis://me:p%40%2f%25w@h/a%20b", "me", "p@/%w", "h", "a b", 6379},
        {"redis://me:a@b@h", "me", "a@b", "h", "", 6379},
        {"redis://me:a:b@h", "me", "a:b", "h", "", 6379},
        {"redis://me@h", "me", "-", "h", "", 6379},
        {"redis://[::1]:7001/x", "-", "-", "::1", "x", 7001},
        {"redis://u:p@[2001:db8::7]", "u", "p", "2001:db8::7", "", 6379},
        {"redis://h:65535/%C3%A4", "-", "-", "h", "\xc3\xa4", 65535},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bryc__url url;
        assert_null(bryc__url_read(cases[i].text, &url));
        assert_string_equal(shown(url.user), cases[i].user);
        assert_string_equal(shown(url.password), cases[i].password);
        assert_string_equal(url.host, cases[i].host);
        assert_string_equal(url.name, cases[i].name);
        assert_int_equal(url.port, cases[i].port);
        bryc__url_free(&url);
    }
}

TEST(invalid_addresses)
{
    static const char *const cases[] = {
        "",
        "localhost:6379",
        "http://h",
        "rediss://h",
        "redis://",
        "redis:///n",
        "redis://h:0",
        "redis://h:",
        "redis://h:x",
        "redis://h:65536",
        "redis://[::1",
        "redis://[::1]x",
        "redis://::1/n",
        "redis://h/a%2",
        "redis://h/%zz",
        "redis://h/a%00b",
        "redis://h/a/b",
        "redis://h/n?db=1",
        "redis://u%:p@h",
        "redis://h:99999999999999999999",
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bryc__url url;
        if (!bryc__url_read(cases[i], &url))
            fail_msg("%s was accepted", cases[i]);
        assert_null(url.host);
    }
}

/* As CLUSTER KEYSLOT of a server. */
TEST(slots)
{
    static const struct {
        const char *key;
        uint32_t slot;
    } cases[] = {
        {"", 0},
        {"123456789", 12739},
        {"foo", 12182},
        {"{foo}bar", 12182},
        {"a{foo}b", 12182},
        {"{}foo", 9500},
        {"foo{}{bar}", 8363},
        {"foo{{bar}}zap", 4015},
        {"foo{bar}{zap}", 5061},
        {"{bar", 4015},
        {"}{a}", 15495},
        {"x{", 3596},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(bryc_slot(cases[i].key, strlen(cases[i].key)), cases[i].slot);
}

TEST(slabs)
{
    static bryc__choice choice;
    unsigned char secret[16];
    bryc__choice_init(&choice, 1000, NULL);
    assert_int_equal(bryc__crc32(&choice, "", 0), 0);
    assert_int_equal(bryc__crc32(&choice, "123456789", 9), 0xcbf43926);
    assert_int_equal(bryc__crc32(&choice, "a", 1), 0xe8b7be43);
    assert_int_equal(bryc__choose_slab(&choice, "123456789", 9), 0xcbf43926 % 1000);

    /* HMAC-SHA256 by Python's hmac, with the key 00 01 … 0f. */
    for (unsigned i = 0; i < sizeof secret; i++)
        secret[i] = (unsigned char)i;
    bryc__choice_init(&choice, 1000, secret);
    char text[200];
    memset(text, 'x', sizeof text);
    static const struct {
        size_t len;
        uint64_t first;
    } cases[] = {{0, 0x07eff8b326b7798cULL},   {3, 0xe1d6d32005ff5489ULL},
                 {55, 0xe7de39438a10f4eaULL},  {56, 0x8917852dd8fb613aULL},
                 {63, 0x4a20466311c443a7ULL},  {64, 0xa70f02d10057e318ULL},
                 {65, 0x8a1c6ec20ae04f3fULL},  {119, 0xcf622eaeb8f1eb18ULL},
                 {120, 0x59633b7e2c1c3631ULL}, {200, 0xe448555a3576e94aULL}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_true(bryc__hmac64(&choice, text, cases[i].len) == cases[i].first);
    assert_int_equal(bryc__choose_slab(&choice, text, 3), cases[1].first % 1000);
}

/* ---- records ------------------------------------------------------------------------------- */

#define RECORD                                                                                     \
    "bloomery-map 1 slabs=96 epoch=0123456789abcdef pick=crc32 values=raw:12 engine=compact "      \
    "capacity=1000000 error=0.001 seed=7"

TEST(records_are_read)
{
    bryc__record record;
    assert_null(bryc__record_read(RECORD, strlen(RECORD), &record));
    assert_int_equal(record.slabs, 96);
    assert_string_equal(record.epoch, "0123456789abcdef");
    assert_false(record.keyed);
    assert_false(record.codes);
    assert_int_equal(record.bits, 12);
    assert_int_equal(record.engine, BRY_ENGINE_COMPACT);
    assert_int_equal(record.capacity, 1000000);
    assert_true(record.error == 0.001);
    assert_int_equal(record.seed, 7);
    bry_map_options slab = bryc__record_slab(&record);
    assert_int_equal(slab.capacity, 10825); /* 1e6/96 + 4 * sqrt(1e6/96) */

    static const char keyed[] =
        "bloomery-map 1 slabs=1 epoch=0123456789abcdef pick=hmac-sha256:"
        "000102030405060708090a0b0c0d0eff values=codes:14 engine=kbf capacity=5 error=1e-05 "
        "seed=18446744073709551615";
    assert_null(bryc__record_read(keyed, strlen(keyed), &record));
    assert_true(record.keyed && record.codes && record.seed == UINT64_MAX);
    assert_int_equal(record.secret[15], 255);
    assert_int_equal(bryc__record_slab(&record).capacity, 64);
}

TEST(records_of_others_are_refused)
{
    static const char *const cases[] = {
        "",
        "hello",
        "bloomery-map 2 slabs=96",
        "bloomery-map 1",
        RECORD " more=1",
        "bloomery-map 1 slabs=16777217 epoch=0123456789abcdef pick=crc32 values=raw:12 "
        "engine=compact "
        "capacity=1000000 error=0.001 seed=7",
        "bloomery-map 1 slabs=0 epoch=0123456789abcdef pick=crc32 values=raw:12 engine=compact "
        "capacity=1000000 error=0.001 seed=7",
        "bloomery-map 1 slabs=96 epoch=0123456789ABCDEF pick=crc32 values=raw:12 engine=compact "
        "capacity=1000000 error=0.001 seed=7",
        "bloomery-map 1 slabs=96 epoch=0123456789abcdef pick=md5 values=raw:12 engine=compact "
        "capacity=1000000 error=0.001 seed=7",
        "bloomery-map 1 slabs=96 epoch=0123456789abcdef pick=crc32 values=raw:33 engine=compact "
        "capacity=1000000 error=0.001 seed=7",
        "bloomery-map 1 slabs=96 epoch=0123456789abcdef pick=crc32 values=raw:12 engine=auto "
        "capacity=1000000 error=0.001 seed=7",
        "bloomery-map 1 slabs=96 epoch=0123456789abcdef pick=crc32 values=raw:12 engine=compact "
        "capacity=1000000 error=2 seed=7",
    };
    bryc__record record;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (!bryc__record_read(cases[i], strlen(cases[i]), &record))
            fail_msg("accepted: %s", cases[i]);
    for (size_t len = 0; len < strlen(RECORD) - 1; len++)
        if (len != strlen(RECORD) - 1 && !bryc__record_read(RECORD, len, &record))
            fail_msg("accepted: the first %zu bytes", len);
}

/* What is planned is read back the same. */
TEST(records_are_planned)
{
    static const double errors[] = {0.5, 0.1, 0.01, 0.001, 1e-5, 0.00123, 1e-9};
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        bryc_map_options options = BRYC_MAP_OPTIONS;
        bryc__record planned, read;
        options.error = errors[i];
        options.capacity = 20000000;
        options.keyed = i % 2;
        options.values = i % 3 ? 3000 : 0;
        options.value_bits = i % 3 ? 0 : 12;
        assert_null(bryc__record_plan(&options, 3, &planned));
        assert_null(bryc__record_read(planned.text, strlen(planned.text), &read));
        assert_string_equal(planned.text, read.text);
        assert_true(read.error == errors[i] && read.seed == planned.seed);
        assert_int_equal(read.slabs, 96);
        assert_int_equal(read.bits, i % 3 ? 14 : 12);
        char text[200];
        assert_null(bryc__record_differs(&read, &options, text, sizeof text));
        options.capacity++;
        assert_string_equal(bryc__record_differs(&read, &options, text, sizeof text),
                            "capacity 20000000, not 20000001");
        options.capacity--;
        options.seed = read.seed ^ 1;
        assert_string_equal(bryc__record_differs(&read, &options, text, sizeof text),
                            "another seed");
    }
    bryc_map_options options = BRYC_MAP_OPTIONS;
    bryc__record record;
    options.capacity = 500000000;
    assert_null(bryc__record_plan(&options, 5, &record));
    assert_int_equal(record.slabs, 500);
    assert_int_equal(record.bits, 12); /* 1000 values, four times */
    options.engine = BRY_ENGINE_KBF;
    assert_null(bryc__record_plan(&options, 5, &record));
    assert_int_equal(record.slabs, 875); /* 28 bytes per pair */
    options.value_bits = 14;
    assert_non_null(bryc__record_plan(&options, 5, &record)); /* kbf has 13 at most */
}

TEST(names)
{
    char name[202];
    memset(name, 'n', sizeof name);
    name[201] = '\0';
    assert_false(bryc__name_is_valid(name));
    assert_true(bryc__name_is_valid(name + 1));
    assert_true(bryc__name_is_valid("a b:c/\xc3\xa4"));
    static const char *const invalid[] = {"", "a{b", "a}b", "a\nb", "\x7f"};
    for (size_t i = 0; i < sizeof invalid / sizeof invalid[0]; i++)
        assert_false(bryc__name_is_valid(invalid[i]));
}
