"""Every comment is written in the policy's languages only."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import cmarkgfm
import pytest

from infx.comments.greeting import GreetingLinks, list_linked, make_greeting, make_links
from infx.comments.notices import Cause, NoticeContext
from infx.comments.sticky import Sticky
from infx.comments.visualizer import make_visualizer
from infx.errors import ProblemsError
from infx.policy.load import parse_policy
from infx.policy.model import Language, Policy
from tests.comments.examples import CAUSES, PLACE, PROBLEM, REFUSED, make_notice, project_policy, sweeps
from tests.conftest import ROOT

HAN = re.compile(r"[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]")
LIMIT = 65_536


def policy_in(*languages: Language) -> Policy:
    policy = project_policy()
    return replace(policy, comments=replace(policy.comments, languages=languages))


def every_comment(policy: Policy) -> dict[str, Sticky]:
    """Return one comment of each kind; notices with a list have too many items."""
    links = make_links(policy, "acme/bench", "https://github.com", list_linked(policy))
    visualizer = make_visualizer(
        policy, [*sweeps(), *(earlier for _ in range(25) for earlier in sweeps()[1:])]
    )
    assert visualizer is not None
    kept = {
        "greeting": make_greeting(policy, links, policy.comments.greeting.phrase),
        "visualizer": visualizer,
    }
    for cause in Cause:
        facts = CAUSES[cause]
        if cause is Cause.CONFLICT:
            facts = replace(facts, conflicts=tuple(f"benchmarks/{n}.sh" for n in range(50)))
        problems = (PROBLEM,) * 50 if cause is Cause.CHANGELOG else ()
        context = NoticeContext(
            policy=policy, facts=facts, problems=problems, clone_url=PLACE.url, reuse=REFUSED
        )
        kept[f"notice {cause}"] = make_notice(context, cause)
    cut = replace(visualizer, text="line\n" * 20_000)
    return {**kept, "cut": cut}


NAMES = list(every_comment(policy_in(Language.ENGLISH)))


@pytest.mark.parametrize("name", NAMES)
def test_english_alone(name: str) -> None:
    text = every_comment(policy_in(Language.ENGLISH))[name].body(LIMIT)
    assert not HAN.search(text)
    assert re.search(r"[A-Za-z]{4}", text)


@pytest.mark.parametrize("name", NAMES)
def test_chinese_alone(name: str) -> None:
    """No line is English prose. Names, commands, problems of a check and the sign-off's phrase stay English."""
    text = every_comment(policy_in(Language.CHINESE))[name].body(LIMIT)
    assert HAN.search(text)
    english = every_comment(policy_in(Language.ENGLISH))[name].body(LIMIT)
    own = [line for line in english.splitlines() if is_prose(line)]
    assert own
    assert not set(own) & set(text.splitlines())


def is_prose(line: str) -> bool:
    """Return whether infx wrote the line as prose, so that it is not a marker, link, item, command or table rule."""
    return bool(re.match(r"(?:\*\*|- \*\*|<summary>|\*Cut|- … |- and |🟡|[A-Z][a-z]+ [a-z]+)", line)) and (
        "unofficialRun" not in line
    )


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "languages", [(Language.ENGLISH, Language.CHINESE), (Language.CHINESE, Language.ENGLISH)]
)
def test_both_in_the_order_of_the_policy(name: str, languages: tuple[Language, ...]) -> None:
    text = every_comment(policy_in(*languages))[name].body(LIMIT)
    assert HAN.search(text)
    if "\n---\n" not in text:
        return
    first, second = text.split("\n---\n")
    english, chinese = (first, second) if languages[0] is Language.ENGLISH else (second, first)
    lines = [line for line in english.splitlines() if not line.startswith(("- … ", "*Cut"))]
    assert not HAN.search("\n".join(lines))
    assert HAN.search(chinese)
    assert "```" not in second, "commands appear once, in the first language's part"


@pytest.mark.parametrize("cause", list(Cause))
@pytest.mark.parametrize("language", list(Language))
def test_one_language_has_commands_and_lists(cause: Cause, language: Language) -> None:
    both = every_comment(project_policy())[f"notice {cause}"]
    alone = every_comment(policy_in(language))[f"notice {cause}"]
    assert alone.items == both.items
    blocks = r"(?ms)^```.*?^```"
    assert re.findall(blocks, alone.whole) == re.findall(blocks, both.whole)
    page = cmarkgfm.github_flavored_markdown_to_html(alone.whole)
    assert page.count("<hr") == 0


def texts_with_han(path: Path) -> Iterator[tuple[int, bool]]:
    """Yield the line of each Chinese text, and whether the text is an argument of `words`."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    paired = {
        id(node)
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "words"
        for argument in call.args
        for node in ast.walk(argument)
    }
    named = {  # part of such an argument, assigned to a name because two arguments share it
        id(node)
        for statement in ast.walk(tree)
        if isinstance(statement, ast.Assign)
        and any(isinstance(name, ast.Name) and name.id == "chinese" for target in statement.targets for name in ast.walk(target))
        for node in ast.walk(statement.value)
    }  # fmt: skip
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and HAN.search(node.value):
            separator = node.value == "、"
            yield node.lineno, id(node) in paired | named or separator


@pytest.mark.parametrize(
    "path", sorted((ROOT / "infx" / "comments").glob("*.py")), ids=lambda path: str(path.name)
)
def test_no_text_is_in_one_language_only(path: Path) -> None:
    """This finds a text that the policy's languages do not switch off."""
    assert [line for line, is_switched in texts_with_han(path) if not is_switched] == []


def test_the_default_is_both_languages() -> None:
    assert parse_policy(b"{}", "p").comments.languages == (Language.ENGLISH, Language.CHINESE)


@pytest.mark.parametrize("value", ["[]", "[en, en]", "[de]", "en"])
def test_an_invalid_list_of_languages_is_refused(value: str) -> None:
    with pytest.raises(ProblemsError):
        parse_policy(f"comments: {{languages: {value}}}\n".encode(), "p")


def greeting(links: GreetingLinks) -> str:
    policy = project_policy()
    return make_greeting(policy, links, policy.comments.greeting.phrase).whole


def test_the_greeting_links_only_what_the_base_branch_has() -> None:
    policy = project_policy()
    owners, checklist = list_linked(policy)
    place = ("acme/bench", "https://github.com")
    both = greeting(make_links(policy, *place, {owners, checklist}))
    assert both.count(f"blob/main/{owners})") == both.count(f"blob/main/{checklist})") == 2
    only_checklist = greeting(make_links(policy, *place, {checklist, "docs/other.md"}))
    assert "CODEOWNERS" not in only_checklist
    assert "ask one eligible CODEOWNER to complete the [latest checklist](" in only_checklist
    for present in ({owners}, set()):
        none = greeting(make_links(policy, *place, present))
        assert "blob/" not in none
        assert "**Review.**" not in none
        assert "**评审。**" not in none
        assert "**Sweep.**" in none
