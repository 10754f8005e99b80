/*
 * The folder of a server's data: one server at a time, and none that would pass over what is there.
 * Functions that return an exit code have reported what is wrong; CLI_GO_ON (args.h) where all is
 * well.
 */
#ifndef BLOOMERY_CLI_SERVE_FOLDER_H
#define BLOOMERY_CLI_SERVE_FOLDER_H

#include "cli/serve/serve_places.h"
#include "cli/serve/serve_settings.h"

/* The folder, made where there is none (not those above it). */
int serve_prepare_folder(const char *named, serve_path *found);

/* Takes the folder for this process, until it ends. The descriptor is for serve_folder_hand_on(),
 * and has to stay open. */
int serve_take_folder(const serve_path *folder, uint16_t port, int *lock);

/* Takes it for the calling process too, a child that is about to become the server. False, with
 * errno, where that fails. */
bool serve_folder_hand_on(int lock);

/* Whether the folder holds what a server with these settings would not look at. */
int serve_check_data(const serve_path *folder, const serve_settings *settings);

#endif
