"""The generated part of a page: everything between the lines <!-- bench:begin --> and
<!-- bench:end -->. The rest of the page is not touched."""

import os
import pathlib
import stat
import tempfile

BEGIN, END = "<!-- bench:begin -->\n", "<!-- bench:end -->"


class PageError(Exception):
    pass


def split(path):
    """The page before and after the block."""
    try:
        text = pathlib.Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeError) as failed:
        raise PageError(f"{path}: {failed}") from failed
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(BEGIN) > text.index(END):
        raise PageError(f"{path} does not have the lines {BEGIN.strip()} and {END}, once each")
    return text[:text.index(BEGIN)], text[text.index(END) + len(END):]


def write_beside(path, text):
    """A new file beside this one, or beside what it links to, with the same permissions."""
    path = pathlib.Path(os.path.realpath(path))
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o644
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.chmod(name, mode)
    return name, path


def replace(blocks, others):
    """Writes `blocks`, by page, and `others`, whole files by path. All new files are complete before
    the first takes its place, so a failure leaves every old one."""
    written = []
    try:
        for path, text in blocks.items():
            before, after = split(path)
            written.append(write_beside(path, f"{before}{BEGIN}{text.strip()}\n{END}{after}"))
        for path, text in others.items():
            written.append(write_beside(path, text))
    except (OSError, PageError) as failed:
        for name, _ in written:
            os.unlink(name)
        raise PageError(str(failed)) from failed
    for name, path in written:
        os.replace(name, path)
