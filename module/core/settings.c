#include "module/core/settings.h"

#include "text/number_format.h"
#include "text/number_parse.h"

#include <stdio.h>
#include <string.h>

#define ALIASED_SIZE 96 /* of a name and its alias */
#define MOST_WORDS 16

enum { DAMAGED_STOP, DAMAGED_KEEP };
static const char *const damaged_words[] = {"stop", "keep", NULL};

static long long max_key_bytes = 256LL << 20;
static int damaged_keys = DAMAGED_STOP;

const module_setting settings_of_all[] = {
    {"max-key-bytes", SETTING_BYTES, &max_key_bytes, .least = 1 << 16, .most = 1LL << 40},
    {"damaged-keys", SETTING_CHOICE_AT_START, &damaged_keys, .words = damaged_words},
    {0},
};

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

/* ---- reading and changing -------------------------------------------------------------------- */

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

/* ---- registering ----------------------------------------------------------------------------- */

/* An engine, or one of the words. */
static int setting_register_choice(server_context *context, const char *name, unsigned flags,
                                   const module_setting *self)
{
    const char *names[MOST_WORDS];
    int values[MOST_WORDS] = {BRY_ENGINE_AUTO}, count = 0;
    for (; count < MOST_WORDS && self->words && self->words[count]; count++) {
        names[count] = self->words[count];
        values[count] = count;
    }
    for (bry_engine engine = BRY_ENGINE_AUTO; !self->words && count < MOST_WORDS;) {
        names[count] = bry_engine_name(engine);
        values[count] = (int)engine;
        engine = bry_job_engine_at(self->job, (size_t)count++);
        if (engine == BRY_ENGINE_AUTO) /* comes first, and after the last one */
            break;
    }
    return api.RegisterEnumConfig(context, name, *(int *)self->into, flags, names, values, count,
                                  setting_get_choice, setting_set_choice, NULL, self->into);
}

static int setting_register_as(server_context *context, const char *name, unsigned flags,
                               const module_setting *self)
{
    char text[TEXT_NUMBER_SIZE];
    if (self->kind == SETTING_SHARE) {
        const char *preset = self->preset;
        if (!preset)
            preset = text_number(((share_setting *)self->into)->value, text);
        return api.RegisterStringConfig(context, name, preset, flags, setting_get_share,
                                        setting_set_share, NULL, self->into);
    }
    if (self->kind == SETTING_ENGINE || self->kind == SETTING_CHOICE_AT_START)
        return setting_register_choice(context, name, flags, self);
    return api.RegisterNumericConfig(context, name, *(long long *)self->into, flags, self->least,
                                     self->most, setting_get_number, setting_set_number, NULL,
                                     self->into);
}

static int setting_register(server_context *context, const module_setting *self)
{
    static const unsigned flags[] = {[SETTING_BYTES] = SERVER_CONFIG_MEMORY,
                                     [SETTING_CHOICE_AT_START] = SERVER_CONFIG_IMMUTABLE};
    char aliased[ALIASED_SIZE];
    snprintf(aliased, sizeof aliased, "bloomery.%s|%s", self->name, self->name);
    if (self->known && server_is_redis(SERVER_VERSION(8, 0)) &&
        setting_register_as(context, aliased, SERVER_REDIS_CONFIG_UNPREFIXED, self) == SERVER_OK)
        return SERVER_OK;
    return setting_register_as(context, self->name, flags[self->kind], self);
}

int settings_register(server_context *context, const module_setting *table)
{
    int done = SERVER_OK;
    for (; table->name && done == SERVER_OK; table++)
        done = setting_register(context, table);
    return done;
}
