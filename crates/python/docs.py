"""Write docs/python: a page for each function, from signatures and docstrings.

Usage: docs.py [--check]    (with --check: fail if a page is not what would be written)
"""

from __future__ import annotations

import inspect
import re
import sys
import textwrap
from pathlib import Path
from typing import Any

import foxtrot
from foxtrot import aio, ot, psi, ray, rot, triples

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "python"

#: The thing that a page is about, and the classes of its results.
PAGES: dict[str, tuple[Any, list[type]]] = {
    "Identity": (foxtrot.Identity, []),
    "connect": (foxtrot.connect, [foxtrot.Peer]),
    "listen": (foxtrot.listen, []),
    "bind": (foxtrot.bind, [foxtrot.Listener]),
    "serve": (foxtrot.serve, [foxtrot.Server, foxtrot.Ended]),
    "Limits": (foxtrot.Limits, []),
    "pair": (foxtrot.pair, []),
    "gateway": (foxtrot.gateway, [foxtrot.Gateway]),
    "psi.receive": (psi.receive, [psi.Intersection]),
    "psi.send": (psi.send, [psi.Report, psi.LeftOut]),
    "psi.join": (psi.join, [psi.Joined]),
    "psi.count": (psi.count, [psi.Counted]),
    "psi.sum": (psi.sum, []),
    "psi.local": (psi.local, []),
    "psi.agree_on_shards": (psi.agree_on_shards, [psi.Ticket]),
    "psi.inspect": (psi.inspect, [psi.Inspection]),
    "rot.send": (rot.send, [rot.Sent]),
    "rot.receive": (rot.receive, [rot.Received]),
    "rot.send_correlated": (rot.send_correlated, [rot.CorrelatedSent]),
    "rot.receive_correlated": (rot.receive_correlated, [rot.CorrelatedReceived]),
    "ot.send": (ot.send, []),
    "ot.receive": (ot.receive, [ot.Messages]),
    "triples.generate": (triples.generate, [triples.Triples]),
    "aio": (aio, [aio.Peer, aio.Server]),
    "ray": (ray, [ray.Report, ray.Intersection]),
}

SECTIONS = ("Args", "Attributes", "Example", "Raises", "Returns")


def file_of(name: str) -> str:
    return f"{name.lower().replace('.', '-').replace('_', '-')}.md"


def targets() -> dict[tuple[str, str], str]:
    """Pages and headings by module and name."""
    found = {}
    for name, (thing, classes) in PAGES.items():
        if not inspect.ismodule(thing):
            found[thing.__module__, thing.__name__] = file_of(name)
        elif thing is ray:
            found |= {(thing.__name__, it): f"{file_of(name)}#{it}" for it in thing.__all__ if it.islower()}
        for kind in classes:
            found[kind.__module__, kind.__name__] = f"{file_of(name)}#{kind.__name__.lower()}"
    return found


def sections(docstring: str | None) -> dict[str, str]:
    """Split a docstring: the text under no heading is under the empty name."""
    parts: dict[str, list[str]] = {"": []}
    now = ""
    for line in inspect.cleandoc(docstring or "").splitlines():
        if line.rstrip(":") in SECTIONS and line.endswith(":"):
            now = line[:-1]
            parts[now] = []
        elif now and line and not line.startswith(" "):
            # Text goes on below a section.
            now = ""
            parts[now] += ["", line]
        else:
            parts[now].append(line)
    return {name: textwrap.dedent("\n".join(lines)).strip("\n") for name, lines in parts.items()}


def markdown(text: str, module: str, links: dict[tuple[str, str], str], this: str) -> str:
    """Turn roles and literals into Markdown, and fill paragraphs."""

    def role(found: re.Match[str]) -> str:
        *rest, name = found[1].removeprefix("foxtrot.").split(".")
        owner = f"foxtrot.{rest[0]}" if rest and rest[0].islower() else module
        shown = f"`{found[1].removeprefix('foxtrot.')}`"
        key = (module, rest[0]) if rest and not rest[0].islower() else (owner, name)
        target = links.get(key) or links.get(("foxtrot._connection", key[1]))
        if target is None or target == this:
            return shown
        return f"[{shown}]({target})"

    text = re.sub(r":(?:func|class|meth|mod):`([^`]+)`", role, text)
    text = text.replace("``", "`")
    paragraphs = [" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n", text)]
    return "\n\n".join(textwrap.fill(it, 120, break_long_words=False, break_on_hyphens=False) for it in paragraphs if it)


#: The page that has an item first, by its module and text.
SAID: dict[tuple[str, str], str] = {}


def items(text: str, module: str, links: dict[tuple[str, str], str], this: str, once: bool = False) -> str:
    """Turn `name: text` with indented lines behind it into a list. With `once`, an item of an earlier page is a link."""
    rest = (module, links, this)
    made = []
    repeated: dict[str, list[str]] = {}
    for item in re.split(r"\n(?=\S)", text):
        names, _, words = item.partition(": ")
        long = once and len(words) > 40
        first = SAID.setdefault((this.partition("-")[0], " ".join(item.split())), this) if long else this
        if first != this:
            repeated.setdefault(first, []).append(names)
            continue
        filled = markdown(f"`{names.replace(', ', '`, `')}`: {words}", *rest)
        made.append("* " + filled.replace("\n", "\n  "))
    for file, names in repeated.items():
        name = next(it for it in PAGES if file_of(it) == file)
        listed = ", ".join(f"`{it}`".replace(", ", "`, `") for it in names)
        filled = textwrap.fill(f"{listed}: as on the page [`{name}`]({file}).", 120, break_long_words=False, break_on_hyphens=False)
        made.append("* " + filled.replace("\n", "\n  "))
    return "\n".join(made)


def signature(name: str, function: Any) -> str:
    parameters = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name == "self":
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in parameters:
            parameters.append("*")
        default = "" if parameter.default is parameter.empty else f"={parameter.default!r}"
        parameters.append(parameter.name + default)
    line = f"{name}({', '.join(parameters)})"
    return "\n".join(textwrap.wrap(line, 100, subsequent_indent=" " * (len(name) + 1), break_on_hyphens=False))


def members(kind: type, links: dict[tuple[str, str], str], this: str) -> str:
    """List properties and methods with the first paragraph of their docstrings."""
    made = []
    for name, member in vars(kind).items():
        function = member.__func__ if isinstance(member, (classmethod, staticmethod)) else member
        if name.startswith("_") or not (callable(function) or isinstance(member, property)) or not function.__doc__:
            continue
        shown = f".{name}" if isinstance(member, property) else signature(f".{name}", function).replace("(cls, ", "(")
        words = sections(function.__doc__)[""].split("\n\n")[0]
        filled = markdown(f"`{' '.join(shown.split()).replace('(cls)', '()')}`: {words}", kind.__module__, links, this)
        made.append("* " + filled.replace("\n", "\n  "))
    return "\n".join(made)


def described(thing: Any, links: dict[tuple[str, str], str], this: str) -> list[str]:
    """The parts of a page below the example and the signature."""
    parts, module = sections(thing.__doc__), getattr(thing, "__module__", thing.__name__)
    made = []
    if "Args" in parts:
        made.append(items(parts["Args"], module, links, this, once=True))
    for title in ("Returns", "Raises"):
        if title in parts:
            text = parts[title]
            listed = title == "Raises"
            made.append(f"**{title}**" + (
                "\n\n" + items(text, module, links, this) if listed else " " + markdown(text, module, links, this).replace("\n", "\n")
            ))
    if "Attributes" in parts:
        made.append(items(parts["Attributes"], module, links, this, once=True))
    return made


def page(name: str) -> str:
    thing, classes = PAGES[name]
    links, this = targets(), file_of(name)
    parts = sections(thing.__doc__)
    module = getattr(thing, "__module__", thing.__name__)
    made = [f"# foxtrot.{name}"]
    if "Example" in parts:
        made.append(f"```python\n{parts['Example']}\n```")
    made.append(markdown(parts[""], module, links, this))
    if inspect.isfunction(thing):
        made.append(f"```text\n{signature(f'foxtrot.{name}', thing)}\n```")
    made += described(thing, links, this)
    if inspect.isclass(thing):
        made.append(members(thing, links, this))
    if inspect.ismodule(thing):
        made += [twins()] if thing is aio else functions(thing, links, this)
    for kind in classes:
        parts = sections(kind.__doc__)
        made += [f"## {kind.__name__}", markdown(parts[""], kind.__module__, links, this)]
        made += described(kind, links, this)
        made.append(members(kind, links, this))
    return "\n\n".join(it for it in made if it) + "\n"


def functions(module: Any, links: dict[tuple[str, str], str], this: str) -> list[str]:
    """Describe the functions of a module on its page."""
    made = []
    for name in sorted(it for it in module.__all__ if inspect.isfunction(getattr(module, it))):
        thing = getattr(module, name)
        line = signature(f"{module.__name__}.{name}", thing)
        made += [f"## {name}", markdown(sections(thing.__doc__)[""], module.__name__, links, this), f"```text\n{line}\n```"]
        made += described(thing, links, this)
    return made


def twins() -> str:
    """List the functions of `aio`."""
    made = []
    for group in (aio.psi, aio.rot, aio.ot, aio.triples):
        names = [it for it in vars(group) if not it.startswith("_")]
        made += [f"* `await aio.{group.__name__}.{it}(peer, …)`: [`{group.__name__}.{it}`]({file_of(f'{group.__name__}.{it}')})" for it in names]
    for name in ("connect", "listen", "accept", "serve"):
        words = inspect.cleandoc(getattr(aio, name).__doc__).partition("\n\n")[0]
        awaited = "" if name == "serve" else "await "
        made.append("* " + markdown(f"`{awaited}aio.{name}(…)`: {words}", "foxtrot._connection", targets(), "aio.md"))
    return "\n".join(made)


def main() -> int:
    wrong = []
    pages = {file_of(name): page(name) for name in PAGES}
    stale = {it.name for it in FOLDER.glob("*.md")} - set(pages) - {"README.md"}
    for file, text in pages.items():
        if "--check" not in sys.argv:
            (FOLDER / file).write_text(text, encoding="utf-8")
        elif not (FOLDER / file).exists() or (FOLDER / file).read_text(encoding="utf-8") != text:
            wrong.append(file)
    wrong += sorted(stale)
    if wrong:
        print(f"not what crates/python/docs.py writes: {', '.join(wrong)}", file=sys.stderr)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
