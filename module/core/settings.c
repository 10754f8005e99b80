#include "module/core/settings.h"

#include "text/number_parse.h"

#include <stdio.h>
#include <string.h>

#define DEFAULT_MAX_KEY_BYTES (256LL << 20)
#define MOST_KEY_BYTES (1LL << 40)
#define ALIASED_SIZE 96 /* of a name and its alias */

enum { DAMAGED_STOP, DAMAGED_KEEP };

static long long max_key_bytes = DEFAULT_MAX_KEY_BYTES;
static int damaged_keys = DAMAGED_STOP;

uint64_t settings_max_key_bytes(void)
{
    return (uint64_t)max_key_bytes;
}

bool settings_keep_damaged(void)
{
    return damaged_keys == DAMAGED_KEEP;
}

/* Half as much again: a saved object may exceed the limit a little, and grows in other steps when
 * it is loaded. */
uint64_t settings_load_limit(void)
{
    return (uint64_t)(max_key_bytes + max_key_bytes / 2);
}

/* ---- whole numbers and choices -------------------------------------------------------------- */

static long long setting_get_number(const char *name, void *data)
{
    (void)name;
    return *(long long *)data;
}

static int setting_set_number(const char *name, long long value, void *data,
                              server_string **problem)
{
    (void)name;
    (void)problem;
    *(long long *)data = value;
    return SERVER_OK;
}

int settings_register_count(server_context *context, const char *name, long long preset,
                            long long least, long long most, long long *setting)
{
    return api.RegisterNumericConfig(context, name, preset, SERVER_CONFIG_DEFAULT, least, most,
                                     setting_get_number, setting_set_number, NULL, setting);
}

/* The name of a setting with its alias. False: the server has no aliases. */
static bool setting_with_alias(const char *name, char out[ALIASED_SIZE])
{
    snprintf(out, ALIASED_SIZE, "bloomery.%s|%s", name, name);
    return server_is_redis(SERVER_VERSION(8, 0));
}

int settings_register_known_count(server_context *context, const char *name, long long preset,
                                  long long least, long long most, long long *setting)
{
    char aliased[ALIASED_SIZE];
    if (setting_with_alias(name, aliased) &&
        api.RegisterNumericConfig(context, aliased, preset, SERVER_REDIS_CONFIG_UNPREFIXED, least,
                                  most, setting_get_number, setting_set_number, NULL,
                                  setting) == SERVER_OK)
        return SERVER_OK;
    return settings_register_count(context, name, preset, least, most, setting);
}

int settings_register_bytes(server_context *context, const char *name, long long preset,
                            long long least, long long most, long long *setting)
{
    return api.RegisterNumericConfig(context, name, preset, SERVER_CONFIG_MEMORY, least, most,
                                     setting_get_number, setting_set_number, NULL, setting);
}

static int setting_get_choice(const char *name, void *data)
{
    (void)name;
    return *(int *)data;
}

static int setting_set_choice(const char *name, int value, void *data, server_string **problem)
{
    (void)name;
    (void)problem;
    *(int *)data = value;
    return SERVER_OK;
}

int settings_register_choice(server_context *context, const char *name, int preset,
                             const char **names, const int *values, int count, int *setting)
{
    return api.RegisterEnumConfig(context, name, preset, SERVER_CONFIG_DEFAULT, names, values,
                                  count, setting_get_choice, setting_set_choice, NULL, setting);
}

int settings_register_engine(server_context *context, const char *name, bry_job job, int *setting)
{
    enum { MOST_ENGINES = 16 };
    const char *names[MOST_ENGINES];
    int values[MOST_ENGINES] = {BRY_ENGINE_AUTO}, count = 1; /* auto and then its engines */
    while (count < MOST_ENGINES && bry_job_engine_at(job, (size_t)count - 1) != BRY_ENGINE_AUTO) {
        values[count] = (int)bry_job_engine_at(job, (size_t)count - 1);
        count++;
    }
    for (int i = 0; i < count; i++)
        names[i] = bry_engine_name((bry_engine)values[i]);
    return settings_register_choice(context, name, BRY_ENGINE_AUTO, names, values, count, setting);
}

int settings_register_choice_at_start(server_context *context, const char *name, int preset,
                                      const char **names, const int *values, int count,
                                      int *setting)
{
    return api.RegisterEnumConfig(context, name, preset, SERVER_CONFIG_IMMUTABLE, names, values,
                                  count, setting_get_choice, setting_set_choice, NULL, setting);
}

/* ---- shares --------------------------------------------------------------------------------- */

static server_string *setting_get_share(const char *name, void *data)
{
    (void)name;
    return ((share_setting *)data)->text;
}

static int setting_set_share(const char *name, server_string *value, void *data,
                             server_string **problem)
{
    share_setting *setting = data;
    char line[160];
    size_t len;
    const char *text = api.StringPtrLen(value, &len);
    double share;
    const char *wrong = text_parse_share(text, len, &share);
    if (!wrong && share >= setting->least && share <= setting->most) {
        server_string *kept = api.CreateString(NULL, text, len);
        if (setting->text)
            api.FreeString(NULL, setting->text);
        setting->text = kept;
        setting->value = share;
        return SERVER_OK;
    }
    if (wrong)
        snprintf(line, sizeof line, "%s %s", name, wrong);
    else
        snprintf(line, sizeof line, "%s is not between %g and %g", name, setting->least,
                 setting->most);
    *problem = api.CreateString(NULL, line, strlen(line));
    return SERVER_ERR;
}

int settings_register_share(server_context *context, const char *name, const char *preset,
                            share_setting *setting)
{
    return api.RegisterStringConfig(context, name, preset, SERVER_CONFIG_DEFAULT, setting_get_share,
                                    setting_set_share, NULL, setting);
}

int settings_register_known_share(server_context *context, const char *name, const char *preset,
                                  share_setting *setting)
{
    char aliased[ALIASED_SIZE];
    if (setting_with_alias(name, aliased) &&
        api.RegisterStringConfig(context, aliased, preset, SERVER_REDIS_CONFIG_UNPREFIXED,
                                 setting_get_share, setting_set_share, NULL, setting) == SERVER_OK)
        return SERVER_OK;
    return settings_register_share(context, name, preset, setting);
}

/* ---- all families --------------------------------------------------------------------------- */

int settings_register(server_context *context)
{
    static const char *names[] = {"stop", "keep"};
    static const int values[] = {DAMAGED_STOP, DAMAGED_KEEP};
    int failed = settings_register_bytes(context, "max-key-bytes", DEFAULT_MAX_KEY_BYTES, 1 << 16,
                                         MOST_KEY_BYTES, &max_key_bytes);
    failed |= settings_register_choice_at_start(context, "damaged-keys", DAMAGED_STOP, names,
                                                values, 2, &damaged_keys);
    return failed ? SERVER_ERR : SERVER_OK;
}
