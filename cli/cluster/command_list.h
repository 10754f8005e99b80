/* Many commands to the nodes of a cluster, sent at once. */
#ifndef BLOOMERY_CLI_COMMAND_LIST_H
#define BLOOMERY_CLI_COMMAND_LIST_H

#include "cli/cluster/cluster_view.h"

#define COMMAND_WORDS 6

typedef struct command_list {
    bryc_command *commands;
    const char *(*words)[COMMAND_WORDS];
    size_t (*lens)[COMMAND_WORDS];
    uint32_t *nodes; /* of the view */
    size_t count; /* How many commands there are. */
    size_t capacity; /* For how many there is room. */
    bool failed; /* out of memory */
} command_list;

/* Adds WORDS… BYTES for a node of the view. `words` ends with NULL; the strings must live until the
 * list is sent. */
void list_add(command_list *list, const cluster_view *view, uint32_t node, const char *const *words,
              const char *bytes, size_t len);
#define LIST_WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* The number of a slot as a word. */
const char *list_slot(uint32_t slot);

/* Sends all. Error replies stay in the list; only a node that does not answer is a failure. */
bry_status list_send(cluster_view *view, command_list *list);

void list_clear(command_list *list);
void list_free(command_list *list);

#endif
