/* The commands of `bloomery cluster`. */
#ifndef BLOOMERY_CLI_CLUSTER_COMMAND_H
#define BLOOMERY_CLI_CLUSTER_COMMAND_H

int cluster_up(int argc, char **argv);
int cluster_status(int argc, char **argv);
int cluster_balance(int argc, char **argv);
int cluster_down(int argc, char **argv);

#endif
