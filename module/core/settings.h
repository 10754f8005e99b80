/*
 * Settings, as CONFIG GET and SET bloomery.* show them. Those that concern every family are here;
 * a family registers its own (family.configure). They change in the server's main thread alone,
 * which is also where they are read.
 */
#ifndef BLOOMERY_MODULE_SETTINGS_H
#define BLOOMERY_MODULE_SETTINGS_H

#include "module/core/server_api.h"

/* What is said here of "registers" returns SERVER_OK or SERVER_ERR. */

/* Registers max-key-bytes. */
int settings_register(server_context *context);

/* The memory that one key may take before what would add to it is refused. */
uint64_t settings_max_key_bytes(void);

/* The memory that a payload of a client's RESTORE may claim. */
uint64_t settings_load_ceiling(void);

/* ---- kinds of settings --------------------------------------------------------------------- */

typedef struct share_setting {
    double value, least, most;
    server_string *text; /* as it was typed */
} share_setting;

/* `setting` must live as long as the module. The preset is text, as in a configuration file. */
int settings_register_share(server_context *context, const char *name, const char *preset,
                            share_setting *setting);
int settings_register_count(server_context *context, const char *name, long long preset,
                            long long least, long long most, long long *setting);
int settings_register_bytes(server_context *context, const char *name, long long preset,
                            long long least, long long most, long long *setting);
int settings_register_choice(server_context *context, const char *name, int preset,
                             const char **names, const int *values, int count, int *setting);

/* One that CONFIG SET does not change. */
int settings_register_choice_at_start(server_context *context, const char *name, int preset,
                                      const char **names, const int *values, int count,
                                      int *setting);

/* Settings that Redis 8 knows from RedisBloom: there they go without `bloomery.` in front, unless
 * somebody else has them; elsewhere with it. */
int settings_register_known_count(server_context *context, const char *name, long long preset,
                                  long long least, long long most, long long *setting);
int settings_register_known_share(server_context *context, const char *name, const char *preset,
                                  share_setting *setting);

#endif
