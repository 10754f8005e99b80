/*
 * Replicating a client's command under another name, fast.
 *
 * Replicate() looks up the name and copies the arguments, which takes as long as adding an item to
 * a filter. ReplicateVerbatim() takes the client's own array of arguments as it is. If that array
 * is the one that the server passed to the handler, it is enough to exchange the name in it for
 * the duration of the call.
 *
 * The module API does not promise that it is, although it is in every server that we know. So
 * replicate_as_register() checks it when the module is loaded. Where it is not, commands are
 * replicated with Replicate(), and the log says so.
 */
#ifndef BLOOMERY_MODULE_REPLICATE_AS_H
#define BLOOMERY_MODULE_REPLICATE_AS_H

#include "module/core/server_api.h"

/* A name, and the server's string of it, which is made when it is first used. */
typedef struct kept_name {
    const char *text;
    server_string *string;
} kept_name;

/* Registers the internal command of the check, and checks. SERVER_OK, or SERVER_ERR after logging
 * why. */
int replicate_as_register(server_context *context);

/* Replicates a command with all its arguments, but under this name. `argv` is what the server
 * passed to the handler. */
void replicate_as(server_context *context, server_string **argv, int argc, kept_name *name);

#endif
