/*
 * Settings, visible as CONFIG GET and SET bloomery.*. Those for all families are here; a family
 * registers its own (command_family.configure). They are read and changed in the server's main
 * thread only.
 */
#ifndef BLOOMERY_MODULE_SETTINGS_H
#define BLOOMERY_MODULE_SETTINGS_H

#include "module/core/server_api.h"

#include <bloomery/job.h>

/* All functions that register something return SERVER_OK or SERVER_ERR. */

/* Registers max-key-bytes and damaged-keys. */
int settings_register(server_context *context);

/* The memory that one key may take before commands that would add to it are refused. */
uint64_t settings_max_key_bytes(void);

/* True if the server may start with keys that are damaged in its append-only file. */
bool settings_keep_damaged(void);

/* The memory that the payload of a client's RESTORE may take. */
uint64_t settings_load_limit(void);

/* ---- kinds of settings ---------------------------------------------------------------------- */

typedef struct share_setting {
    double value, least, most;
    server_string *text; /* as entered */
} share_setting;

/* `setting` must live as long as the module. The preset is text as in a configuration file. */
int settings_register_share(server_context *context, const char *name, const char *preset,
                            share_setting *setting);
int settings_register_count(server_context *context, const char *name, long long preset,
                            long long least, long long most, long long *setting);
int settings_register_bytes(server_context *context, const char *name, long long preset,
                            long long least, long long most, long long *setting);
int settings_register_choice(server_context *context, const char *name, int preset,
                             const char **names, const int *values, int count, int *setting);
/* One of the engines of a job, or auto, which is the preset. */
int settings_register_engine(server_context *context, const char *name, bry_job job, int *setting);

/* A setting that CONFIG SET cannot change. */
int settings_register_choice_at_start(server_context *context, const char *name, int preset,
                                      const char **names, const int *values, int count,
                                      int *setting);

/* Settings that RedisBloom has in Redis 8: there they can also be called without the prefix
 * `bloomery.`, unless another module has that name. */
int settings_register_known_count(server_context *context, const char *name, long long preset,
                                  long long least, long long most, long long *setting);
int settings_register_known_share(server_context *context, const char *name, const char *preset,
                                  share_setting *setting);

#endif
