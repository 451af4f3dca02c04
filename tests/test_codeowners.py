"""Check who owns a path: by a table of GitHub's rules, and by another implementation where it is right."""

from __future__ import annotations

from pathlib import Path

import codeowners as oracle
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from infx.codeowners import LOCATIONS, CodeOwners, parse_codeowners
from infx.errors import InfxError
from infx.gather.signoff_clone import Revisions
from infx.git import Git
from infx.policy.load import default_policy

# File (a line ends at `;`), path, owners in their order (`-` means no owner). Each row is documented behavior.
CASES = [
    ("* @all;*.js @js", "src/a.js", "@js"),
    ("*.js @js;* @all", "src/a.js", "@all"),
    ("*.js @js", "deep/er/a.js", "@js"),
    ("/build/logs/ @d", "build/logs/x/y.txt", "@d"),
    ("/build/logs/ @d", "a/build/logs/y.txt", "-"),
    ("docs/* @d", "docs/a.md", "@d"),
    ("docs/* @d", "docs/b/a.md", "-"),
    ("docs/* @d", "x/docs/a.md", "-"),
    ("apps/ @d", "apps/a/b.c", "@d"),
    ("apps/ @d", "x/apps/a/b.c", "@d"),
    ("apps/ @d", "apps", "-"),
    ("/docs/ @d", "x/docs/a", "-"),
    ("**/logs @d", "build/logs/x.txt", "@d"),
    ("**/logs @d", "logs/x.txt", "@d"),
    ("**/logs @d", "a/b/logs/c/x.txt", "@d"),
    ("/apps/ @d;/apps/github", "apps/github", "-"),
    ("/apps/ @d;/apps/github", "apps/github/x", "-"),
    ("/apps/ @d;/apps/github", "apps/x", "@d"),
    ("* @a # inline comment @b", "x", "@a"),
    ("*.js @a #x", "x.js", "@a"),
    ("/a\\ b/c.txt @d", "a b/c.txt", "@d"),
    ("/a/**/z.txt @d", "a/z.txt", "@d"),
    ("/a/**/z.txt @d", "a/b/c/z.txt", "@d"),
    ("/a/** @d", "a/b/c/z.txt", "@d"),
    ("/a/** @d", "a", "-"),
    ("foo @d", "x/foo", "@d"),
    ("foo @d", "x/foo/bar", "@d"),
    ("/foo @d", "foo/bar", "@d"),
    ("a/b @d", "x/a/b", "-"),
    ("a/b @d", "a/b/c", "@d"),
    ("*.JS @d", "a.js", "-"),
    ("f?o.txt @d", "foo.txt", "@d"),
    ("f?o.txt @d", "f/o.txt", "-"),
    ("* @a;!keep.txt @b", "keep.txt", "@a"),
    ("* @a;[ab].txt @b", "a.txt", "@a"),
    ("* @a;\\#x.txt @b", "#x.txt", "@a"),
    ("* docs@example.com @o/t", "x", "docs@example.com @o/t"),
    ("* @a;;# c;    ;/x @b", "x", "@b"),
    ("\t*.md\t@a\t@b", "x.md", "@a @b"),
    ("* @a\r;/x @b\r", "x", "@b"),
    ("/configs/amd-*.yaml @amd", "configs/amd-master.yaml", "@amd"),
    ("/configs/amd-*.yaml @amd", "configs/x/amd-master.yaml", "-"),
    ("*/x.txt @d", "a/x.txt", "@d"),
    ("*/x.txt @d", "a/b/x.txt", "-"),
    ("/a/*/ @d", "a/b/c.txt", "@d"),
    ("/a/* @d", "a/b/c.txt", "-"),
    ("* @a;/bad owner-without-at", "bad", "@a"),
    ("a**b @d", "a/x/b", "-"),
    # The last match wins whatever stood before; a line without owners takes ownership away.
    ("* @fallback;/lib/w @first;/lib/w/p.json @pkg;/lib/w @last", "lib/w/p.json", "@last"),
    ("/apps/ @o;/apps/gh", "apps/gh/x", "-"),
    # Details of the same rules.
    ("/* @d", "a.txt", "@d"),
    ("/* @d", "a/b.txt", "-"),
    ("** @d", "a/b.txt", "@d"),
    ("/a/b*/ @d", "a/bcd/e", "@d"),
    ("*.y @d # [x]", "a.y", "@d"),
    ("/a.b @d", "axb", "-"),
    ("/a @d", "a\nb", "-"),
]


def parse(text: str) -> CodeOwners:
    return parse_codeowners(text.replace(";", "\n"), "CODEOWNERS")


@pytest.mark.parametrize(("text", "path", "owners"), CASES)
def test_owners(text: str, path: str, owners: str) -> None:
    rule = parse(text).find_rule(path)
    assert (" ".join(rule.owners) if rule else "") == owners.replace("-", "", int(owners == "-"))


def test_accounts_of_every_kind_own() -> None:
    """A managed account's login has `_` in it, one from the early days may end in `-`."""
    given = parse("* @a;/x @amy_acme;/y @noor-;/z @acme-co/team_1")
    assert [rule.owners[0] for rule in given.rules] == ["@a", "@amy_acme", "@noor-", "@acme-co/team_1"]
    assert given.problems == ()


def test_last_line_is_named() -> None:
    rule = parse("* @a;/x @b;# end").find_rule("x")
    assert rule is not None
    assert (rule.pattern, rule.line) == ("/x", 2)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("!keep.txt @b", "negation"),
        ("[ab].txt @b", "character ranges"),
        ("a[ @b", "character ranges"),
        ("/a//b @b", "doubled slashes"),
        ("\\#x @b", "escaped #"),
        ("/bad noone", "'noone'"),
        ("/bad @a noone", "'noone'"),
        ("/bad @", "'@'"),
        ("/bad @a//b", "'@a//b'"),
        ("/x @b, @c", "'@b,'"),
        ("/x @b\u3001@c", "'@b\u3001@c'"),
        ("/x \uff20b", "'\uff20b'"),
        ("/x\u00a0@b", "U+00A0"),
        ("/x\u200b @b", "U+200B"),
        ("/x\ufffd @b", "U+FFFD"),
        ("/x\x0c@b", "U+000C"),
        ("@b", "an owner without a path"),
        ("@b @c", "an owner without a path"),
        ("b@example.org", "an owner without a path"),
        ("/ @b", "no path can match '/'"),
        ("./x @b", "no path can match './x'"),
        ("/a/../x @b", "no path can match '/a/../x'"),
        ("<<<<<<< HEAD", "'HEAD'"),
        ('"/x.yaml" @b', "as part of the file name"),
        ("'/x.yaml' @b", "as part of the file name"),
        ("`/x.yaml` @b", "as part of the file name"),
        ("/x.yaml: @b", "'/x.yaml:'"),
        ("/x.yaml, @b", "'/x.yaml,'"),
        ("/{x,y}.yaml @b", "'/{x,y}.yaml'"),
        ("a\\x.yaml @b", "as part of the file name"),
    ],
)
def test_unreadable_lines_are_reported(line: str, words: str) -> None:
    (problem,) = parse(f"* @a;{line}").problems
    assert (problem.path, problem.line) == ("CODEOWNERS", 2)
    assert words in problem.message


@pytest.mark.parametrize(
    "text",
    ["", "\n\n", "# only a comment\n", "!x @a\n", "[x] @a\n", "@noor\n", "# who\n@acme/core\n", "*\n", "/x # @a\n"],
)  # fmt: skip
def test_a_file_without_owners_is_refused(text: str) -> None:
    with pytest.raises(InfxError, match="names no owner for any path"):
        parse_codeowners(text, "CODEOWNERS")


@pytest.mark.parametrize("path", ["configs/amd.yaml", "/configs/amd.yaml", "//configs/amd.yaml"])
@pytest.mark.parametrize("pattern", ["configs/amd.yaml", "/configs/amd.yaml", "/configs/", "amd.yaml"])
def test_a_leading_slash_does_not_change_the_owner(pattern: str, path: str) -> None:
    rule = parse(f"* @a;{pattern} @b").find_rule(path)
    assert rule is not None
    assert rule.line == 2


def test_size_limit() -> None:
    line = "* @a\n"
    assert parse_codeowners(line + "#" * (3 * 1024 * 1024 - len(line)), "CODEOWNERS").rules
    with pytest.raises(InfxError, match="3 MB"):
        parse_codeowners(line + "#" * (3 * 1024 * 1024 - len(line) + 1), "CODEOWNERS")


@pytest.mark.parametrize(
    ("present", "chosen"),
    [(LOCATIONS, ".github/CODEOWNERS"), (LOCATIONS[1:], "CODEOWNERS"), (LOCATIONS[2:], "docs/CODEOWNERS")],
)
def test_search_order(tmp_path: Path, present: tuple[str, ...], chosen: str) -> None:
    codeowners = _revisions(tmp_path, *present).read_codeowners()
    assert codeowners is not None
    assert codeowners.path == chosen


def test_no_file(tmp_path: Path) -> None:
    # Check 0 has the outcome of this: "no file" in tests/signoff/cases.py.
    assert _revisions(tmp_path, "README.md").read_codeowners() is None


def _revisions(folder: Path, *present: str) -> Revisions:
    """Return a repository whose only commit, the base branch's tip, has these files."""
    git = Git(folder)
    git.run("init", "--quiet")
    for path in present:
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text("* @noor\n")
    git.run("add", "--all")
    who = ("-c", "user.name=mia", "-c", "user.email=mia@users.noreply.github.com")
    git.run(*who, "commit", "--quiet", "--message", "files")
    tip = git.commit("HEAD")
    return Revisions(git=git, policy=default_policy(), base=tip, fork=tip, head=tip)


@pytest.mark.parametrize(
    ("pattern", "catch_all"),
    [
        ("*", True),
        ("**", True),
        ("/**", True),
        ("**/*", True),
        ("/*", False),
        ("*.md", False),
        ("/a/**", False),
    ],
)
def test_catch_all(pattern: str, catch_all: bool) -> None:
    assert parse(f"{pattern} @a").rules[0].is_catch_all is catch_all


WORD = st.text("ab.*?+(){}|$^@-", min_size=1, max_size=4)
PATTERN = st.builds(
    lambda lead, segments, tail: lead + "/".join(segments) + tail,
    st.sampled_from(["", "/"]),
    st.lists(st.one_of(WORD, st.just("**"), st.just("*")), min_size=1, max_size=4),
    st.sampled_from(["", "/"]),
)
PATH = st.lists(
    st.text("ab.+(){}|$^@-", min_size=1, max_size=3).filter(lambda name: name not in {".", ".."}),
    min_size=1,
    max_size=4,
).map("/".join)


@given(
    st.lists(st.tuples(PATTERN, st.lists(st.sampled_from(["@a", "@o/t", "c@d.ef"]), max_size=2)), max_size=4),
    PATH,
)
def test_properties_agree_with_the_oracle(lines: list[tuple[str, list[str]]], path: str) -> None:
    """Compare with another implementation, for the syntax that it knows (no `#`, `[`, `!`, no bad owners)."""
    text = "".join(f"{pattern} {' '.join(owners)}\n" for pattern, owners in lines)
    # `**` with other characters in a segment is undocumented; so is `*` right before or after `**`.
    assume(all("**" not in s or s == "**" for pattern, _ in lines for s in pattern.split("/")))
    expected = [name for _, name in oracle.CodeOwners(text).of(path)]
    rule = parse_codeowners("zzz @z\n" + text, "CODEOWNERS").find_rule(path)
    assert list(rule.owners if rule else ()) == expected
