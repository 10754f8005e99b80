#include "cli/cluster/command_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool grow_array(void *array, size_t size, size_t capacity)
{
    void *grown = realloc(*(void **)array, size * capacity);
    if (grown)
        *(void **)array = grown;
    return grown != NULL;
}

static bool list_grow(command_list *list)
{
    size_t capacity = list->capacity ? 2 * list->capacity : 256;
    if (!grow_array(&list->commands, sizeof *list->commands, capacity) ||
        !grow_array(&list->words, sizeof *list->words, capacity) ||
        !grow_array(&list->lens, sizeof *list->lens, capacity) ||
        !grow_array(&list->nodes, sizeof *list->nodes, capacity))
        return false;
    list->capacity = capacity;
    return true;
}

void list_add(command_list *list, const cluster_view *view, uint32_t node, const char *const *words,
              const char *bytes, size_t len)
{
    if (list->count == list->capacity && (list->failed || !list_grow(list))) {
        list->failed = true;
        return;
    }
    size_t at = list->count++;
    uint32_t argc = 0;
    for (; words[argc]; argc++) {
        list->words[at][argc] = words[argc];
        list->lens[at][argc] = strlen(words[argc]);
    }
    list->words[at][argc] = bytes;
    list->lens[at][argc++] = len;
    list->nodes[at] = node;
    list->commands[at] =
        (bryc_command){.argc = argc, .flags = BRYC_FIXED, .node = view->nodes[node].link};
}

const char *list_slot(uint32_t slot)
{
    static char texts[BRYC_SLOTS][8];
    snprintf(texts[slot], sizeof texts[slot], "%u", slot);
    return texts[slot];
}

bry_status list_send(cluster_view *view, command_list *list)
{
    if (list->failed)
        return BRY_E_NOMEM;
    for (size_t i = 0; i < list->count; i++) {
        list->commands[i].argv = list->words[i];
        list->commands[i].lens = list->lens[i];
    }
    bry_status status = bryc_send(view->client, list->commands, list->count);
    for (size_t i = 0; i < list->count && status != BRY_OK; i++)
        if (!list->commands[i].reply)
            return list->commands[i].status;
    return BRY_OK;
}

void list_clear(command_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        freeReplyObject(list->commands[i].reply);
    list->count = 0;
}

void list_free(command_list *list)
{
    list_clear(list);
    free(list->commands);
    free(list->words);
    free(list->lens);
    free(list->nodes);
    *list = (command_list){0};
}
