#include "apps/flows/flow_machine.h"

const flow_label flow_state_labels[FLOW_STATES] = {
    [FLOW_NEW] = {"new", "new"},
    [FLOW_SYN_SEEN] = {"syn_seen", "SYN seen"},
    [FLOW_SYN_ACK_SEEN] = {"syn_ack_seen", "SYN-ACK seen"},
    [FLOW_ESTABLISHED] = {"established", "established"},
    [FLOW_MIDSTREAM] = {"midstream", "mid-stream"},
    [FLOW_CLOSING] = {"closing", "closing"},
    [FLOW_CLOSING_BACK] = {"closing", "closing (back)"},
    [FLOW_CLOSED] = {"closed", "closed"},
    [FLOW_RESET] = {"reset", "reset"},
    [FLOW_UNASKED] = {"unasked_syn_ack", "unasked SYN-ACK"},
    [FLOW_PROBED] = {"probed", "probed"},
};

const flow_label flow_note_labels[FLOW_NOTES] = {
    [FLOW_FINE] = {"none", "none"},
    [FLOW_SYN_ACK_UNASKED] = {"syn_ack_without_syn", "SYN-ACK without SYN"},
    [FLOW_ACK_UNASKED] = {"ack_without_syn", "ACK without SYN"},
    [FLOW_DATA_UNASKED] = {"data_without_syn", "data without SYN"},
    [FLOW_RST_UNASKED] = {"rst_without_flow", "RST without a flow"},
    [FLOW_NULL_SCAN] = {"null_scan", "NULL scan"},
    [FLOW_FIN_SCAN] = {"fin_scan", "FIN scan"},
    [FLOW_XMAS_SCAN] = {"xmas_scan", "Xmas scan"},
    [FLOW_SYN_FIN_SCAN] = {"syn_fin", "SYN with FIN or RST"},
};

const char *const flow_event_titles[FLOW_EVENTS] = {
    [FLOW_ON_SYN] = "SYN",       [FLOW_ON_SYN_ACK] = "SYN-ACK",
    [FLOW_ON_ACK] = "ACK",       [FLOW_ON_DATA] = "data",
    [FLOW_ON_FIN] = "FIN",       [FLOW_ON_RST] = "RST",
    [FLOW_ON_NULL] = "no flags", [FLOW_ON_BARE_FIN] = "FIN alone",
    [FLOW_ON_XMAS] = "Xmas",     [FLOW_ON_SYN_FIN] = "SYN+FIN",
};

/* ---- events ---------------------------------------------------------------------------------- */

static flow_event event_of_flags(unsigned flags, bool has_data)
{
    if (flags & FLOW_SYN)
        return flags & (FLOW_FIN | FLOW_RST) ? FLOW_ON_SYN_FIN
               : flags & FLOW_ACK            ? FLOW_ON_SYN_ACK
                                             : FLOW_ON_SYN;
    if (flags & FLOW_RST)
        return FLOW_ON_RST;
    if (flags & FLOW_ACK)
        return flags & FLOW_FIN ? FLOW_ON_FIN : has_data ? FLOW_ON_DATA : FLOW_ON_ACK;
    if (flags & FLOW_FIN)
        return flags & FLOW_PSH && flags & FLOW_URG ? FLOW_ON_XMAS : FLOW_ON_BARE_FIN;
    return FLOW_ON_NULL; /* PSH or URG alone are as impossible as no flag */
}

/* ---- the table ------------------------------------------------------------------------------- */

enum { I = 1, R = 2, BOTH = I | R }; /* sides of a rule */
enum { BEGINS = 1, TURNS = 2 };

/* States and events that no rule names: the flow stays as it is. */
typedef struct machine_rule {
    uint8_t from, event, sides, next, note, marks;
} machine_rule;

static const machine_rule common_rules[] = {
    {FLOW_NEW, FLOW_ON_SYN, BOTH, FLOW_SYN_SEEN, FLOW_FINE, BEGINS},
    {FLOW_NEW, FLOW_ON_SYN_ACK, BOTH, FLOW_UNASKED, FLOW_SYN_ACK_UNASKED, BEGINS | TURNS},
    {FLOW_NEW, FLOW_ON_ACK, BOTH, FLOW_MIDSTREAM, FLOW_ACK_UNASKED, BEGINS},
    {FLOW_NEW, FLOW_ON_DATA, BOTH, FLOW_MIDSTREAM, FLOW_DATA_UNASKED, BEGINS},
    {FLOW_NEW, FLOW_ON_FIN, BOTH, FLOW_CLOSING, FLOW_ACK_UNASKED, BEGINS},
    {FLOW_NEW, FLOW_ON_RST, BOTH, FLOW_RESET, FLOW_RST_UNASKED, BEGINS},
    {FLOW_NEW, FLOW_ON_NULL, BOTH, FLOW_PROBED, FLOW_NULL_SCAN, BEGINS},
    {FLOW_NEW, FLOW_ON_BARE_FIN, BOTH, FLOW_PROBED, FLOW_FIN_SCAN, BEGINS},
    {FLOW_NEW, FLOW_ON_XMAS, BOTH, FLOW_PROBED, FLOW_XMAS_SCAN, BEGINS},
    {FLOW_NEW, FLOW_ON_SYN_FIN, BOTH, FLOW_PROBED, FLOW_SYN_FIN_SCAN, BEGINS},

    {FLOW_SYN_SEEN, FLOW_ON_SYN, R, FLOW_SYN_ACK_SEEN, FLOW_FINE, 0}, /* simultaneous open */
    {FLOW_SYN_SEEN, FLOW_ON_SYN_ACK, R, FLOW_SYN_ACK_SEEN, FLOW_FINE, 0},
    {FLOW_SYN_SEEN, FLOW_ON_ACK, I, FLOW_ESTABLISHED, FLOW_FINE, 0}, /* SYN-ACK not captured */
    {FLOW_SYN_SEEN, FLOW_ON_DATA, BOTH, FLOW_ESTABLISHED, FLOW_FINE, 0},
    {FLOW_SYN_SEEN, FLOW_ON_FIN, I, FLOW_CLOSING, FLOW_FINE, 0},
    {FLOW_SYN_SEEN, FLOW_ON_FIN, R, FLOW_CLOSING_BACK, FLOW_FINE, 0},
    {FLOW_SYN_SEEN, FLOW_ON_RST, BOTH, FLOW_RESET, FLOW_FINE, 0},

    {FLOW_SYN_ACK_SEEN, FLOW_ON_ACK, I, FLOW_ESTABLISHED, FLOW_FINE, 0},
    {FLOW_SYN_ACK_SEEN, FLOW_ON_DATA, BOTH, FLOW_ESTABLISHED, FLOW_FINE, 0},
    {FLOW_SYN_ACK_SEEN, FLOW_ON_FIN, I, FLOW_CLOSING, FLOW_FINE, 0},
    {FLOW_SYN_ACK_SEEN, FLOW_ON_FIN, R, FLOW_CLOSING_BACK, FLOW_FINE, 0},
    {FLOW_SYN_ACK_SEEN, FLOW_ON_RST, BOTH, FLOW_RESET, FLOW_FINE, 0},

    {FLOW_ESTABLISHED, FLOW_ON_FIN, I, FLOW_CLOSING, FLOW_FINE, 0},
    {FLOW_ESTABLISHED, FLOW_ON_FIN, R, FLOW_CLOSING_BACK, FLOW_FINE, 0},
    {FLOW_ESTABLISHED, FLOW_ON_RST, BOTH, FLOW_RESET, FLOW_FINE, 0},

    {FLOW_MIDSTREAM, FLOW_ON_SYN, BOTH, FLOW_SYN_SEEN, FLOW_FINE, BEGINS},
    {FLOW_MIDSTREAM, FLOW_ON_FIN, I, FLOW_CLOSING, FLOW_FINE, 0},
    {FLOW_MIDSTREAM, FLOW_ON_FIN, R, FLOW_CLOSING_BACK, FLOW_FINE, 0},
    {FLOW_MIDSTREAM, FLOW_ON_RST, BOTH, FLOW_RESET, FLOW_FINE, 0},

    {FLOW_CLOSING, FLOW_ON_SYN, BOTH, FLOW_SYN_SEEN, FLOW_FINE, BEGINS},
    {FLOW_CLOSING, FLOW_ON_FIN, R, FLOW_CLOSED, FLOW_FINE, 0},
    {FLOW_CLOSING, FLOW_ON_RST, BOTH, FLOW_RESET, FLOW_FINE, 0},
    {FLOW_CLOSING_BACK, FLOW_ON_SYN, BOTH, FLOW_SYN_SEEN, FLOW_FINE, BEGINS},
    {FLOW_CLOSING_BACK, FLOW_ON_FIN, I, FLOW_CLOSED, FLOW_FINE, 0},
    {FLOW_CLOSING_BACK, FLOW_ON_RST, BOTH, FLOW_RESET, FLOW_FINE, 0},

    {FLOW_CLOSED, FLOW_ON_SYN, BOTH, FLOW_SYN_SEEN, FLOW_FINE, BEGINS},
    {FLOW_RESET, FLOW_ON_SYN, BOTH, FLOW_SYN_SEEN, FLOW_FINE, BEGINS},

    {FLOW_UNASKED, FLOW_ON_SYN, I, FLOW_SYN_ACK_SEEN, FLOW_FINE, 0}, /* captured out of order */
    {FLOW_UNASKED, FLOW_ON_SYN_ACK, R, FLOW_UNASKED, FLOW_SYN_ACK_UNASKED, 0},
    {FLOW_UNASKED, FLOW_ON_ACK, I, FLOW_ESTABLISHED, FLOW_FINE, 0},
    {FLOW_UNASKED, FLOW_ON_DATA, BOTH, FLOW_ESTABLISHED, FLOW_FINE, 0},
    {FLOW_UNASKED, FLOW_ON_FIN, I, FLOW_CLOSING, FLOW_FINE, 0},
    {FLOW_UNASKED, FLOW_ON_FIN, R, FLOW_CLOSING_BACK, FLOW_FINE, 0},
    {FLOW_UNASKED, FLOW_ON_RST, BOTH, FLOW_RESET, FLOW_FINE, 0},

    {FLOW_PROBED, FLOW_ON_SYN, BOTH, FLOW_SYN_SEEN, FLOW_FINE, BEGINS},
    {FLOW_PROBED, FLOW_ON_SYN_ACK, R, FLOW_SYN_ACK_SEEN, FLOW_FINE, 0},
    {FLOW_PROBED, FLOW_ON_ACK, BOTH, FLOW_MIDSTREAM, FLOW_FINE, 0},
    {FLOW_PROBED, FLOW_ON_DATA, BOTH, FLOW_MIDSTREAM, FLOW_FINE, 0},
    {FLOW_PROBED, FLOW_ON_FIN, I, FLOW_CLOSING, FLOW_FINE, 0},
    {FLOW_PROBED, FLOW_ON_FIN, R, FLOW_CLOSING_BACK, FLOW_FINE, 0},
    {FLOW_PROBED, FLOW_ON_RST, BOTH, FLOW_RESET, FLOW_FINE, 0},
};

/*
 * Where only one direction is in a flow, the SYN-ACK belongs to the flow of the responder, and is
 * what that begins with; a FIN ends a flow, because that of the other side is in another one.
 */
static const machine_rule directed_rules[] = {
    {FLOW_NEW, FLOW_ON_SYN_ACK, BOTH, FLOW_SYN_ACK_SEEN, FLOW_FINE, BEGINS},
    {FLOW_NEW, FLOW_ON_FIN, BOTH, FLOW_CLOSED, FLOW_ACK_UNASKED, BEGINS},
    {FLOW_SYN_SEEN, FLOW_ON_FIN, BOTH, FLOW_CLOSED, FLOW_FINE, 0},
    {FLOW_SYN_ACK_SEEN, FLOW_ON_FIN, BOTH, FLOW_CLOSED, FLOW_FINE, 0},
    {FLOW_ESTABLISHED, FLOW_ON_FIN, BOTH, FLOW_CLOSED, FLOW_FINE, 0},
    {FLOW_MIDSTREAM, FLOW_ON_FIN, BOTH, FLOW_CLOSED, FLOW_FINE, 0},
    {FLOW_PROBED, FLOW_ON_FIN, BOTH, FLOW_CLOSED, FLOW_FINE, 0},
    {FLOW_PROBED, FLOW_ON_SYN_ACK, BOTH, FLOW_SYN_ACK_SEEN, FLOW_FINE, 0},
    {FLOW_CLOSED, FLOW_ON_SYN_ACK, BOTH, FLOW_SYN_ACK_SEEN, FLOW_FINE, BEGINS},
    {FLOW_RESET, FLOW_ON_SYN_ACK, BOTH, FLOW_SYN_ACK_SEEN, FLOW_FINE, BEGINS},
};

/* Packets that belong to no connection are noted in any state. */
static const uint8_t scan_notes[FLOW_EVENTS] = {
    [FLOW_ON_NULL] = FLOW_NULL_SCAN,
    [FLOW_ON_BARE_FIN] = FLOW_FIN_SCAN,
    [FLOW_ON_XMAS] = FLOW_XMAS_SCAN,
    [FLOW_ON_SYN_FIN] = FLOW_SYN_FIN_SCAN,
};

static void apply_machine_rules(flow_machine *machine, const machine_rule *rules, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (unsigned side = 0; side < FLOW_SIDES; side++)
            if (rules[i].sides & 1u << side)
                machine->steps[rules[i].from][rules[i].event][side] = (flow_step){
                    .next = rules[i].next,
                    .note = rules[i].note,
                    .begins = rules[i].marks & BEGINS,
                    .turns = rules[i].marks & TURNS,
                };
}

void flow_machine_init(flow_machine *machine, bool directed)
{
    for (unsigned flags = 0; flags < FLOW_FLAGS; flags++)
        for (unsigned data = 0; data < 2; data++)
            machine->events[flags][data] = (uint8_t)event_of_flags(flags, data);
    for (unsigned state = 0; state < FLOW_STATES; state++)
        for (unsigned event = 0; event < FLOW_EVENTS; event++)
            for (unsigned side = 0; side < FLOW_SIDES; side++)
                machine->steps[state][event][side] =
                    (flow_step){.next = (uint8_t)state, .note = scan_notes[event]};
    apply_machine_rules(machine, common_rules, sizeof common_rules / sizeof common_rules[0]);
    if (directed)
        apply_machine_rules(machine, directed_rules,
                            sizeof directed_rules / sizeof directed_rules[0]);
}
