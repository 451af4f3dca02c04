"""Comments that were edited by hand, are too long, are slow to parse, or link files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from infx.hub.state import Comment
from infx.policy.model import Language
from infx.reconcile.actions import CreateComment, UpdateComment
from infx.reconcile.facts import RepositoryContext
from tests.calling import call
from tests.reconcile.world import BASE, LABEL, VISUALIZER, World, entry


def visualizer(world: World) -> Comment:
    (comment,) = [c for c in world.hub.comments_of(77) if (c.body or "").startswith(VISUALIZER)]
    return comment


def swept(world: World) -> str:
    """Open a pull request with a sweep, and return its visualizer comment."""
    world.pull(labels=[LABEL])
    world.sweep(done=2, status="completed", conclusion="success")
    world.reconcile()
    return visualizer(world).body or ""


def forge(world: World, text: str, *, by: str = "cody") -> None:
    world.hub.edit_comment(visualizer(world).id, text, by=by)


HUGE = "<!-- order 999999999999999999.1.1.1 -->"


@pytest.mark.parametrize("by", ["cody", "ghost", "renovate[bot]"])
def test_a_visualizer_comment_edited_by_another_account_is_restored(world: World, by: str) -> None:
    """The edited comment claims a run that is newer than every run."""
    original = swept(world)
    forge(world, f"{VISUALIZER}\n{HUGE}\nDownload it from https://evil.test\n", by=by)
    assert [type(action) for action in world.reconcile().done] == [UpdateComment]
    assert visualizer(world).body == original
    assert world.reconcile().done == []


def test_the_editor_of_a_suspicious_comment_costs_one_query(world: World) -> None:
    swept(world)
    world.hub.clear_log()
    world.reconcile()
    usual = len(world.hub.log)
    forge(world, f"{VISUALIZER}\n{HUGE}\nevil\n")
    world.hub.clear_log()
    world.reconcile()
    assert len([exchange for exchange in world.hub.log if exchange.method == "GET"]) <= usual
    assert len([exchange for exchange in world.hub.log if exchange.path == "/graphql"]) <= 1


def test_a_newer_edit_by_infx_is_not_replaced_by_older_facts(world: World) -> None:
    """Another reconciliation, with newer facts, edited the comment."""
    newer = swept(world).replace("<!-- order 3", "<!-- order 4")
    forge(world, newer, by="github-actions[bot]")
    assert world.reconcile().done == []
    assert visualizer(world).body == newer


def conflicting(world: World, count: int, length: int = 100) -> None:
    names = [f"benchmarks/{index:04}{'x' * length}.sh" for index in range(count)]
    world.pull(dict.fromkeys([*names], "mine") | {"perf-changelog.yaml": BASE + entry()}, labels=[LABEL])
    world.hub.push("main", dict.fromkeys(names, "theirs"))


def test_a_shortened_notice_keeps_its_commands_and_links_the_rest(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The summary of the run lists every file; the next run writes nothing and does not link itself."""
    conflicting(world, 60)
    (tmp_path / "policy.yaml").write_text("repository: acme/bench\n")
    environ = {
        **world.hub.environ(world.token()),
        "GITHUB_ACTIONS": "true",
        "GITHUB_RUN_ID": "4711",
        "INFX_POLICY": str(tmp_path / "policy.yaml"),
    }
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(world.clone.directory)
    called = call("reconcile", "--pr", "77")
    assert called.code == 0
    (text,) = [comment for comment in world.comments() if "infx-notice conflict" in comment]
    assert "([show all · 全部](https://github.com/acme/bench/actions/runs/4711))" in text
    assert "git merge FETCH_HEAD" in text
    assert "命令见上" in text
    assert "benchmarks/0059" not in text
    assert "benchmarks/0059" in called.summary
    assert called.summary.count("- `benchmarks/") == 60
    monkeypatch.setenv("GITHUB_RUN_ID", "4712")
    called = call("reconcile", "--pr", "77")
    assert called.code == 0
    assert "Changes: 0." in called.err


def test_the_action_of_a_shortened_comment_has_the_whole_text(world: World) -> None:
    conflicting(world, 40)
    reconciler = world.reconciler()
    reconciler.place = RepositoryContext(server="https://github.com", repository="acme/bench", run_id=5)
    done = [action for action in reconciler.run([77]).done if isinstance(action, CreateComment)]
    whole = {action.key: action.whole.count("- `benchmarks/") for action in done}
    assert whole == {"greeting": 0, "notice conflict": 40}


def test_long_comments_of_strangers_are_never_parsed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A parser needs seconds for 65,000 brackets, so ten such comments would take a minute."""
    parsed: list[int] = []
    from markdown_it import MarkdownIt

    parse = MarkdownIt.parse

    def watched(self: MarkdownIt, src: str, *args: object) -> object:
        parsed.append(len(src))
        return parse(self, src, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(MarkdownIt, "parse", watched)
    world.hub.push("fork-x", {"perf-changelog.yaml": BASE + entry()}, repository="eve/bench")
    pull = world.hub.open_pull("fork-x", number=77, repository="eve/bench", by="eve", labels=[LABEL])
    policy = world.policy
    commands = [policy.sweep.approve_command, policy.signoff.settle_command, policy.signoff.phrase]
    for command in [*commands, *policy.reuse.commands, VISUALIZER]:
        for unit in ("[", "![", "*[", "  - a\n"):
            start = f"{command} {pull.head_sha}\n\n"
            world.hub.comment(77, (start + unit * 65_000)[:65_000], by="eve")
    # A text of its own: of a text that another test has parsed, the result is remembered.
    world.hub.comment(77, f"/approve-sweep {pull.head_sha}\n\nPlease.", by="eve")
    assert not world.reconcile().failed
    assert parsed
    assert max(parsed) <= 4_000


@pytest.mark.parametrize("with_clone", [True, False])
def test_the_greeting_links_files_that_the_base_branch_has(world: World, with_clone: bool) -> None:
    world.pull()
    world.hub.push("main", {"docs/PR_REVIEW_CHECKLIST.md": "x"})
    reconciler = world.reconciler()
    if not with_clone:
        reconciler.clone = None
    reconciler.run([77])
    (text,) = world.comments()
    assert "[latest checklist](https://github.com/acme/bench/blob/main/docs/PR_REVIEW_CHECKLIST.md)" in text
    assert "CODEOWNERS" not in text
    second = world.reconciler() if with_clone else reconciler
    assert second.run([77]).done == []


def test_without_a_clone_the_files_are_requested_once(world: World) -> None:
    for number in (77, 78, 79):
        world.pull({"benchmarks/x.sh": str(number)}, number=number, branch=f"b{number}")
    reconciler = world.reconciler()
    reconciler.clone = None
    world.hub.clear_log()
    reconciler.run([77, 78, 79])
    paths = [exchange.path for exchange in world.hub.log if "/contents/" in exchange.path]
    assert (len(paths), len(set(paths))) == (4, 2)  # both are missing, which takes two 404 replies each


def test_a_policy_with_one_language_gets_comments_in_that_language(world: World) -> None:
    world.policy = replace(
        world.policy, comments=replace(world.policy.comments, languages=(Language.ENGLISH,))
    )
    world.pull(labels=[LABEL, "sweep-enabled"])
    world.sweep(done=1)
    world.reconcile()
    assert len(world.comments()) == 3
    assert not [char for text in world.comments() for char in text if "\u4e00" <= char <= "\u9fff"]
