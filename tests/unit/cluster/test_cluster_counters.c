/* Counters over a cluster: what needs no server. Records and lines of outboxes. */
#include "clients/c/counter_outbox.h"
#include "clients/c/counters_record.h"
#include "support/cmocka_all.h"

#include <stdio.h>
#include <string.h>

#define RECORD                                                                                     \
    "bloomery-counters 1 parts=48 epoch=0123456789abcdef window=600000 skew=1000 error=1e-09 "     \
    "engine=compact capacity=1000000 seed=7 hot="

TEST(records)
{
    bryc__counter_record record;
    assert_null(bryc__counter_record_read(RECORD "616c6c,ff00", &record));
    assert_int_equal(record.parts, 48);
    assert_int_equal(record.window, 600000);
    assert_int_equal(record.skew, 1000);
    assert_true(record.error == 1e-9);
    assert_int_equal(record.hot_count, 2);
    assert_true(bryc__counter_is_hot(&record, (bryc_key){"all", 3}));
    assert_true(bryc__counter_is_hot(&record, (bryc_key){"\xff\0", 2}));
    assert_false(bryc__counter_is_hot(&record, (bryc_key){"al", 2}));
    bryc__counter_record_free(&record);
    assert_null(bryc__counter_record_read(RECORD "-", &record));
    assert_int_equal(record.hot_count, 0);
    bryc__counter_record_free(&record);

    static const char *const wrong[] = {
        "",
        "bloomery-counters 2",
        RECORD,
        RECORD "6",
        RECORD "61,",
        RECORD "61 more=1",
        RECORD "zz",
        "bloomery-counters 1 parts=0 epoch=0123456789abcdef window=600000 skew=1000 error=1e-09 "
        "engine=compact capacity=1000000 seed=7 hot=-",
        "bloomery-counters 1 parts=48 epoch=0123456789abcdeX window=600000 skew=1000 error=1e-09 "
        "engine=compact capacity=1000000 seed=7 hot=-",
        "bloomery-counters 1 parts=48 epoch=0123456789abcdef window=1000 skew=1000 error=1e-09 "
        "engine=compact capacity=1000000 seed=7 hot=-",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        if (!bryc__counter_record_read(wrong[i], &record))
            fail_msg("accepted: %s", wrong[i]);
}

TEST(planned_records_are_read)
{
    const bryc_key hot[] = {{"b", 1}, {"a\xff", 2}};
    bryc_counters_options options = BRYC_COUNTERS_OPTIONS;
    bryc__counter_record planned, read;
    options.hot = hot;
    options.hot_count = 2;
    options.window_ms = 2000;
    assert_null(bryc__counter_record_plan(&options, 3, &planned));
    assert_int_equal(planned.parts, 48);
    assert_int_equal(planned.skew, 501); /* a quarter of a short window */
    assert_non_null(strstr(planned.text, " hot=61ff,62"));
    assert_null(bryc__counter_record_read(planned.text, &read));
    assert_string_equal(read.text, planned.text);
    assert_null(bryc__counter_record_differs(&read, &planned, &options));
    bryc__counter_record_free(&read);
    bryc__counter_record_free(&planned);
    options.skew_ms = 2000;
    assert_non_null(bryc__counter_record_plan(&options, 3, &planned));
}

TEST(outbox_lines)
{
    bryc__begun begun;
    bool done;
    /* With and without the spaces that Python writes. */
    static const char *const lines[] = {
        "{\"id\": \"ab-1\", \"sent\": 17, \"pairs\": [[\"746561\", 3], [\"\", -4]]}",
        "{\"id\":\"ab-1\",\"sent\":17,\"pairs\":[[\"746561\",3],[\"\",-4]]}",
    };
    for (size_t i = 0; i < 2; i++) {
        assert_true(bryc__outbox_parse(lines[i], &begun, &done));
        assert_false(done);
        assert_string_equal(begun.operation.id, "ab-1");
        assert_int_equal(begun.operation.sent_ms, 17);
        assert_int_equal(begun.n, 2);
        assert_memory_equal(begun.increments[0].name.bytes, "tea", 3);
        assert_true(begun.increments[0].delta == 3 && begun.increments[1].delta == -4);
        bryc__begun_free(&begun);
        /* Cut off anywhere, it is no line. */
        for (size_t len = 0; len < strlen(lines[i]); len++) {
            char part[128] = "";
            memcpy(part, lines[i], len);
            assert_false(bryc__outbox_parse(part, &begun, &done));
        }
    }
    assert_true(bryc__outbox_parse("{\"done\": \"ab-1\"}", &begun, &done));
    assert_true(done);
    bryc__begun_free(&begun);
    assert_false(bryc__outbox_parse("{\"id\": \"a\", \"sent\": 1, \"pairs\": [[\"61\", "
                                    "9223372036854775808]]}",
                                    &begun, &done));
}
