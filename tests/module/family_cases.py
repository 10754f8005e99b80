"""Tests of the commands of every family, for the module_*_test.py files."""

from server_runner import pairs

# Items that have no words in common with the commands, and items that have.
ODD_ITEMS = [b"", b"\0", b"\0\0", b"\xff" * 300, "Übergröße".encode(), b"\r\n", b"LIKE", b"AT",
             b"ITEMS", b"FIELDS", b"x" * 100000]

# What is no value of an option, and what the error says about it, by the kind of the value.
NO_VALUES = {
    "count": {"is not a count": ("many", "", b"1\0", b"1\0\r\n2"), "is not a whole number": ("1.5",)},
    "fraction": {"is not a fraction": ("nan", "0x1p-4", "")},
    "time": {"is not a time such as": ("soon", "", "60 s", "1M", b"1\0"),
             "is not a whole number": ("0.5",)},
    "size": {"is not a size": ("lots", "")},
    "number": {"is not a whole number, digits only": ("1k", "2^64", "", "x")}}


def some(count, words, first=0):
    """The words for each of some numbers."""
    return " ".join(words.format(i) for i in range(first, first + count))


class Options:
    """OPTIONS of CREATE: {name: (kind of the value, a value, …)}; all but the first value are out of
    range."""

    def test_values_of_options(self):
        create, key, *rest = self.words(self.CREATE)
        for name, (kind, valid, *outside) in self.OPTIONS.items():
            base = [] if name in rest else rest
            wrong = [(text, "ERR", value) for text, values in NO_VALUES[kind].items()
                     for value in values]
            wrong += [("is not between", "RANGE", value) for value in outside]
            for text, word, value in wrong:
                shown = repr(value)[2:-1].replace(r"\r\n", r"\x0d\x0a") if isinstance(value, bytes) else value
                self.refused(word, create, key, *base, name, value, text=f"{name} '{shown}' {text}")
            self.refused("ERR", create, key, *base, name, text=f"{name} needs a value")
            self.refused("ERR", create, key, *base, name, valid, name.lower(), valid,
                         text=f"{name} is given twice")

    def words(self, line, prefix=None):
        return f"{prefix or self.PREFIX}.{line}".split()


class Described(Options):
    """A class with these tests says what is true of its family in rows. A line is a command without
    the prefix; several are separated by "; ". Keys are named k.

    PREFIX      of the commands
    COMMANDS    every command at least once, as a line, and its keys
    INTERNAL    the same for BLOOMERY.PREFIX.*, which clients never send
    MADE        lines that make the key k
    SHORT       lines with a wrong number of arguments
    ABSENT      {line: its reply if there is no key k}; the key is then not made
    NEEDED      lines that are refused if there is no key k, with the text NO_KEY
    HISTORY     ((line, the events that it causes, each "event key"), …)
    DEFAULTS    {field of INFO: its value in a key that CREATE makes without options}
    PRESETS     {setting: (field of INFO, its value by default, another value)}; CREATE, the line;
                BUSY, the error if the key exists
    ADDED       lines that make a key k, the items that it has then, and what INFO counts meanwhile
    STORE, ASK  commands that add items, and that query them; FOUND, the reply for each of them
    READER      commands that a user may call; MAY, a line that works for him on the keys that he
                may read; MAY_NOT, lines that do not
    """

    INTERNAL = (("LOAD k 0 x", "k"),)
    CREATE, BUSY, NO_KEY = "CREATE k", "BUSYKEY", "no such key"
    ABSENT, DEFAULTS, PRESETS, OPTIONS = {}, {}, {}, {}
    STORE = SHORT = NEEDED = HISTORY = READER = ADDED = ""

    def run_lines(self, lines, client=None):
        return [(client or self.client)(*self.words(line)) for line in lines.split("; ")]

    def lines(self):
        """(prefix, line, keys) of all commands."""
        yield from ((self.PREFIX, *command) for command in self.COMMANDS)
        yield from ((f"BLOOMERY.{self.PREFIX}", *command) for command in self.INTERNAL)

    def test_described(self):
        listed = {name.decode().upper() for name in
                  self.client("COMMAND", "LIST", "FILTERBY", "MODULE", "bloomery")}
        names = {f"{prefix}.{line.split()[0]}" for prefix, line, _ in self.lines()}
        self.assertEqual({name for name in listed if name.startswith(
            (f"{self.PREFIX}.", f"BLOOMERY.{self.PREFIX}."))}, names)
        for name in names:
            docs = pairs(self.client("COMMAND", "DOCS", name)[1])
            for field in (b"summary", b"complexity", b"since"):
                self.assertTrue(docs[field], (name, field))
            internal = name.startswith("BLOOMERY.")
            self.assertEqual(bool(docs.get(b"arguments")), not internal, name)
            self.assertEqual(docs[b"summary"].startswith(b"Internal: "), internal, name)

    def test_keys_are_declared(self):
        for prefix, line, keys in self.lines():
            self.assertEqual(self.client("COMMAND", "GETKEYS", *self.words(line, prefix)),
                             [key.encode() for key in keys.split()], line)

    def test_keys_of_other_types(self):
        """Each key of each command, while the others are absent."""
        other = ["BF.ADD"] if self.PREFIX == "MAP" else ["MAP.SET", "f"]
        for line, keys in self.COMMANDS:
            for key in keys.split():
                for name, *words in (["SET", "text"], [*other, "v"]):
                    self.client("FLUSHALL")
                    self.client(name, key, *words)
                    self.refused("WRONGTYPE", *self.words(line))

    def test_numbers_of_arguments(self):
        self.run_lines(self.MADE)
        for line in filter(None, self.SHORT.split("; ")):
            self.refused("ERR", *self.words(line), text="wrong number of arguments")

    def test_absent_keys(self):
        for line, reply in self.ABSENT.items():
            self.assertEqual(self.client(*self.words(line)), reply, line)
        for line in filter(None, self.NEEDED.split("; ")):
            self.refused("ERR", *self.words(line), text=self.NO_KEY)
        self.assertEqual(self.client("DBSIZE"), 0)

    def test_resp3(self):
        """The replies are the same, and INFO is a map with numbers."""
        client = self.connect()
        client.hello3()
        for line in self.ABSENT:
            replies = []
            for each in (client, self.client):
                self.client("FLUSHALL")
                self.run_lines(self.MADE)
                replies.append(each(*self.words(line)))
            self.assertEqual(*replies)
        self.client("FLUSHALL")
        self.run_lines(self.MADE)
        plain, info = (pairs(each(*self.words("INFO k"))) for each in (self.client, client))
        self.assertIsInstance(info, dict)
        for name, value in info.items():
            self.assertEqual(float(plain[name]) if isinstance(value, float) else plain[name], value)

    def test_any_bytes(self):
        if not self.STORE:
            return
        self.run_lines(self.MADE)
        for new in (1, 0):
            self.assertEqual(self.client(*self.words(self.STORE), *ODD_ITEMS),
                             [new] * len(ODD_ITEMS))
            self.assertEqual(self.client(*self.words(self.ASK), *ODD_ITEMS),
                             [self.FOUND] * len(ODD_ITEMS))

    def test_presets(self):
        """Settings apply to keys that are created without an option."""
        presets = {f"bloomery.{name}": row for name, row in self.PRESETS.items()}
        for name, (field, preset, other) in presets.items():
            before = self.client("CONFIG", "GET", name)
            self.addCleanup(self.client, "CONFIG", "SET", *before)
            for value in (preset, other):
                self.client("DEL", "k")
                self.client(*self.words(self.CREATE))
                self.refused(self.BUSY, *self.words(self.CREATE))
                info = pairs(self.client(*self.words("INFO k")))
                shown = float(info[field]) if isinstance(value, float) else info[field]
                self.assertEqual(shown, value, name)
                for more, wanted in self.DEFAULTS.items():
                    self.assertEqual(info[more], wanted, more)
                self.client("CONFIG", "SET", name, other)
            self.client("CONFIG", "SET", *before)

    def test_info_adds_up(self):
        """Over all keys, of which a copy is one."""
        if not self.ADDED:
            return
        lines, items, counted = self.ADDED

        def told(*names):
            now = self.client.info("bloomery")
            return [now[f"bloomery_{self.PREFIX.lower()}_{name}"] for name in names]
        before = told(*counted)
        self.run_lines(lines)
        self.client("COPY", "k", "copy")
        self.assertEqual([now - then for now, then in zip(told(*counted), before)],
                         list(counted.values()))
        used = [pairs(self.client(*self.words(f"INFO {key}")))[b"bytes"] for key in ("k", "copy")]
        self.assertEqual(told("keys", "items", "bytes"), [2, 2 * items, sum(used)])
        self.client("DEL", "k", "copy")
        self.wait_until(lambda: told("keys", "items", "bytes") == [0, 0, 0], "all is freed")

    def test_events(self):
        listener = self.connect()
        self.client("CONFIG", "SET", "notify-keyspace-events", "EA")
        listener("PSUBSCRIBE", "__keyevent@0__:*")
        for line, events in self.HISTORY:
            self.client(*self.words(line))
            self.client("PUBLISH", "__keyevent@0__:end", "of it")
            heard = []
            while not heard or heard[-1] != b"end of it":
                event, key = listener._read()[2:]
                heard.append(event.partition(b":")[2] + b" " + key)
            wanted = [f"{event} {key}" for event, key in map(str.split, filter(None, events.split("; ")))]
            self.assertEqual([each.decode() for each in heard[:-1]], wanted, line)

    def test_access_control(self):
        if not self.READER:
            return
        self.run_lines(self.MADE)
        self.client("ACL", "SETUSER", "reader", "on", ">x", "%R~k*",
                    *(f"+{self.PREFIX.lower()}.{name.lower()}" for name in self.READER.split()))
        self.addCleanup(self.client, "ACL", "DELUSER", "reader")
        client = self.connect()
        client("AUTH", "reader", "x")
        self.run_lines(self.MAY, client)
        for line in self.MAY_NOT.split("; "):
            self.assertEqual(client.ask(*self.words(line)).word, "NOPERM", line)
