/*
 * What the server answers beside plain values: errors.
 *
 * One list of words for the library, the program and the server: an error begins with the word of a
 * bry_status (FULL, MISMATCH, RANGE, UNSURE, BADDATA …), or with one that every client of the
 * server knows: ERR for what cannot be understood, WRONGTYPE, BUSYKEY.
 *
 * A replica and a server that reads its log carry out what a master has carried out, refusals
 * included (see object.h), and nobody reads their replies; they say OK instead of an error, which
 * some servers take for a sign of damage.
 */
#ifndef BLOOMERY_MODULE_REPLIES_H
#define BLOOMERY_MODULE_REPLIES_H

#include "module/core/server_api.h"

#include <bloomery/base.h>

/* Every function that replies returns SERVER_OK, so that a handler can return it. */

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
int reply_error(server_context *context, const char *word, const char *format, ...);

/* The status's own word and text. */
int reply_status(server_context *context, bry_status status);

int reply_wrong_type(server_context *context);
int reply_no_key(server_context *context);
int reply_ok(server_context *context);
int reply_zeros(server_context *context, size_t n); /* a list of n: nothing is there */

/* A name and a value, for replies that are maps. */
void reply_pair_count(server_context *context, const char *name, uint64_t count);
void reply_pair_number(server_context *context, const char *name, double number);
/* ahead_ms: how far the time of a thing that goes by the clock is ahead of it. By little on a
 * replica; by more where the clock was in the future and came back. */
void reply_pair_ahead(server_context *context, uint64_t time);
void reply_pair_text(server_context *context, const char *name, const char *text);

/* Tells a client that a command is not for it: only the log and replication use it. */
int reply_internal(server_context *context);

/* Whether the command comes from a master or out of the log: then it is carried out as it is, and
 * the limits of this node's configuration do not count. */
bool is_replayed(server_context *context);

/* What a client sent, fit for a line: in quotes, unprintable bytes as \xNN, cut after a few. */
#define QUOTED_SIZE 64
const char *quoted(const server_string *string, char out[QUOTED_SIZE]);

#endif
