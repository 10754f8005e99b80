"""Paragraphs of doc/errata.md, which the report shows beside the figures they concern."""

import functools
import pathlib
import re

PATH = pathlib.Path(__file__).resolve().parents[3] / "doc" / "errata.md"


@functools.cache
def paragraphs():
    """{bold beginning: paragraph, on one line}"""
    found = {}
    for paragraph in PATH.read_text(encoding="utf-8").split("\n\n"):
        text = " ".join(paragraph.split())
        title = re.match(r"\*\*(.+?)\*\*", text)
        if title:
            found[title.group(1)] = text
    return found
