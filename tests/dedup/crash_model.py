"""What a crash may leave of the calls that record_calls.c has recorded.

After a crash at any call, everything that was synced before is on disk: content by a sync of the
file, names by a sync of the directory. Every other call may be on disk or not, independently of the
others; a write may be there in part.
"""

import os
import pathlib
import random
import struct


class File:
    """The content of a file, whatever its names are."""

    def __init__(self, content=b""):
        self.content = bytearray(content)


class Call:
    """One recorded call. `apply` changes a state; `durable_at` is the call that made it durable."""

    def __init__(self, what, **facts):
        self.what = what
        self.durable_at = None
        self.__dict__.update(facts)


def read_log(path):
    log = pathlib.Path(path).read_bytes()
    at = 0

    def number():
        nonlocal at
        at += 8
        return struct.unpack_from("<Q", log, at - 8)[0]

    def text():
        nonlocal at
        size = number()
        at += size
        return log[at - size:at]
    calls = []
    while at < len(log):
        what = chr(log[at])
        at += 1
        if what == "O":
            call = Call(what, handle=number(), path=text().decode(), flags=number())
        elif what == "W":
            call = Call(what, handle=number(), offset=number(), bytes=text())
        elif what == "T":
            call = Call(what, handle=number(), size=number())
        elif what == "S":
            call = Call(what, handle=number())
        elif what in "RL":
            call = Call(what, path=text().decode(), to=text().decode())
        else:
            call = Call(what, path=text().decode())
        calls.append(call)
    return calls


class Recording:
    def __init__(self, base, log):
        """`base`: a directory as it was before the calls; everything in it is on disk."""
        self.base = {}
        self.directories = set()
        base = pathlib.Path(base)
        for path in base.rglob("*"):
            name = str(path.relative_to(base))
            if path.is_dir():
                self.directories.add(name)
            elif path.name != "lock.mdb":
                self.base[name] = path.read_bytes()
        self.calls = [call for call in read_log(log)
                      if not getattr(call, "path", "").endswith("lock.mdb")]
        self.resolve()

    def resolve(self):
        """Finds the file of each call, splits opens into creating and truncating, and finds out when
        calls became durable."""
        names = {name: number for number, name in enumerate(self.base)}
        self.base_files = [self.base[name] for name in names]
        self.base_names = dict(names)
        count, handles = len(names), {}
        steps = []
        for call in self.calls:
            if call.what == "O":
                if call.path not in names:
                    names[call.path] = count
                    steps.append(Call("create", path=call.path, file=count))
                    count += 1
                handles[call.handle] = names[call.path], bool(call.flags & 2)
                if call.flags & 1:
                    steps.append(Call("truncate", file=names[call.path], size=0))
            elif call.what in "WTS":
                if call.handle not in handles:  # lock.mdb
                    continue
                file, at_once = handles[call.handle]
                if call.what == "S":
                    steps.append(Call("sync", file=file))
                    continue
                step = Call("write" if call.what == "W" else "truncate", file=file)
                step.__dict__.update({key: value for key, value in call.__dict__.items()
                                      if key in ("offset", "bytes", "size")})
                steps.append(step)
                if at_once:
                    steps.append(Call("sync", file=file))
            elif call.what == "R":
                names[call.to] = names.pop(call.path)
                steps.append(Call("rename", path=call.path, to=call.to))
            elif call.what == "L":
                names[call.to] = names[call.path]
                steps.append(Call("link", path=call.path, to=call.to, file=names[call.path]))
            elif call.what == "U":
                if call.path in names:
                    del names[call.path]
                    steps.append(Call("unlink", path=call.path))
            elif call.what == "M":
                steps.append(Call("mkdir", path=call.path))
            elif call.what == "D":
                steps.append(Call("directory", path=call.path))
        self.count = count
        self.steps = steps
        for number, step in enumerate(steps):
            if step.what not in ("sync", "directory"):
                continue
            for earlier in steps[:number]:
                if earlier.durable_at is None and self.covers(step, earlier):
                    earlier.durable_at = number

    @staticmethod
    def covers(step, earlier):
        if step.what == "sync":
            return earlier.what in ("write", "truncate") and earlier.file == step.file
        directory = step.path
        return earlier.what in ("create", "rename", "link", "unlink", "mkdir") and \
            os.path.dirname(getattr(earlier, "to", earlier.path)) == directory

    def build(self, end, chosen, torn=None):
        """The files after a crash before step `end`: durable steps, those in `chosen`, and a part of
        `torn`."""
        files = [File(content) for content in self.base_files]
        files += [File() for _ in range(self.count - len(files))]
        names, directories = dict(self.base_names), set(self.directories)
        for number, step in enumerate(self.steps[:end]):
            durable = step.durable_at is not None and step.durable_at < end
            if not (durable or number in chosen or (torn and torn[0] == number)):
                continue
            if step.what == "create":
                names.setdefault(step.path, step.file)
            elif step.what == "link":
                names[step.to] = step.file
            elif step.what == "rename" and step.path in names:
                names[step.to] = names.pop(step.path)
            elif step.what == "unlink":
                names.pop(step.path, None)
            elif step.what == "mkdir":
                directories.add(step.path)
            elif step.what == "truncate":
                del files[step.file].content[step.size:]
            elif step.what == "write":
                part = step.bytes[:torn[1]] if torn and torn[0] == number else step.bytes
                content = files[step.file].content
                if len(content) < step.offset:
                    content.extend(bytes(step.offset - len(content)))
                content[step.offset:step.offset + len(part)] = part
        return {name: bytes(files[file].content) for name, file in names.items()}, directories

    def states(self, seed, per_point):
        """(end, files, directories), without repetitions: at each point everything and nothing that is
        not durable, and up to per_point others."""
        rng = random.Random(seed)
        seen = set()
        for end in range(len(self.steps) + 1):
            loose = [number for number, step in enumerate(self.steps[:end])
                     if step.what not in ("sync", "directory")
                     and (step.durable_at is None or step.durable_at >= end)]
            choices = [(set(loose), None), (set(), None)]
            others = [(set(loose) - {number}, None) for number in loose]
            others += [({number}, None) for number in loose]
            others += [({n for n in loose if rng.random() < 0.5}, None) for _ in loose[:6]]
            for number in loose:
                step = self.steps[number]
                if step.what == "write" and len(step.bytes) > 512:  # a sector is written or not
                    cut = rng.randrange(1, (len(step.bytes) + 511) // 512) * 512
                    others.append((set(loose) - {number}, (number, cut)))
            choices += rng.sample(others, min(per_point, len(others)))
            for chosen, torn in choices:
                files, directories = self.build(end, chosen, torn)
                key = hash(tuple(sorted((n, hash(c)) for n, c in files.items())))
                if key not in seen:
                    seen.add(key)
                    yield end, files, directories


def write_state(directory, files, directories):
    directory = pathlib.Path(directory)
    for name in sorted(directories):
        (directory / name).mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
