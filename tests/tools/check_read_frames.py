#!/usr/bin/python3
"""Runs read_frames.py over all golden files, then over damaged copies that it must refuse.

usage: check_read_frames.py READER DIR
"""
import contextlib
import importlib.util
import io
import pathlib
import sys
import tempfile


def load(path):
    """The reader as a module: starting Python for each damaged copy would take seconds."""
    spec = importlib.util.spec_from_file_location("read_frames", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(reader, *arguments):
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        return reader.main([str(a) for a in arguments])


def main():
    sys.dont_write_bytecode = True
    reader, directory = load(sys.argv[1]), pathlib.Path(sys.argv[2])
    files = sorted(directory.glob("*.bry")) + sorted(directory.glob("*.log"))
    failures = []

    def expect(status, what, *arguments):
        got = run(reader, *arguments)
        if got != status:
            failures.append(f"{what}: {got} instead of {status}")

    if len(files) < 5:
        failures.append(f"only {len(files)} golden files in {directory}")
    expect(0, "all golden files", *files)
    expect(2, "no argument")
    with tempfile.TemporaryDirectory() as scratch:
        copy = pathlib.Path(scratch) / "copy"
        expect(1, "a missing file", copy)
        for path in files:
            data = path.read_bytes()
            log = ["--log"] if path.suffix == ".log" else []
            # Offsets that are never in an unsynced tail: the header and the first records.
            for place in (0, 8, 12, 24, 40, 56, 63):
                damaged = bytearray(data)
                damaged[place] ^= 0x10
                copy.write_bytes(damaged)
                expect(1, f"{path.name} with byte {place} changed", *log, copy)
            copy.write_bytes(data[:63])
            expect(1, f"{path.name} cut at 63", *log, copy)
            if log:
                continue
            for place in range(64, len(data), 37):
                damaged = bytearray(data)
                damaged[place] ^= 0x01
                copy.write_bytes(damaged)
                expect(1, f"{path.name} with byte {place} changed", copy)
                copy.write_bytes(data[:place])
                expect(1, f"{path.name} cut at {place}", copy)
            copy.write_bytes(data + b"\0")
            expect(1, f"{path.name} with a byte added", copy)
        data = bytearray((directory / "log.log").read_bytes())
        data[100] ^= 0x01
        copy.write_bytes(data)
        expect(1, "log.log with a synced record changed", "--log", copy)
        copy.write_bytes(data[:90])
        expect(0, "log.log cut inside its first record", "--log", copy)
    for failure in failures:
        print(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
