"""The clients of counters, all called in the same way, for cluster_counter_test.py. COUNTER_TALK names
the program of counter_talk.c; see also map_agents.py."""

import os
import unittest.mock

import cluster_client_c_test
import map_agents
from map_agents import Failed

try:
    import bloomery_counter
except ImportError:  # no redis-py
    bloomery_counter = None


class Tables:
    """Both return the text of the record."""

    def create(self, name, **options):
        return self._make("create", name, options)

    def open(self, name, **options):
        return self._make("open", name, options)


class PythonAgent(Tables):
    name = "python"

    @staticmethod
    def missing():
        return map_agents.PythonAgent.missing()

    def __init__(self, base):
        self.base, self.table = base, None

    @staticmethod
    def _try(call, *given, **options):
        try:
            return call(*given, **options)
        except (bloomery_counter.BloomeryError, ValueError, TypeError) as error:
            failed = Failed(type(error).__name__, str(error))
            if hasattr(error, "operation"):
                failed.operation = error.operation.id, error.operation.sent
            raise failed from error

    def _make(self, how, name, options):
        self.close()
        self.table = self._try(getattr(bloomery_counter, how), self.base + name, **options)
        return self.table.record.text()

    def add(self, *pairs):
        return list(map(tuple, self._try(self.table.add_many, pairs)))

    def repeat(self, identity, sent, *pairs, **options):
        pairs = tuple((name.encode(), delta) for name, delta in pairs)
        operation = bloomery_counter.Operation(identity, sent, pairs)
        return list(map(tuple, self._try(self.table.repeat, operation, **options)))

    def get(self, *names):
        return self.table.get_many(names)

    def info(self):
        return self.table.info()

    def recover(self):
        return [list(map(tuple, added)) for _, added in self.table.recover()]

    def drop(self):
        self.table.drop()

    def crash(self, when, name, delta):
        """Begins to add, and crashes before it is sent, or after it was counted."""
        real = self.table._until_counted

        def crash(*arguments):
            if when == "after":
                real(*arguments)
            raise KeyboardInterrupt
        try:
            with unittest.mock.patch.object(self.table, "_until_counted", crash):
                self.table.add(name, delta)
        except KeyboardInterrupt:
            pass

    def close(self):
        if self.table and self.table.outbox:
            self.table.outbox.close()
        self.table = None

    die = close


class NodeAgent(Tables, map_agents.NodeAgent):
    """Drives counter_agent.mjs."""
    PROGRAM = "counter_agent.mjs"

    def __init__(self, base):
        super().__init__()
        self.base = base

    @staticmethod
    def _added(answer):
        return [(each["value"], each["applied"]) for each in answer]

    def _make(self, how, name, options):
        for mine, ours in (("waitFor", "wait_for"), ("retryFor", "retry_for")):
            if ours in options:
                options[mine] = 1000 * options.pop(ours)
        record = self._do(how, self.base + name, options)
        return "bloomery-counters 1 " + " ".join(f"{field}={value}" for field, value in record.items())

    def add(self, *pairs):
        return self._added(self._do("addMany", pairs))

    def repeat(self, identity, sent, *pairs, first=False):
        return self._added(self._do("repeat", {"id": identity, "sent": sent, "pairs": pairs}, first))

    def get(self, *names):
        return self._do("getMany", names)

    def recover(self):
        return list(map(self._added, self._do("recover")))

    def crash(self, when, name, delta):
        try:
            self._do("crash", when, name, delta)
        except Failed:
            pass

    def die(self):
        self._do("die")
        self.process.wait()


class CAgent(Tables):
    """Drives counter_talk.c."""
    name = "c"
    KINDS = {"UNSURE": "Unknown", "OVERFLOW": "Refused", "MISMATCH": "Mismatch",
             "NOTFOUND": "Missing"}

    @staticmethod
    def missing():
        return None if "COUNTER_TALK" in os.environ else "COUNTER_TALK is not set"

    def __init__(self, base):
        self.talk = cluster_client_c_test.Talk(base, program=os.environ["COUNTER_TALK"])
        self.begun = ""

    def do(self, *words):
        """The lines of the answer."""
        lines, said = self.talk.map(" ".join(map(str, words)))
        status, _, message = said.partition(" ")
        if status != "OK":
            failed = Failed(self.KINDS.get(status, status), message)
            failed.operation = tuple(lines[0].split()[:2]) if lines else None
            raise failed
        return lines

    @staticmethod
    def _added(line):
        words = line.split()[2:]
        return [(int(value), applied == "1") for value, applied in zip(words[::2], words[1::2])]

    def _make(self, how, name, options):
        words = []
        for option, value in options.items():
            if option == "wait":
                words.append(f"replicas={value}" if value else "nowait")
            elif option == "hot":
                words.append("hot=" + ",".join(value))
            elif option in ("window", "skew", "wait_for", "retry_for"):
                words.append(f"{option.removesuffix('_for')}={int(value * 1000)}")
            else:
                words.append(f"{option}={value}")
        self.outbox = options.get("outbox")
        self.do(how, name, *words)
        self.name_of_table = name
        return self.do("record")[0]

    def add(self, *pairs):
        return self._added(self.do("add", *(word for pair in pairs for word in pair))[0])

    def repeat(self, identity, sent, *pairs):
        return self._added(self.do("repeat", identity, sent,
                                   *(word for pair in pairs for word in pair))[0])

    def get(self, *names):
        return [None if word == "none" else int(word)
                for word in self.do("get", *names)[0].split()]

    def info(self):
        words = self.do("info")[0].split()
        return dict(zip(words[1::2], map(int, words[::2])))

    def recover(self):
        return list(map(self._added, self.do("recover")))

    def drop(self):
        self.do("drop", self.name_of_table)

    def crash(self, when, name, delta):
        """It cannot crash there, so die() writes what its outbox would contain."""
        self.add((name if when == "after" else "crashed", delta))
        with open(self.outbox, encoding="ascii") as file:
            begun = file.read().splitlines()[-2]
        if when == "before":
            begun = begun.replace("-", "-0").replace(b"crashed".hex(), name.encode().hex())
        self.begun += begun + "\n"

    def die(self):
        self.do("close")
        with open(self.outbox, "w", encoding="ascii") as file:
            file.write(self.begun)

    def close(self):
        self.talk.__exit__()
