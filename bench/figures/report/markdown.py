"""As much of Markdown as our pages use, as HTML: paragraphs, lists, tables, headings, bold, code."""

import html
import re


def inline(text):
    """A line of text. Links become their text, since their targets are not part of the page."""
    parts = re.split(r"`([^`]+)`", html.escape(text, quote=False))
    return "".join(f"<code>{part}</code>" if i % 2 else emphasized(part)
                   for i, part in enumerate(parts))


def emphasized(text):
    text = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", text)
    text = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", text)
    return re.sub(r"(?<![*\w])\*([^*]+)\*(?![*\w])", r"<em>\1</em>", text)


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def table(lines):
    """In a box of its own, which scrolls if the table is wider than a phone."""
    head, rule, *rows = map(cells, lines)
    kinds = [' class="number"' if mark.endswith(":") else "" for mark in rule]

    def row(tag, texts):
        return "<tr>" + "".join(f"<{tag}{kind}>{inline(text)}</{tag.split()[0]}>"
                                for text, kind in zip(texts, kinds)) + "</tr>"
    body = "".join(row("td", texts) for texts in rows)
    label = html.escape(" and ".join(filter(None, head[:2])) or "results")
    return (f'<div class="wide" tabindex="0" role="region" aria-label="Table: {label}"><table><thead>'
            f'{row("th scope=" + chr(34) + "col" + chr(34), head)}</thead>'
            f"<tbody>{body}</tbody></table></div>")


def block(lines, level):
    first = lines[0]
    if first.startswith("|"):
        return table(lines)
    if first.startswith("- "):
        items = " ".join(line.strip() for line in lines)[2:].split(" - ")
        return "<ul>" + "".join(f"<li>{inline(item)}</li>" for item in items) + "</ul>"
    if first.startswith("#"):
        depth = level + len(first) - len(first.lstrip("#")) - 1
        return f"<h{depth}>{inline(first.lstrip('# '))}</h{depth}>"
    return f"<p>{inline(' '.join(lines))}</p>"


def to_html(text, level):
    """level: of the heading that # stands for"""
    text = re.sub(r"<!--.*?-->\n?", "", text, flags=re.S)
    parts = re.split(r"^```\w*\n(.*?)^```$", text, flags=re.S | re.M)
    return "\n".join(code(part) if i % 2 else blocks(part, level)
                     for i, part in enumerate(parts) if part.strip())


def code(text):
    return f'<pre class="wide" tabindex="0"><code>{html.escape(text, quote=False)}</code></pre>'


def blocks(text, level):
    parts = [part.strip("\n").splitlines() for part in re.split(r"\n\s*\n", text) if part.strip()]
    return "\n".join(block(lines, level) for lines in parts)


def section(text, title):
    """What is below a heading of the second level."""
    match = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", text, flags=re.S | re.M)
    return match.group(1).strip() if match else ""
