"""Provide hostile texts for all fields of a pull request, and check that output contains nothing harmful."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

from markdown_it import MarkdownIt

from tests.calling import read_outputs

# Elements that infx's own Markdown may produce; other elements would come from a hostile text.
ELEMENTS = {
    "h1", "h2", "h3", "h4", "p", "ul", "ol", "li", "table", "thead", "tbody", "tr", "th", "td", "code", "pre", "em",
    "strong", "a", "br", "blockquote", "hr", "details", "summary", "sub",
}  # fmt: skip
ALLOWED_ADDRESSES = ("https://github.com/acme/bench/", "https://docs.github.com/en/actions/")
_ANNOTATION = re.compile(r"::(error|warning) (?:file=[^:,]*,)?(?:line=\d+,)?title=[a-z0-9-]+::[^\r\n]*")


def make_single_lines(canary: Path) -> tuple[str, ...]:
    """Return hostile texts without control characters, for YAML, labels and names of files."""
    touch = f"touch {canary}"
    return (
        f'a"; {touch}; echo "',
        f"a'; {touch}; echo '",
        f"$({touch})",
        f"x$(touch${{IFS}}{canary})",
        f"`{touch}`",
        f"&& {touch} || {touch} | {touch} &",
        "::set-output name=verdict::run",
        " \u00a0::add-path::/tmp",
        "::stop-commands::pause",
        "x ##[set-output name=verdict]run ##[error]gotcha",
        "%0A::error::gotcha%0D%0A::debug::x %25",
        "verdict=run",
        "verdict<<EOF",
        "--policy=mine.yaml --help -x",
        "@acme/core @mia please look, cc @everyone",
        f'<img src=x onerror="{touch}"><script>{touch}</script><details open><summary>x',
        "<!-- infx-greeting --><!-- infx-signoff -->",
        "[click](https://evil.test) ![x](https://evil.test/x.png) https://evil.test www.evil.test eve@evil.test",
        "| cell | **bold** _it_ `code` ~~gone~~ | $x^2$ | &amp; &#64;mia",
        "#1 GH-1 acme/bench#1 fixes #77 0123456789abcdef0123456789abcdef01234567",
        "```\n~~~".replace("\n", " "),
        "{head_sha} {0} %s %(x)s ${{ github.token }} {fork.__class__}",
        "\u202ereversed\u200b\u2066\ufeff",
        "../../etc/passwd /../x",
        "长" * 40,
    )


def make_texts(canary: Path) -> tuple[str, ...]:
    """Return hostile texts for bodies and commit messages, also texts that try to start a line."""
    single = make_single_lines(canary)
    return (
        *single,
        "no\nverdict=run\nhead-sha=0000000000000000000000000000000000000000",
        "x\n::set-output name=verdict::run\n::add-mask::a\n::error::gotcha",
        "x\r\n##[error]gotcha\r::warning::carriage",
        "line\nEOF\nverdict=run\nghadelimiter_1\n",
        "x\x0b::error::a\x85::error::b\u2028::error::c",
        "\x1b[31mred\x1b]0;title\x07\x00",
    )


@dataclass(frozen=True, kw_only=True)
class CommandOutput:
    """The output of a command."""

    name: str
    code: int
    out: str
    err: str
    outputs: str = ""  # the file with outputs
    summary: str = ""  # the file with the summary


def check_lines(text: str, *, annotations: bool = True) -> None:
    """Check that the runner would read no line as a command, except infx's own annotations.

    The runner splits lines at \\n and \\r, trims them, and searches `::` at the start and `##[` anywhere.
    """
    for line in re.split(r"\r\n|\n|\r", text):
        assert "##[" not in line, line
        if line.strip().startswith("::"):
            assert annotations, line
            assert _ANNOTATION.fullmatch(line), line
    assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", text), "a terminal would interpret it"


def check_outputs(text: str, expected: Collection[str]) -> Mapping[str, str]:
    """Check that a file has exactly the expected outputs, and return them."""
    outputs = read_outputs(text)
    assert set(outputs) == set(expected)
    return outputs


def check_markdown(markdown: str) -> None:
    """Check that rendered Markdown has no element, link, mention or reference from a hostile text."""
    reader = _Reader()
    reader.feed(MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(markdown))
    assert reader.elements <= ELEMENTS, reader.elements - ELEMENTS
    assert reader.attributes <= {"href", "style", "class", "start", "dir"}, reader.attributes
    for address in reader.addresses:
        assert address.startswith(ALLOWED_ADDRESSES) or not re.match(r"\w+:|//", address), address
    visible = "".join(reader.visible)
    for pattern in (
        r"@\w",
        r"(?<![\w/])#\d",
        r"\bGH-\d",
        r"\b(https?|ftp)://",
        r"\bwww\.",
        r"\b[0-9a-f]{40}\b",
    ):
        assert not re.search(pattern, visible), (pattern, re.search(rf".{{0,60}}{pattern}.{{0,60}}", visible))


class _Reader(HTMLParser):
    """A reader of a page's elements, attributes, addresses, and text outside code, where GitHub finds mentions."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: set[str] = set()
        self.attributes: set[str] = set()
        self.addresses: list[str] = []
        self.visible: list[str] = []
        self.code = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.addresses += [value or "" for name, value in attrs if name in {"href", "src"}]
        self.code += tag in {"code", "pre", "a"}

    def handle_endtag(self, tag: str) -> None:
        self.code -= tag in {"code", "pre", "a"}

    def handle_data(self, data: str) -> None:
        if not self.code:
            self.visible.append(data)
