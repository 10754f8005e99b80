"""Clients count on a cluster while replies are lost, nodes die and slots move; then every operation
is looked up. The thesis's experiment (its figure 6.7), with a cluster in place of its store.

Fault model. Each shard has two copies, and at most one of them is down, stopped or being replaced
at a time; the next fault comes only when the replica is in sync again. A node that received a slot
is not killed before its replica has confirmed what it received. A run in which the cluster left
this model by itself (a role changed that nobody had changed) is void.

Every operation has a counter of its own, so that a lost increment and a doubled one cannot hide
each other in a sum.
"""

import collections
import random
import signal
import sys
import threading
import time

from cluster_runner import TESTS, Cluster, Node, slot_of, wait_until

sys.path.insert(0, str(TESTS.parent / "clients" / "python"))
import bloomery_counter  # noqa: E402
import redis  # noqa: E402
from bloomery_counter import CounterError, Refused, Unknown  # noqa: E402

CLIENT_TIMEOUT = 1.0
NODE_TIMEOUT = 3.0


# ---- the cluster ------------------------------------------------------------------------------

class ProxiedNode(Node):
    """Announces the port of its proxy, so that redirections lead through it too."""

    def __init__(self, proxies, **settings):
        super().__init__(**settings)
        self.proxies = proxies

    def choose_ports(self):
        super().choose_ports()
        self.settings["cluster-announce-port"] = str(self.proxies.to(self.port))

    def epochs(self):
        """The current epoch of the cluster and those of all nodes, as this node knows them."""
        about = self.client("CLUSTER", "INFO").decode()
        current = next(line for line in about.splitlines() if "cluster_current_epoch" in line)
        lines = [line.split() for line in self.client("CLUSTER", "NODES").decode().splitlines()]
        return (current, *sorted((words[0], words[6]) for words in lines))

    @property
    def public_port(self):
        return int(self.settings["cluster-announce-port"])


class ProxiedCluster(Cluster):
    def __init__(self, proxies, primaries=3, **settings):
        self.proxies = proxies
        # Replicas take over only on command, so the timeout may be short; a lost election is
        # repeated after four times that.
        # A primary that was replaced becomes a replica; otherwise one whose slots went to several
        # nodes would stay an empty primary.
        super().__init__(primaries, 1, **{"cluster-node-timeout": f"{NODE_TIMEOUT * 1000:.0f}",
                                          "cluster-allow-replica-migration": "yes",
                                          "appendonly": "yes", "appendfsync": "always"} | settings)

    def make_node(self):
        return ProxiedNode(self.proxies, **self.settings)

    def url(self, name):
        return f"redis://127.0.0.1:{self.primaries()[0].public_port}/{name}"

    def roles(self):
        return {node.id: node.role for node in self.nodes}

    def settle(self):
        """Waits until each primary has a replica in sync, and all nodes agree."""
        def linked():
            primaries = self.primaries()
            return len(primaries) == self.first and all(
                "state=online" in str(node.client.info("replication").get("slave0"))
                for node in primaries) and all(
                node.client.info("replication")["master_link_status"] == "up"
                for node in self.nodes if node not in primaries)
        try:
            wait_until(linked, "every primary has a replica in sync")
            self.wait_ok(roles=True)
            wait_until(self._epochs_settled, "all nodes know all epochs")
        except TimeoutError as error:
            raise TimeoutError(f"{error}\n{self.views()}") from None

    def _epochs_settled(self):
        """A node that receives a slot, or finds that another has its epoch, raises its epoch by
        itself. A replica that is elected before the others know would get the same epoch, and lose
        to the old primary again."""
        seen = {node.epochs() for node in self.nodes}
        if len(seen) > 1:
            return False
        epochs = dict(seen.pop()[1:])
        primaries = self.primaries()
        return len({epochs[node.id] for node in primaries}) == len(primaries)

    def views(self):
        """What each node says of itself and of the others, for failures."""
        return "\n".join(f"{node}: {node.client('ROLE') if node.alive else 'dead'}\n"
                         f"{node.client('CLUSTER', 'NODES').decode() if node.alive else ''}"
                         for node in self.nodes)

    def confirmed(self, primary):
        """Waits until the replica has what the primary has now."""
        offset = primary.client.info("replication")["master_repl_offset"]

        def reached():
            line = str(primary.client.info("replication").get("slave0"))
            return "offset=" in line and int(line.split("offset=")[1].split(",")[0]) >= offset
        wait_until(reached, "the replica has confirmed")


# ---- faults -----------------------------------------------------------------------------------

class Schedule:
    """Faults by seed, one at a time; each ends when the cluster is whole again."""

    ACTIONS = ("failover", "kill", "lag", "crash", "kill_replica", "stall", "depose", "part", "move",
               "move", "move")

    def __init__(self, cluster, seed, keys, say=print, pause=0.5, actions=ACTIONS):
        self.cluster, self.source, self.keys, self.say = cluster, random.Random(seed), keys, say
        self.pause, self.actions = pause, actions
        self.count = collections.Counter()
        self.times = []  # (start, end) of each fault
        self.roles = None
        self.void = None  # why the run says nothing
        self.stuck = None  # the same, if the cluster did not recover by itself

    def run(self, seconds, enough=lambda: False):
        """For that many seconds, or until enough() is true. Each kind of fault comes once before
        the second of a kind."""
        end, number = time.monotonic() + seconds, 0
        each = sorted(set(self.actions))
        self.source.shuffle(each)
        self.cluster.settle()
        self.roles = self.cluster.roles()
        while time.monotonic() < end and not enough():
            time.sleep(self.source.uniform(0.2, 1) * self.pause)
            number += 1
            action = each.pop() if each else self.source.choice(self.actions)
            primary = self.source.choice(self.cluster.primaries())
            try:
                self._one(number, action, primary)
            except TimeoutError as error:
                self.void = self.stuck = f"not whole again after fault {number}: {error}"
                return

    def _one(self, number, action, primary):
        if self.cluster.roles() != self.roles:
            self.void = f"a role changed by itself before fault {number}"
        start = time.monotonic()
        try:
            what = getattr(self, action)(primary)
        except TimeoutError as error:
            raise TimeoutError(f"{action} {primary}: {error}\n{self.cluster.views()}") from None
        self.cluster.settle()
        self.roles = self.cluster.roles()
        self.times.append((start, time.monotonic()))
        self.count[action] += 1
        self.say(f"{number:4}  {action} {what or primary}  {time.monotonic() - start:.1f} s")

    @property
    def failovers(self):
        return sum(self.count[name] for name in ("failover", "kill", "lag", "depose"))

    def failover(self, primary):
        """The replica takes over from a living primary."""
        self.cluster.failover(primary)

    def kill(self, primary):
        """kill -9, the replica takes over, the node comes back as its replica."""
        self._back(primary, lambda: self.cluster.failover(primary, kill=True))

    def lag(self, primary):
        """Its replica gets nothing for a while, then it is killed: what the replica did not get is
        lost, and must not have been acknowledged."""
        self.cluster.proxies.tell(primary.port, "hold", True)
        time.sleep(self.source.uniform(0.2, 1))
        replica = self.cluster.replicas_of(primary)[0]
        primary.stop(kill=True)
        self.cluster.proxies.tell(primary.port, "forget")

        def replace():
            self.cluster.take_over(replica)
            self.cluster.wait_ok()
        self._back(primary, replace)

    def _back(self, primary, replace):
        """A dead primary is replaced and comes back. If its successor was elected with an epoch that
        is older than its own, the others still believe the dead one; so it is back as a primary,
        and its successor, which had no replica and so acknowledged nothing, follows."""
        try:
            replace()
        except TimeoutError as error:
            self.say(f"      {error}")
        self.cluster.restart(primary)

    def crash(self, primary):
        """kill -9, and the node comes back before anybody takes over."""
        primary.stop(kill=True)
        time.sleep(self.source.uniform(0, 0.3))
        self.cluster.restart(primary)

    def kill_replica(self, primary):
        replica = self.cluster.replicas_of(primary)[0]
        replica.stop(kill=True)
        time.sleep(self.source.uniform(0, 1.5))
        self.cluster.restart(replica)

    def stall(self, primary):
        """The process gets no processor time for a while."""
        primary.process.send_signal(signal.SIGSTOP)
        time.sleep(self.source.uniform(0.1, 2 * CLIENT_TIMEOUT))
        primary.process.send_signal(signal.SIGCONT)

    def depose(self, primary):
        """It stands still, is replaced, and wakes up without knowing."""
        replica = self.cluster.replicas_of(primary)[0]
        primary.process.send_signal(signal.SIGSTOP)
        try:
            self.cluster.take_over(replica)
            time.sleep(self.source.uniform(0, 0.5))
        finally:
            primary.process.send_signal(signal.SIGCONT)
        # The old one may also win again, and its successor gives up; what the successor accepted was
        # on no replica, and so not acknowledged.
        wait_until(lambda: "slave" in (primary.role, replica.role), "one of the two follows")
        return f"{primary}" + ("" if primary.role == "slave" else ", which came back")

    def part(self, primary):
        """Clients cannot reach it."""
        self.cluster.proxies.tell(primary.port, "part", True)
        time.sleep(self.source.uniform(0.1, 2 * CLIENT_TIMEOUT))
        self.cluster.proxies.tell(primary.port, "part", False)

    def move(self, primary):
        """A slot in which clients count moves to another node."""
        key = self.source.choice(self.keys)
        source = self.cluster.owner(key)
        target = self.source.choice([n for n in self.cluster.primaries() if n is not source])
        self.cluster.move_slots([slot_of(key)], target)
        self.cluster.confirmed(target)
        return f"of slot {slot_of(key)} from {source} to {target}"


# ---- candidates -------------------------------------------------------------------------------

class Counters(bloomery_counter.Table):
    """COUNTER.*, through our client."""

    def prepare(self):
        """Creates what the candidate needs besides the table."""

    def count(self, name):
        """Increments the counter of an operation, and a common one with it."""
        return self.add_many([(name, 1), (name[:name.index("}") + 1] + "sum", 1)])

    def parts(self):
        return [f"{{{self.name}:{i}}}:{self.record.epoch}" for i in range(self.record.parts)]

    def values(self, names):
        return [value or 0 for value in self.get_many(names)]


class Fields(Counters):
    """A field of a hash for each operation; the hash is in the slot of a part of the table."""

    @staticmethod
    def beside(key, what):
        return key.partition("}")[0] + "}:" + what

    def count(self, name):
        return self.add(name)

    def values(self, names):
        commands = [("HGET", self.beside(self._key_of(name), "hash"), name) for name in names]
        return [int(value or 0) for value in self.nodes.run(commands)]

    def _key_of(self, name):
        return self._part(bloomery_counter._tag(name.encode()))


class Plain(Fields):
    """HINCRBY of the server, retried as usual."""

    def _command(self, key, operation):
        return ("HINCRBY", self.beside(key, "hash"), operation.pairs[0][0], 1)

    def _added(self, reply):
        return [bloomery_counter.Added(reply, True)]


class Once(Fields):
    """ONCE guard id HINCRBY hash field 1."""

    def prepare(self):
        for key in self.parts():
            self.nodes.run([("ONCE.CREATE", self.beside(key, "guard"), "WINDOW",
                             self.record.window, "CAPACITY", 10**5)])

    def _command(self, key, operation):
        return ("ONCE", self.beside(key, "guard"), operation.id, "HINCRBY",
                self.beside(key, "hash"), operation.pairs[0][0], 1)

    def _added(self, reply):
        return [bloomery_counter.Added(reply[1], reply[0] == 1)]


def table(kind, cluster, name, **options):
    """A candidate: a table of this class, with a connection of its own."""
    how = {key: options.pop(key) for key in ("wait", "wait_for", "retry_for") if key in options}
    made = bloomery_counter.create(cluster.url(name), **{"timeout": CLIENT_TIMEOUT} | options)
    candidate = kind(made.nodes, made.name, made.record, **how)
    candidate.prepare()
    return candidate


# ---- the load ---------------------------------------------------------------------------------

class Worker(threading.Thread):
    """A client that counts one operation after the other, with a pause in seconds after each."""

    def __init__(self, table, number, stop, tags, pause=0):
        super().__init__(daemon=True)
        self.table, self.number, self.stop, self.tags = table, number, stop, tags
        self.pause = pause
        self.acknowledged, self.unknown, self.refused = [], [], []
        self.begun, self.done = collections.Counter(), collections.Counter()  # by tag
        self.latencies = []
        self.problem = None

    def run(self):
        try:
            for i in range(10**9):
                if self.stop.is_set():
                    return
                tag = self.tags[i % len(self.tags)]
                self.begun[tag] += 1
                self.done[tag] += self._one("{%s}%d.%d" % (tag, self.number, i))
                if self.pause:
                    self.stop.wait(self.pause)
        except BaseException as error:  # reported by the checker
            self.problem = error
            raise

    def _one(self, name):
        """Whether it was acknowledged."""
        start = time.monotonic()
        try:
            self.table.count(name)
            self.acknowledged.append(name)
            self.latencies.append(time.monotonic() - start)
            return True
        except Unknown:
            self.unknown.append(name)
        except Refused as error:
            self.refused.append((name, str(error)))
        return False


class Observer(threading.Thread):
    """Reads the common counters. A value is right if it is between what was acknowledged before and
    what was attempted until then."""

    def __init__(self, table, workers, stop):
        super().__init__(daemon=True)
        self.table, self.workers, self.stop = table, workers, stop
        self.reads, self.wrong = 0, []  # (time, tag, acknowledged, value, attempted)

    def run(self):
        tags, source = self.workers[0].tags, random.Random(1)
        while not self.stop.wait(0.01):
            tag = source.choice(tags)
            least = sum(worker.done[tag] for worker in self.workers)
            start = time.monotonic()
            try:
                value = self.table.get("{%s}sum" % tag) or 0
            except (CounterError, redis.RedisError):
                continue
            most = sum(worker.begun[tag] for worker in self.workers)
            self.reads += 1
            if not least <= value <= most:
                self.wrong.append((start, tag, least, value, most))

    def gated(self, faults, timeout):
        """The wrong reads that no fault explains: a deposed primary may answer until it knows."""
        return [read for read in self.wrong
                if not any(start <= read[0] <= end + timeout for start, end in faults)]


Outcome = collections.namedtuple("Outcome", "acknowledged unknown lost doubled problems")


def check(workers, table):
    """Looks up every operation. Lost: acknowledged and not counted. Doubled: counted more than
    once, acknowledged or not."""
    lost, doubled, problems = [], [], []
    for worker in workers:
        if worker.problem:
            problems.append(f"{type(worker.problem).__name__}: {worker.problem}")
        problems += [f"{name}: {text}" for name, text in worker.refused]
        for names, acknowledged in ((worker.acknowledged, True), (worker.unknown, False)):
            for start in range(0, len(names), 1000):
                chunk = names[start:start + 1000]
                for name, value in zip(chunk, table.values(chunk)):
                    if value == 0 and acknowledged:
                        lost.append(name)
                    if value > 1:
                        doubled.append((name, value))
    return Outcome(sum(len(w.acknowledged) for w in workers), sum(len(w.unknown) for w in workers),
                   lost, doubled, problems)
