"""The tables of doc/benchmarks.md, from the JSON of the steps."""

from table import Table, count, megabytes, number, share

TIMES = ["hit, ns", "miss, ns", "hit, batch, ns", "miss, batch, ns"]
NS = ["ns_hit", "ns_miss", "ns_hit_batch", "ns_miss_batch"]


def times(row, names):
    return [number(row.get(name)) for name in names]


def rounds(report):
    return f"median of {report['rounds']} interleaved round{'s' if report['rounds'] > 1 else ''}"


def filters(report):
    names = {"blocked": "bloom", "compact": "compact", "standard": "standard Bloom filter",
             "libbloom": f"libbloom {report['libbloom']}"}
    rows = []
    for row in report["filters"]:
        kind, _, batch = row["name"].partition("_")
        rows.append([names[kind] + (", in batches" if batch else ""), number(row["bits_per_item"]),
                     share(report["error"]), share(row["false_positive"], 4),
                     *times(row, ["ns_add", "ns_hit", "ns_miss"]), number(row["hit_vs_libbloom"]),
                     number(row["miss_vs_libbloom"])])
    return [Table("filters", "Filters", [
        "filter", "bits per key", "error promised", "observed", "add, ns", "hit, ns", "miss, ns",
        "hit, × libbloom", "miss, × libbloom"], rows,
        f"{count(report['items'])} keys of {report['key_bytes']} bytes; processor time per key, "
        f"including the hash; batches of {report['batch']}, {rounds(report)}. The standard Bloom "
        "filter is ours, without blocks. × libbloom: how many times as fast.")]


def maps(report):
    def name(row):
        return row["engine"] + (f", {row['shape']} shape" if row["shape"] else "")

    def line(row, first):
        return [first, share(row["error"]), share(row["false_negative"] + row["incorrect"]),
                share(row["false_positive"]), number(row["bytes_per_key"]),
                *times(row, ["ns_insert", *NS])]

    columns = ["error promised", "misread", "false positives", "bytes per key", "insert, ns", *TIMES]
    first, few = report["maps"][0], report["values"]
    how = (f"processor time per key, without the hash; batches of {first['batch']}, "
           f"{rounds(first)}. Misread: present keys that are reported absent or unsure, or with "
           "another value.")
    return [
        Table("maps", "Maps", ["map", *columns], [line(row, name(row)) for row in report["maps"]],
              f"{count(first['items'])} keys with one of {first['values']} values; {how}"),
        Table("values", "Maps with few and with many values", ["map", *columns],
              [line(row, f"{row['engine']}, {row['values']:,} values") for row in few],
              f"{count(few[0]['items'])} keys; otherwise as above.")]


def maplet(report):
    exact = report["exact"]
    names = ["ns_insert", *NS]
    return [Table("maplet", "The table inside maps, and an exact one", [
        "table", "error promised", "observed", "bytes per entry", "insert, ns", *TIMES], [
            ["maplet", share(report["error"]), share(report["false_positive"]),
             number(report["bits_per_entry"] / 8), *times(report, names)],
            ["exact hash table", "0", "0", number(exact["bytes_per_entry"]), *times(exact, names)]],
        f"{count(report['items'])} entries with {report['value_bits']}-bit values; processor time "
        f"per entry, without the hash; {rounds(report)}. The exact table has 64-bit keys and 32-bit "
        "values in open addressing, at most 7 of 10 slots in use.")]


def memcached(report):
    rows = [[row["name"] if row["name"] != "memcached" else f"memcached {report['version']}",
             number(row["bytes_per_pair"]),
             *times(row, ["ns_update", "ns_delete", *NS])] for row in report["stores"]]
    return [Table("memcached", "Maps and Memcached", [
        "store", "bytes per pair", "update, ns", "delete, ns", "hit, ns", "miss, ns",
        f"hit, {report['batch']} at once, ns", f"miss, {report['batch']} at once, ns"], rows,
        f"The workload of the kBF papers: {count(report['pairs'])} pairs with one of "
        f"{report['values']} values, keys of {report['key_bytes']:.0f} and values of "
        f"{report['value_bytes']:.0f} bytes on average. memcached over loopback, maps in the process "
        f"with an error of {share(report['error'])}; wall-clock time, {rounds(report)}. For an equal "
        "transport see the server's commands below.")]


def windows(report):
    titles = {"compact": "compact", "ring": "ring of Bloom filters", "rbf": "RBF", "exact": "exact"}
    rows, first, burst = [], report["windows"][0], report["burst"]

    def name(row):
        published = row.get("mode") not in (None, "improved")
        return titles.get(row["engine"], row["engine"]) + (", as published" if published else "")

    for row in report["windows"]:
        rows.append([name(row), number(row["bits_per_element"]),
                     share(0 if row["engine"] == "exact" else row["error"]),
                     share(row["false_positive"]),
                     share(row["forgotten_early"] / row["promised_asked"]),
                     *times(row, ["ns_add", *NS])])
    return [
        Table("windows", "Windows", ["window", "bits per element", "error promised", "observed",
                                     "forgotten early", "add, ns", *TIMES], rows,
              f"{count(first['elements'])} elements in a window, memory at the worst point of a "
              f"generation; processor time per element, without the hash; {rounds(first)}. A ring "
              "drops its oldest filter; RBF, a single filter, is cleared when it is full."),
        Table("burst", "A window under a burst", [
            "window", "worst error", "bytes before", "bytes at most", "bytes after"],
              [[name(row), share(row["worst_error"]), *(f"{row['bytes_' + when]:,}"
                                                        for when in ("before", "peak", "after"))]
               for row in burst["windows"]],
              f"{count(burst['elements'])} elements in a window of 8 s; then {burst['times']} times "
              "as many for 6 s; then as before.")]


def indexes(report):
    def name(row):
        if row["engine"] == "dba":
            return f"dba, groups of {row['group']}"
        return "exact hash table" if row["engine"] == "exact" else row["engine"]

    def table(title, label, rows, error, note):
        return Table(label, title, ["index", "error promised", "observed", "bits per element",
                                    "add, ns", *TIMES],
                     [[name(row), share(0 if row["engine"] == "exact" else error),
                       share(row["false_positive"]), number(row["bits_per_element"]),
                       *times(row, ["ns_add", *NS])] for row in rows], note)

    how = (f"error: absent elements with any candidate; processor time per element, without the "
           f"hash; batches of {report['batch']}, {rounds(report)}.")
    engines = report["engines"]["indexes"]
    return [
        table("Indexes", "indexes", report["indexes"], report["error"],
              f"{report['units']} units of {count(report['unit_capacity'])} elements; look-ups return "
              f"the units; {how} The exact table has one unit for each element, and so does less."),
        table("Indexes of fewer units", "units", engines, report["engines"]["error"],
              f"{engines[0]['units']} units of {count(engines[0]['unit_capacity'])} elements; "
              "otherwise as above.")]


def seen(report):
    names = {"bloomery": "`bloomery seen`", "awk": f"`awk '!x[$0]++'` ({report['awk_is']})",
             "sort": "`sort -u`"}
    rows = [[title, f"{row['seconds']:.2f}", f"{row['processor_seconds']:.2f}",
             megabytes(row["peak_bytes"]), number(row["peak_bytes"] / report["lines"]),
             number(row["times_as_long"])]
            for key, title in names.items() if (row := report[key])]
    return [Table("seen", "Lines without repeats", [
        "program", "seconds", "processor, s", "memory, MB", "bytes per line", "× the time"], rows,
        f"{count(report['lines'])} lines of 16 bytes, 1 in 20 a repeat; error promised "
        f"{share(report['error'])}: {report['false_drops']} of {count(report['distinct'])} first "
        f"lines dropped, at most {number(report['expected_false_drops'])} expected; wall-clock time, "
        f"{rounds(report)}; memory: the peak of each program.")]


def flows(report):
    programs = report["programs"]
    rows = [[title, number(row["processor_seconds"]),
             number(1e9 * row["processor_seconds"] / programs["packets"]), f"{row['flows']:,}",
             megabytes(row["peak_bytes"]), number(row["bytes_per_flow"])]
            for key, title in (("bloomery", "`bloomery flows`"), ("softflowd", "softflowd"))
            if (row := programs[key])]
    missing = "" if programs["softflowd"] else " softflowd is not installed."
    engines = {"libpcap": "libpcap alone", "compact": "compact", "kbf": "kbf", "exact": "exact"}
    whole, heads = report["whole_packets"], report["first_128_bytes"]

    def engine(key, title):
        row, head = whole[key], heads.get(key)
        live = row.get("most_live_flows")
        return [title, number(row["seconds"]), number(row["relative"]),
                number(head and head["seconds"]), number(head and head["relative"]),
                f"{live:,}" if live else "–", number(row["most_flow_bytes"] / live) if live else "–"]

    return [
        Table("flows", "Flows", ["program", "processor, s", "ns per packet", "flows", "memory, MB",
                                 "bytes per flow"], rows,
              f"{count(programs['packets'])} packets of generated traffic, of which the TCP packets "
              "are followed. A program that reads a file keeps all flows until the end, as softflowd "
              f"always does; bytes per flow: growth of the resident memory; {rounds(programs)}."
              f"{missing}"),
        Table("flow-engines", "Engines of `bloomery flows`", [
            "engine", "whole packets, s", "relative", "128 bytes, s", "relative", "live flows",
            "bytes per flow"], [engine(*pair) for pair in engines.items()],
              f"{count(report['packets'])} packets, {report['connections']:,} connections, in one "
              "process; processor time, in turns of a million packets; relative: packets per second, "
              "where libpcap alone is 1.")]


def server(report):
    jobs = {"map": "map", "window": "window", "counter": "counter", "filter": "filter"}
    rows = [[f"{jobs[row['job']]}: `{row['name']}`", number(row["bytes_per_item"]),
             share(row["error"]) if row["ours"] else "0", share(row["observed"]),
             *times(row, ["ns_add", "ns_hit", "ns_miss"]), f"{row['per_second_add']:,.0f}",
             f"{row['per_second_hit']:,.0f}"] for row in report["requests"]]
    return [Table("server", "The server's commands and the module's", [
        "requests", "bytes per item", "error promised", "observed", "add, ns", "hit, ns", "miss, ns",
        "adds per second", "hits per second"], rows,
        f"{report['server']}, one connection, pipelines of {report['pipeline']}; "
        f"{count(report['items'])} keys of 16 bytes with one of {report['values']} values, or ids of "
        "19 bytes, remembered for an hour. Add: a new item; hit: a present one, or an operation that "
        "is repeated. Times are processor time of the server for a request; requests per second also "
        f"depend on the client, which is a Python program; {rounds(report)}. Between `SET NX EX` and "
        "`INCRBY` a client waits for a reply; here it does not, so the usual way takes longer than "
        "this.")]


def dedup(report):
    base = report["stores"][0]

    def by(row, key):
        return f"{row[key] / base[key]:.2f}"

    rows = [[row["name"], megabytes(row["data_bytes"]), by(row, "data_bytes"),
             f"{row['mean_chunk']:.0f}", megabytes(row["repository_bytes"]),
             by(row, "repository_bytes"), number(row["index_bytes_per_chunk"]),
             f"{row['processor_seconds']:.2f}",
             f"{base['processor_seconds'] / row['processor_seconds']:.1f}"]
            for row in report["stores"]]
    versions = report["versions"]
    tables = [Table("dedup", "Backups", [
        "store", "chunk data, MB", "× borg", "mean chunk", "repository, MB", "× borg",
        "index, bytes per chunk", "processor, s", "× faster"], rows,
        f"{len(versions)} versions of typescript, {versions[0]} to {versions[-1]}, as unpacked trees "
        f"of {report['bytes'] / 1e6:.0f} MB in all, one put after another with a warm cache; no "
        f"compression, no encryption; {report['borg']} with `--chunker-params {report['chunker']}`. "
        "The mean is over all chunks, duplicates included. The index is what is in memory for each "
        "chunk that is stored.")]
    if report.get("large"):
        tables.append(Table("dedup-large", "A larger backup", [
            "store", "peak memory, MB", "index, bytes per chunk", "chunks"],
            [[f"bloomery, {one['engine']}", megabytes(one["peak_bytes"]),
              number(one["index_bytes_per_chunk"]), f"{one['chunks']:,}"]
             for one in report["large"]], "The same trees and random data, 1.5 GB in all."))
    return tables


SECTIONS = {"filters": filters, "maps": maps, "maplet": maplet, "memcached": memcached,
            "server": server, "windows": windows, "indexes": indexes, "seen": seen, "flows": flows,
            "dedup": dedup}


def details(results, reasons):
    """All tables, and a sentence for each step that could not be measured."""
    tables = [table for name, make in SECTIONS.items() if results[name]
              for table in make(results[name])]
    return tables, [f"Not measured: {name}, because {reason}." for name, reason in reasons.items()]
