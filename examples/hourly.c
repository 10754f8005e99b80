/* Objects that are used again: at the end of each hour they are saved to files and cleared. */
#include <bloomery.h>

#include <inttypes.h>
#include <stdio.h>

enum { HOURS = 3, VISITS = 20000 };

/* What an hour of visits leaves: who came, which page each saw last, and how many there were. */
typedef struct report {
    bry_filter *visitors;
    bry_map *last_page;
    bry_counters *visits;
} report;

static bry_status create(report *hour)
{
    bry_map_options map = BRY_MAP_OPTIONS;
    map.value_bits = 12; /* pages are numbers */
    bry_status status = bry_filter_create(NULL, &hour->visitors); /* all defaults; it grows */
    if (status == BRY_OK)
        status = bry_map_create(&map, &hour->last_page);
    if (status == BRY_OK)
        status = bry_counters_create(NULL, &hour->visits);
    return status;
}

static bry_status visit(report *hour, uint32_t number, uint64_t now)
{
    uint32_t visitor = number % 7000, page = number % 4000;
    bry_status status = bry_filter_add_key(hour->visitors, &visitor, sizeof visitor, NULL);
    if (status == BRY_OK)
        status = bry_map_set_key(hour->last_page, &visitor, sizeof visitor,
                                 bry_map_value_number(page), NULL);
    if (status == BRY_OK) /* the number of the visit is the id of the operation */
        status = bry_counters_apply_key(hour->visits, &number, sizeof number, "visits", 6, 1, now,
                                        NULL, NULL);
    return status;
}

static bry_status save_and_clear(report *hour)
{
    bry_status status = bry_filter_save_file(hour->visitors, "hourly.filter", NULL);
    if (status == BRY_OK)
        status = bry_map_save_file(hour->last_page, "hourly.map", NULL);
    if (status == BRY_OK)
        status = bry_counters_save_file(hour->visits, "hourly.counters", NULL);
    if (status != BRY_OK)
        return status;
    bry_filter_clear(hour->visitors);
    bry_map_clear(hour->last_page);
    return bry_counters_clear(hour->visits);
}

/* A visitor asks to be forgotten. */
static bry_status forget(report *hour, uint32_t visitor)
{
    bry_status status = bry_filter_del_key(hour->visitors, &visitor, sizeof visitor, NULL);
    if (status == BRY_OK)
        status = bry_map_del_key(hour->last_page, &visitor, sizeof visitor, NULL);
    return status;
}

static void print_plan(const report *hour)
{
    printf("planned for %" PRIu64 " visitors (engine %s), %" PRIu64 " pages (%s) and %" PRIu64
           " visits per minute (%s)\n",
           bry_filter_capacity(hour->visitors), bry_engine_name(bry_filter_engine(hour->visitors)),
           bry_map_capacity(hour->last_page), bry_engine_name(bry_map_engine(hour->last_page)),
           bry_counters_capacity(hour->visits), bry_engine_name(bry_counters_engine(hour->visits)));
}

/* Reads the files of the hour that was saved last. */
static bry_status print_saved(int number)
{
    report hour = {0};
    bry_load load = BRY_LOAD;
    bry_status status = bry_filter_load_file("hourly.filter", &load, &hour.visitors);
    if (status == BRY_OK)
        status = bry_map_load_file("hourly.map", &load, &hour.last_page);
    if (status == BRY_OK)
        status = bry_counters_load_file("hourly.counters", &load, &hour.visits);
    if (status == BRY_OK) {
        int64_t visits = 0;
        bry_counters_get(hour.visits, "visits", 6, &visits);
        uint64_t bytes = bry_filter_bytes(hour.visitors) + bry_map_bytes(hour.last_page) +
                         bry_counters_bytes(hour.visits);
        printf("hour %d: %" PRId64 " visits by %" PRIu64 " visitors, %.1f bytes each\n", number,
               visits, bry_map_items(hour.last_page),
               (double)bytes / (double)bry_map_items(hour.last_page));
        /* Several look-ups at once: the pages of visitors 1 to 3. */
        bry_hash hashes[3];
        uint64_t pages[3];
        bry_answer answers[3];
        for (uint32_t i = 0; i < 3; i++)
            hashes[i] = bry_map_hash(hour.last_page, &(uint32_t){i + 1}, sizeof i);
        status = bry_map_get_numbers_n(hour.last_page, hashes, 3, pages, answers);
        for (int i = 0; i < 3 && status == BRY_OK; i++)
            if (answers[i] == BRY_PRESENT)
                printf("  visitor %d last saw page %" PRIu64 "\n", i + 1, pages[i]);
    } else {
        fprintf(stderr, "byte %" PRIu64 ": %s\n", load.offset, load.problem);
    }
    bry_filter_destroy(hour.visitors);
    bry_map_destroy(hour.last_page);
    bry_counters_destroy(hour.visits);
    return status;
}

int main(void)
{
    report hour = {0};
    bry_status status = create(&hour);
    if (status == BRY_OK)
        print_plan(&hour);
    for (int number = 1; number <= HOURS && status == BRY_OK; number++) {
        uint64_t begin = UINT64_C(3600000) * (uint64_t)number;
        for (uint32_t i = 0; i < VISITS && status == BRY_OK; i++)
            status = visit(&hour, i * (uint32_t)number, begin + UINT64_C(180) * i);
        if (status == BRY_OK)
            status = forget(&hour, 42);
        if (status == BRY_OK)
            status = save_and_clear(&hour);
        if (status == BRY_OK)
            status = print_saved(number);
    }
    if (status != BRY_OK)
        fprintf(stderr, "%s: %s\n", bry_status_word(status), bry_status_text(status));
    bry_filter_destroy(hour.visitors);
    bry_map_destroy(hour.last_page);
    bry_counters_destroy(hour.visits);
    remove("hourly.filter");
    remove("hourly.map");
    remove("hourly.counters");
    return status == BRY_OK ? 0 : 3;
}
