/*
 * The directory of a server's data: it is used by one server at a time, and not by a server that
 * would ignore the data in it. The functions return CLI_GO_ON (args.h), or an exit code after a
 * message.
 */
#ifndef BLOOMERY_CLI_SERVE_DIR_H
#define BLOOMERY_CLI_SERVE_DIR_H

#include "cli/serve/serve_places.h"
#include "cli/serve/serve_settings.h"

/* Creates the directory if it does not exist, but not its parents. */
int serve_prepare_dir(const char *named, cli_path *found);

/* Locks the directory for this process until it ends. The descriptor is for serve_dir_hand_on() and
 * must stay open. */
int serve_take_dir(const cli_path *dir, uint16_t port, int *lock);

/* Locks it for the calling process too: a child that is about to become the server. False, with
 * errno, on failure. */
bool serve_dir_hand_on(int lock);

/* Checks that a server with these settings would not ignore data in the directory. */
int serve_check_data(const cli_path *dir, const serve_settings *settings);

#endif
