#include "module/core/command_family.h"

#include "module/core/arguments.h"
#include "module/core/object.h"
#include "module/core/replies.h"
#include "module/core/settings.h"
#include "text/number_format.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* For a test with a module that is older than its data. */
#ifndef BLOOMERY_ENCODINGS_BACK
#define BLOOMERY_ENCODINGS_BACK 0
#endif

#define FIRST_VERSION "0.1.0" /* which had all commands */
#define LONGEST_NAME 63u /* of a command */

static int register_failed(server_context *context, const char *what, const char *name)
{
    api.Log(context, "warning", "%s %s cannot be registered", what, name);
    return SERVER_ERR;
}

/* The server prints names as they were registered, in INFO commandstats, in errors and in COMMAND;
 * its own commands are in lower case. */
static void lower_case(const char *name, char out[LONGEST_NAME + 1])
{
    size_t i = 0;
    for (; i < LONGEST_NAME && name[i]; i++)
        out[i] = (char)tolower((unsigned char)name[i]);
    out[i] = '\0';
}

/* The ACL categories of a command; BF.* have that of RedisBloom's besides. */
static void list_categories(const module_command *command, char out[64])
{
    const char *flags = command->flags;
    snprintf(out, 64, "%s%sbloomery%s",
             strstr(flags, "write")      ? "write "
             : strstr(flags, "readonly") ? "read "
                                         : "",
             strstr(flags, "fast") ? "fast " : "",
             strncmp(command->name, "BF.", 3) == 0 ? " bloom" : "");
}

/* The key's position is also given as first key, last key and step, for old servers and proxies. */
static int register_command(server_context *context, const module_command *command)
{
    static const server_command_info_version version = {
        1, sizeof(server_command_history), sizeof(server_key_spec), sizeof(server_command_arg)};
    char name[LONGEST_NAME + 1], categories[64];
    lower_case(command->name, name);
    list_categories(command, categories);
    int key = command->key_specs ? 1 : 0;
    if (api.CreateCommand(context, name, command->run, command->flags, key, key, key) != SERVER_OK)
        return register_failed(context, "command", command->name);
    server_command *made = api.GetCommand(context, name);
    server_command_info info = {.version = &version,
                                .summary = command->summary,
                                .complexity = command->complexity,
                                .since = FIRST_VERSION,
                                .arity = command->arity,
                                .key_specs = command->key_specs,
                                .args = command->args};
    if (!made || api.SetCommandInfo(made, &info) != SERVER_OK)
        return register_failed(context, "the description of command", command->name);
    if (api.SetCommandACLCategories && api.AddACLCategory &&
        api.SetCommandACLCategories(made, categories) != SERVER_OK)
        return register_failed(context, "the categories of command", command->name);
    return SERVER_OK;
}

static int register_type(server_context *context, command_family *self)
{
    server_type_methods methods = object_type_methods(self);
    self->encoding -= BLOOMERY_ENCODINGS_BACK;
    self->type = api.CreateDataType(context, self->type_name, self->encoding, &methods);
    return self->type ? SERVER_OK : register_failed(context, "type", self->type_name);
}

/* All registered tables. */
#define MOST_TABLES 16u
static const module_command *tables[MOST_TABLES];
static size_t table_count;

/* Those with a type. */
static command_family *families[MOST_TABLES];
static size_t family_count;

int family_add_commands(server_context *context, const module_command *commands)
{
    if (table_count == MOST_TABLES)
        return register_failed(context, "one more table of commands, with", commands->name);
    tables[table_count++] = commands;
    for (; commands->name; commands++)
        if (register_command(context, commands) != SERVER_OK)
            return SERVER_ERR;
    return SERVER_OK;
}

command_family *family_restored_by(const server_string *name)
{
    for (size_t i = 0; i < family_count; i++)
        if (is_word(name, families[i]->restore_command))
            return families[i];
    return NULL;
}

bool family_is_internal(const char *name, size_t len)
{
    for (size_t i = 0; i < table_count; i++)
        for (const module_command *command = tables[i]; command->name; command++)
            if (strlen(command->name) == len && strncasecmp(command->name, name, len) == 0)
                return !command->args;
    return false;
}

static void add_engines(server_command_arg *words, bry_job job)
{
    for (size_t i = 0; i + 2 < ENGINES_ROOM; i++) {
        bry_engine engine = bry_job_engine_at(job, i);
        const char *name = bry_engine_name(engine);
        if (engine != BRY_ENGINE_AUTO)
            words[i + 1] = (server_command_arg){.name = name,
                                                .type = SERVER_ARG_PURE_TOKEN,
                                                .key_spec_index = -1,
                                                .token = name,
                                                .summary = bry_job_engine_text(job, engine)};
    }
}

/* Describes the engines, for all commands that have the argument. */
static void describe_engines(const command_family *self)
{
    for (const module_command *command = self->commands; command->name; command++)
        for (server_command_arg *arg = command->args; arg && arg->name; arg++)
            if (arg->token && strcmp(arg->token, "ENGINE") == 0)
                add_engines(arg->subargs, self->job);
}

int family_register(server_context *context, command_family *self)
{
    self->totals.family = self;
    describe_engines(self);
    if (self->type_name) {
        if (family_count == MOST_TABLES || register_type(context, self) != SERVER_OK)
            return SERVER_ERR;
        families[family_count++] = self;
    }
    if (family_add_commands(context, self->commands) != SERVER_OK)
        return SERVER_ERR;
    return self->settings ? settings_register(context, self->settings) : SERVER_OK;
}

int family_reply_missing(server_context *context, const command_family *self)
{
    if (!self->created_by)
        return reply_no_key(context);
    return reply_error(context, "ERR", "no such key: create it with %s", self->created_by);
}

static void info_add_count(server_info *info, const command_family *self, const char *what,
                           uint64_t value)
{
    char name[64];
    snprintf(name, sizeof name, "%s_%s", self->name, what);
    api.InfoAddFieldULongLong(info, name, value);
}

/* As text, because the server would print more digits than are meaningful. */
static void info_add_fraction(server_info *info, const command_family *self, const char *what,
                              double share)
{
    char name[64], text[TEXT_NUMBER_SIZE];
    snprintf(name, sizeof name, "%s_%s", self->name, what);
    api.InfoAddFieldCString(info, name, text_with_point(share, text));
}

static void info_add_keys(server_info *info, const command_family *self)
{
    const family_totals *totals = &self->totals;
    info_add_count(info, self, "keys", atomic_load_explicit(&totals->keys, memory_order_relaxed));
    info_add_count(info, self, "items", atomic_load_explicit(&totals->items, memory_order_relaxed));
    info_add_count(info, self, "bytes", atomic_load_explicit(&totals->bytes, memory_order_relaxed));
    if (totals->judged > 0) { /* averages over the items */
        info_add_fraction(info, self, "promised_error", totals->promised / (double)totals->judged);
        info_add_fraction(info, self, "estimated_error",
                          totals->estimated / (double)totals->judged);
    }
}

void family_info(server_info *info, const command_family *self)
{
    const family_totals *totals = &self->totals;
    info_add_keys(info, self);
    if (self->info) {
        self->info(info);
        return;
    }
    info_add_count(info, self, "operations", totals->operations);
    info_add_count(info, self, "refused", totals->refused);
    info_add_count(info, self, "unsure", totals->unsure);
    info_add_count(info, self, "repeats", totals->repeats);
}
