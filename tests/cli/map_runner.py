"""Maps in a temporary directory, and the program run on them with bytes as input and output."""

from cli_runner import CommandCase

ENGINES = ("compact", "kbf")
WHOLE = "the value is not a whole number, and the values of this map are integers"
WIDE = "the value has more bits than the values of this map"


class MapCase(CommandCase):
    command = ("map",)
    subcommands = ("build", "get", "put", "del", "info", "merge", "compress", "ls", "drop", "save",
                   "restore")

    def build(self, name, pairs, *options):
        """The pairs are bytes, as the program reads them."""
        self.expect(["build", name, "--seed", "7", *options], 0, stdin=pairs)

    def info(self, name):
        return self.json("info", name, "--json")

    def make_unsure(self, name, key):
        """A key that is added twice as new becomes unsure."""
        self.expect(["put", name, key, "another value", "--new"], 0)


def numbered(first, last, values=900):
    """Bytes of pairs key<i><TAB>value<i mod values>."""
    return b"".join(b"key%d\tvalue%d\n" % (i, i % values) for i in range(first, last))


def keys(first, last):
    return b"".join(b"key%d\n" % i for i in range(first, last))
