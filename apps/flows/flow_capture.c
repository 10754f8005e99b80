#include "apps/flows/flow_capture.h"

#include "cli/core/args.h"
#include "cli/core/files/saved_file.h"
#include "cli/core/output/output.h"

#include <errno.h>
#include <pcap/pcap.h>
#include <poll.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    SNAPLEN = 512, /* enough for the headers */
    WAIT_MS = 100,
    LIVE_BUFFER = 16 << 20,
    FILE_BUFFER = 64 << 10, /* stdio's 4 KiB would mean one system call for a few packets */
};

/* In a pipe, packets may come slowly, and alerts shall not wait until a round is full. */
static void flush_in_time(flow_capture *capture, uint64_t time)
{
    if (time - capture->flushed_at < WAIT_MS * UINT64_C(1000))
        return;
    flow_tracker_flush(capture->tracker);
    capture->flushed_at = time;
}

static void take_packet(u_char *opaque, const struct pcap_pkthdr *header, const u_char *bytes)
{
    flow_capture *capture = (flow_capture *)(void *)opaque;
    flow_packet *packet = flow_tracker_room(capture->tracker);
    flow_packet_kind parsed =
        flow_packet_parse(capture->link, bytes, header->caplen, header->len, packet);
    capture->counts.packets++;
    capture->counts.bytes += header->len;
    capture->counts.parsed[parsed]++;
    if (parsed == FLOW_TCP) {
        /* Files have 32 bits of each, with any value, which libpcap may return as negative. */
        packet->time =
            (uint64_t)(uint32_t)header->ts.tv_sec * 1000000 + (uint32_t)header->ts.tv_usec;
        flow_tracker_add(capture->tracker, packet);
        if (capture->prompt)
            flush_in_time(capture, packet->time);
    }
    if (capture->counts.packets == capture->most || *capture->stop)
        pcap_breakloop(capture->pcap);
}

/* ---- opening --------------------------------------------------------------------------------- */

static const char *link_name(int link)
{
    const char *name = pcap_datalink_val_to_name(link);
    return name ? name : "unknown";
}

static int set_filter(const flow_capture *capture, const char *name)
{
    struct bpf_program program;
    if (!capture->filter)
        return CLI_GO_ON;
    if (pcap_compile(capture->pcap, &program, capture->filter, 1, PCAP_NETMASK_UNKNOWN) != 0)
        return cli_fail("--filter: %s (%s)", pcap_geterr(capture->pcap), name);
    int set = pcap_setfilter(capture->pcap, &program);
    pcap_freecode(&program);
    if (set != 0)
        return cli_fail("--filter: %s (%s)", pcap_geterr(capture->pcap), name);
    return CLI_GO_ON;
}

static int begin_capture(flow_capture *capture, const char *name)
{
    capture->link = pcap_datalink(capture->pcap);
    if (!flow_link_known(capture->link))
        cli_note("%s: packets of link type %s (%d) are skipped", name, link_name(capture->link),
                 capture->link);
    return set_filter(capture, name);
}

void flow_capture_close(flow_capture *capture)
{
    if (capture->pcap)
        pcap_close(capture->pcap);
    capture->pcap = NULL;
}

/* libpcap's messages, with what to do about those that people meet. */
static int capture_failed(const flow_capture *capture, const char *name, const char *problem)
{
    const char *advice = "";
    if (strstr(problem, "file header bytes, only got 0"))
        problem = "empty, not a capture";
    if (strstr(problem, "different from the type of the first interface"))
        advice = "; libpcap reads no file whose interfaces have different link types: split it, "
                 "for example with editcap or tshark";
    else if (strstr(problem, "snapshot length") && strstr(problem, "different"))
        advice = "; libpcap reads no file whose interfaces have different snapshot lengths: split "
                 "it, for example with editcap or tshark";
    else if (strstr(problem, "unknown file format"))
        advice = "; it is neither pcap nor pcapng. A compressed capture can be piped: zcat FILE | "
                 "bloomery flows";
    else if (strstr(problem, "truncated"))
        advice = capture->counts.packets ? "; the packets before were read" : "";
    return cli_fail("%s: %s%s", name, problem, advice);
}

/* ---- files ----------------------------------------------------------------------------------- */

static int read_packets(flow_capture *capture, const char *name)
{
    int got;
    do
        got = pcap_dispatch(capture->pcap, -1, take_packet, (u_char *)(void *)capture);
    while (got > 0 && !*capture->stop);
    if (got == PCAP_ERROR && !*capture->stop) /* which may have interrupted a read */
        return capture_failed(capture, name, pcap_geterr(capture->pcap));
    return CLI_GO_ON;
}

int flow_capture_file(flow_capture *capture, const char *path)
{
    char problem[PCAP_ERRBUF_SIZE];
    static char buffers[2][FILE_BUFFER]; /* standard input keeps its own */
    bool is_stream = cli_is_stream(path);
    cli_quotation named = cli_name(path);
    const char *name = named.text;
    if (is_stream && isatty(STDIN_FILENO) == 1)
        return cli_fail("standard input is a terminal, not a capture");
    FILE *file = is_stream ? stdin : fopen(path, "rbe");
    if (!file && *capture->stop) /* which ended the wait for the writer of a FIFO */
        return CLI_GO_ON;
    if (!file)
        return cli_fail("%s: %s", name, strerror(errno));
    setvbuf(file, buffers[is_stream], _IOFBF, sizeof buffers[is_stream]);
    __fsetlocking(file, FSETLOCKING_BYCALLER); /* no lock for each read: there is one thread */
    capture->pcap = pcap_fopen_offline(file, problem);
    if (!capture->pcap) {
        if (!is_stream)
            fclose(file);
        return capture_failed(capture, name, problem);
    }
    struct stat facts;
    capture->prompt = fstat(fileno(file), &facts) == 0 && !S_ISREG(facts.st_mode);
    int code = begin_capture(capture, name);
    if (code == CLI_GO_ON) {
        capture->counts.files++;
        code = read_packets(capture, name);
    }
    flow_tracker_flush(capture->tracker);
    flow_capture_close(capture); /* also closes the file */
    return code;
}

/* ---- interfaces ------------------------------------------------------------------------------ */

static int activate_failed(const flow_capture *capture, const char *interface, int status)
{
    const char *detail = pcap_geterr(capture->pcap);
    cli_quotation name = cli_name(interface);
    if (status == PCAP_ERROR_NO_SUCH_DEVICE)
        return cli_fail("%s: no such interface; \"ip link\" lists them", name.text);
    if (status == PCAP_ERROR_PERM_DENIED || status == PCAP_ERROR_PROMISC_PERM_DENIED)
        return cli_fail("%s: no permission to capture; run as root or with the capability "
                        "CAP_NET_RAW",
                        name.text);
    return cli_fail("%s: %s%s%s", name.text, pcap_statustostr(status), *detail ? ": " : "", detail);
}

int flow_capture_open_live(flow_capture *capture, const char *interface)
{
    char problem[PCAP_ERRBUF_SIZE];
    pcap_t *pcap = pcap_create(interface, problem);
    if (!pcap)
        return cli_fail("%s: %s", cli_name(interface).text, problem);
    capture->pcap = pcap;
    pcap_set_snaplen(pcap, SNAPLEN);
    pcap_set_promisc(pcap, 1);
    pcap_set_timeout(pcap, WAIT_MS);
    pcap_set_buffer_size(pcap, LIVE_BUFFER);
    int status = pcap_activate(pcap);
    if (status < 0)
        return activate_failed(capture, interface, status);
    if (pcap_setnonblock(pcap, 1, problem) != 0)
        return cli_fail("%s: %s", cli_name(interface).text, problem);
    int code = begin_capture(capture, cli_name(interface).text);
    capture->counts.files += code == CLI_GO_ON;
    return code;
}

/* libpcap itself would wait for a packet, however long it takes. */
int flow_capture_poll(flow_capture *capture, bool *more)
{
    struct pollfd waits = {.fd = pcap_get_selectable_fd(capture->pcap), .events = POLLIN};
    poll(&waits, waits.fd >= 0, WAIT_MS);
    int got = pcap_dispatch(capture->pcap, -1, take_packet, (u_char *)(void *)capture);
    flow_tracker_flush(capture->tracker);
    *more = got >= 0 && !*capture->stop;
    if (got == PCAP_ERROR && !*capture->stop)
        return cli_fail("%s", pcap_geterr(capture->pcap));
    return CLI_GO_ON;
}

void flow_capture_drops(flow_capture *capture)
{
    struct pcap_stat stat;
    if (!capture->pcap || pcap_stats(capture->pcap, &stat) != 0)
        return;
    capture->counts.has_drops = true;
    capture->counts.dropped = stat.ps_drop;
    capture->counts.dropped_by_interface = stat.ps_ifdrop;
}
