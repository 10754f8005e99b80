/* Prints the state machine of `bloomery flows` as a table of doc/flows.md: for conversations, or with
 * an argument for flows of one direction. */
#include "apps/flows/flow_machine.h"

#include <stdio.h>
#include <string.h>

static void print_side(const flow_step *step, unsigned from)
{
    if (step->next == from && !step->begins)
        printf("=");
    else
        printf("%s%s", flow_state_labels[step->next].title,
               step->begins && from != FLOW_NEW ? " (new)" : "");
    if (step->note)
        printf(" *");
}

static void print_cell(const flow_step steps[FLOW_SIDES], unsigned from, bool directed)
{
    printf(" | ");
    print_side(&steps[FLOW_INITIATOR], from);
    if (directed || from == FLOW_NEW ||
        memcmp(&steps[FLOW_INITIATOR], &steps[FLOW_RESPONDER], sizeof *steps) == 0)
        return;
    printf(" / ");
    print_side(&steps[FLOW_RESPONDER], from);
}

int main(int argc, char **argv)
{
    flow_machine machine;
    bool directed = argc > 1;
    (void)argv;
    flow_machine_init(&machine, directed);
    printf("| state");
    for (unsigned event = 0; event < FLOW_EVENTS; event++)
        printf(" | %s", flow_event_titles[event]);
    printf(" |\n|---");
    for (unsigned event = 0; event < FLOW_EVENTS; event++)
        printf("|---");
    printf("|\n");
    for (unsigned state = 0; state < FLOW_STATES; state++) {
        if (directed &&
            (state == FLOW_CLOSING || state == FLOW_CLOSING_BACK || state == FLOW_UNASKED))
            continue; /* not reached */
        printf("| **%s**", flow_state_labels[state].title);
        for (unsigned event = 0; event < FLOW_EVENTS; event++)
            print_cell(machine.steps[state][event], state, directed);
        printf(" |\n");
    }
    return 0;
}
