/*
 * Error replies, and values with names.
 *
 * The library, the program and the server use one list of error codes: an error begins with the
 * word of a bry_status (FULL, MISMATCH, RANGE, UNSURE, BADDATA …), or with a code that every client
 * of the server knows: ERR for arguments that cannot be parsed, WRONGTYPE, BUSYKEY.
 *
 * Replicas and a server that loads its append-only file repeat what a primary has done, including
 * refusals (see object.h), and nobody reads their replies. They reply OK instead of an error,
 * because some servers take an error there for corruption.
 */
#ifndef BLOOMERY_MODULE_REPLIES_H
#define BLOOMERY_MODULE_REPLIES_H

#include "module/core/server_api.h"

#include <bloomery/base.h>

/* Every function that replies returns SERVER_OK, so that a handler can return its result. */

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
int reply_error(server_context *context, const char *word, const char *format, ...);

/* The same in a function that returns false after an error reply. */
#define reply_false(...) (reply_error(__VA_ARGS__), false)

/* The same with the whole text, for errors that do not begin with one of our codes. */
int reply_error_text(server_context *context, const char *text);

/* The last error that became OK since the last call, or NULL; see above. Calling it again forgets
 * that error. */
const char *reply_take_hidden_error(void);

/* Replies with the word and text of the status. */
int reply_status(server_context *context, bry_status status);

int reply_wrong_arity(server_context *context);
int reply_wrong_type(server_context *context);
int reply_no_key(server_context *context);
int reply_ok(server_context *context);
int reply_zeros(server_context *context, size_t n); /* an array of n zeros */

/* A reply that is a map. It counts its pairs, so that nobody else has to. */
typedef struct pair_reply {
    server_context *context;
    long count; /* pairs sent so far */
} pair_reply;

pair_reply reply_pairs_begin(server_context *context);
void reply_pairs_end(const pair_reply *self);

/* A name and a value. */
void reply_pair_count(pair_reply *self, const char *name, uint64_t count);
void reply_pair_text(pair_reply *self, const char *name, const char *text);

/* A number that was computed or measured, to six digits. */
void reply_pair_number(pair_reply *self, const char *name, double number);

/* A number that a user gave, with all its digits. */
void reply_pair_parameter(pair_reply *self, const char *name, double number);

/* The seed, as text: some clients cannot represent integers of 64 bits. */
void reply_pair_seed(pair_reply *self, uint64_t seed);

/* ahead_ms: how far the time of an object that uses the server's clock is ahead of that clock. A
 * little on a replica; more if the clock was set back. */
void reply_pair_ahead(pair_reply *self, uint64_t time);

/* Replies that the command is internal: only for the append-only file and replication. */
int reply_internal(server_context *context);

/* True if the command comes from a primary or the append-only file. Then it is carried out as it
 * is, and the limits of this node's configuration do not apply. */
bool is_replayed(server_context *context);

/* True if the command comes from the append-only file that this server is loading. */
bool is_from_log(server_context *context);

/* An argument for an error message: in quotes, unprintable bytes as \xNN, truncated. */
#define QUOTED_SIZE 64
const char *quoted(const server_string *string, char out[QUOTED_SIZE]);

#endif
