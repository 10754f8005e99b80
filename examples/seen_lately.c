/* A window: each alarm at most once a minute. */
#include <bloomery/window.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct {
    uint64_t ms;
    const char *text;
} alarms[] = {{0, "disk full"},     {1000, "fan stopped"},  {20000, "disk full"},
              {59000, "disk full"}, {70000, "fan stopped"}, {150000, "disk full"}};

int main(void)
{
    bry_window_options options = BRY_WINDOW_OPTIONS;
    options.window = 60000; /* ms */
    options.capacity = 1000; /* alarms in that time */
    options.seed = 1; /* the same in every run; random by default */

    bry_window *window = NULL;
    bry_status status = bry_window_create(&options, &window);
    for (size_t i = 0; i < sizeof alarms / sizeof *alarms && status == BRY_OK; i++) {
        bry_answer was;
        status = bry_window_add_key(window, alarms[i].text, strlen(alarms[i].text),
                                    1000000 + alarms[i].ms, &was);
        if (status == BRY_OK)
            printf("%3" PRIu64 " s  %-11s  %s\n", alarms[i].ms / 1000, alarms[i].text,
                   was == BRY_PRESENT ? "seen" : "new");
    }
    /* The program may end here, and go on later with what the window remembers. */
    const char *path = "seen_lately.bloomery";
    if (status == BRY_OK)
        status = bry_window_save_file(window, path, NULL);
    if (status == BRY_OK) {
        bry_window_destroy(window);
        window = NULL;
        status = bry_window_load_file(path, NULL, &window);
    }
    bry_window_generation parts[16];
    size_t n = status == BRY_OK ? bry_window_generations(window, parts, 16) : 0;
    for (size_t i = 0; i < n && i < 16; i++)
        if (parts[i].items)
            printf("remembered since %" PRIu64 " s: %" PRIu64 "\n",
                   (parts[i].begin - 1000000) / 1000, parts[i].items);
    if (status == BRY_OK) {
        printf("%" PRIu64 " bytes\n", bry_window_bytes(window));
        bry_window_clear(window); /* the alarms were dealt with: report them if they come again */
    }
    if (status != BRY_OK)
        fprintf(stderr, "%s: %s\n", bry_status_word(status), bry_status_text(status));
    bry_window_destroy(window);
    remove(path);
    return status == BRY_OK ? 0 : 3;
}
