/* The commands of `bloomery demo`. */
#ifndef BLOOMERY_CLI_DEMO_COMMAND_H
#define BLOOMERY_CLI_DEMO_COMMAND_H

int demo_once(int argc, char **argv);

#endif
