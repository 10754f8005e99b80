/*
 * Settings, visible as CONFIG GET and SET bloomery.*. Those for all families are here; a family
 * has a table of its own (command_family.settings). They are read and changed in the server's main
 * thread only.
 */
#ifndef BLOOMERY_MODULE_SETTINGS_H
#define BLOOMERY_MODULE_SETTINGS_H

#include "module/core/server_api.h"

#include <bloomery/job.h>

typedef enum setting_kind {
    SETTING_COUNT, /* long long */
    SETTING_BYTES, /* long long, with units of memory */
    SETTING_SHARE, /* share_setting */
    SETTING_ENGINE, /* int: one of the engines of `job`, or auto */
    SETTING_CHOICE_AT_START, /* int: number of a word; CONFIG SET cannot change it */
} setting_kind;

typedef struct share_setting {
    double value, least, most;
    server_string *text; /* as entered */
} share_setting;

/* Its preset is what it holds when it is registered. It must live as long as the module. */
typedef struct module_setting {
    const char *name; /* NULL: the end of a table */
    setting_kind kind;
    void *into;
    long long least, most;
    bry_job job;
    const char *preset; /* of a share, as in a configuration file; NULL: what it holds */
    const char *const *words; /* up to NULL */
    /* RedisBloom has it in Redis 8: there it can also be called without the prefix `bloomery.`,
     * unless another module has that name. */
    bool known;
} module_setting;

/* SERVER_OK or SERVER_ERR. */
int settings_register(server_context *context, const module_setting *table);

extern const module_setting settings_of_all[];

/* The memory that one key may take before commands that would add to it are refused. */
uint64_t settings_max_key_bytes(void);

/* True if the server may start with keys that are damaged in its append-only file. */
bool settings_keep_damaged(void);

/* The memory that the payload of a client's RESTORE may take. */
uint64_t settings_load_limit(void);

#endif
