"""Check the sources that a verification does not trust: edits by others, forged records, branches, workflows and settings."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

import infx.gather.signoff_links
from infx.bench.family import family_of
from infx.git import Git
from infx.github.api import GitHub
from infx.hub.state import Comment
from infx.signoff.facts import LinkState
from tests.signoff.world import BASE, CHANGE, KEY, PHRASE, World, checklist, open_world, reuse, signed_off

PASS, REJECTED = "## ✅✅✅", "## ❌❌❌"


@pytest.mark.parametrize("editor", ["cody", "mia", "ghost"])
@pytest.mark.parametrize("kind", ["comment", "review"])
def test_a_comment_edited_by_another_person_is_not_a_signoff(world: World, kind: str, editor: str) -> None:
    # Everyone with write access can edit all comments, the author of the pull request included.
    reuse(world, world.sweep().id)
    comment = world.hub.comment(77, "Nice.", by="noor") if kind == "comment" else world.hub.review(77, "Nice.", by="noor")  # fmt: skip
    if kind == "comment":
        world.hub.edit_comment(comment.id, checklist(), by=editor)
    else:
        world.hub.edit_review(comment.id, checklist(), by=editor)
    called = world.verify("--pr", "77", "--publish")
    assert f"ignored. {editor} edited it last" in called.err
    assert world.verdicts() == []
    assert world.status() == ("pending", "Waiting for the sign-off of one owner: @noor")


def test_an_edit_by_another_person_withdraws_a_signoff(world: World) -> None:
    signed_off(world)
    comment = next(c for c in world.hub.comments_of(77) if c.author == "noor")
    text = comment.body or ""
    world.hub.edit_comment(comment.id, text + "More.\n", by="cody")
    world.verify("--pr", "77", "--publish")
    assert world.verdicts()[0].startswith("### Sign-off withdrawn")
    world.hub.edit_comment(comment.id, text, by="noor")
    world.verify("--pr", "77", "--publish")
    assert world.status() == ("success", f"Signed off by noor at {world.head[:12]}")


def pushed_after_the_signoff(world: World) -> Comment:
    """Sign off one head, push and sweep another, and return infx's comment."""
    signed_off(world)
    world.hub.push("feat-x", {**CHANGE, "benchmarks/evil.sh": "x\n"}, "quick")
    world.sweep()
    return next(c for c in world.hub.comments_of(77) if c.author == "github-actions[bot]")


def test_a_record_edited_by_another_person_is_ignored(world: World) -> None:
    first = world.head
    own = pushed_after_the_signoff(world)
    world.hub.edit_comment(own.id, (own.body or "").replace(first, world.head), by="cody")
    for _ in range(2):
        world.verify("--pr", "77", "--publish")
        assert "Someone else edited this comment" in world.verdicts()[0]
        words = "Someone else edited infx's comment on the sign-off of noor; sign again"
        assert world.status() == ("pending", words)
    signoff = next(c for c in world.hub.comments_of(77) if c.author == "noor")
    world.hub.edit_comment(signoff.id, f"{signoff.body}\nSeen.\n")
    world.verify("--pr", "77", "--publish")
    assert f"Assessed commit: `{world.head}`" in world.verdicts()[0]


def test_a_deleted_record_does_not_sign_a_later_head(world: World) -> None:
    own = pushed_after_the_signoff(world)
    world.hub.delete_comment(own.id, by="cody")
    world.verify("--pr", "77", "--publish")
    assert world.verdicts()[0].startswith("### Sign-off out of date")


def test_many_invalid_signoffs_do_not_hide_a_valid_one(world: World) -> None:
    signed_off(world)
    for _ in range(45):
        world.sign(checklist("eve"), by="eve")
    world.verify("--pr", "77", "--publish")
    assert world.status() == ("success", f"Signed off by noor at {world.head[:12]}")


@pytest.mark.parametrize("words", [PHRASE, "/settle 3 as agreed in the meeting", "/use 42"])
def test_long_comments_without_write_access_are_not_parsed(
    world: World, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    # A comment of brackets keeps the Markdown parser busy for seconds, and there may be hundreds.
    signed_off(world)
    world.sign(f"{words}\n\n{'[' * 60_000}", by="eve")
    parse, seen = MarkdownIt.parse, list[str]()

    def watched(parser: MarkdownIt, text: str, env: Any = None) -> Any:
        seen.append(text)
        return parse(parser, text, env)

    monkeypatch.setattr(MarkdownIt, "parse", watched)
    world.verify("--pr", "77", "--publish")
    assert world.status() == ("success", f"Signed off by noor at {world.head[:12]}")
    assert max(map(len, seen)) < 60_000


@pytest.mark.parametrize("last", ["dismissed", "requests changes", "withdraws in words"])
def test_newest_review_of_a_person_counts(world: World, last: str) -> None:
    # An older review does not take the place of a dismissed one.
    reuse(world, world.sweep().id)
    world.hub.review(77, checklist(), by="noor")
    body = checklist() if last == "dismissed" else "Wait, this is wrong."
    state = "CHANGES_REQUESTED" if last == "requests changes" else "COMMENTED"
    newest = world.hub.review(77, body, state=state, by="noor")
    if last == "dismissed":
        world.hub.dismiss_review(newest.id)
    called = world.verify("--pr", "77", "--publish")
    assert "ignored. noor has written a newer review." in called.err
    assert world.verdicts() == []
    assert world.status() == ("pending", "Waiting for the sign-off of one owner: @noor")


def test_a_line_comment_does_not_replace_a_review(world: World) -> None:
    # GitHub wraps the comment into a review without text.
    reuse(world, world.sweep().id)
    world.hub.review(77, checklist(), by="noor")
    world.hub.review(77, "", by="noor")
    world.verify("--pr", "77", "--publish")
    assert world.status() == ("success", f"Signed off by noor at {world.head[:12]}")


@pytest.mark.parametrize("login", ["eve", "coverage[bot]", "cody"])
def test_forged_verdict_is_ignored(world: World, login: str) -> None:
    reuse(world, world.sweep().id)
    world.sign(by="amy")
    world.verify("--pr", "77", "--publish")
    own = next(c for c in world.hub.comments_of(77) if c.author == "github-actions[bot]")
    forged = (own.body or "").replace(REJECTED, PASS).replace("REJECTED", "Verdict: PASS")
    stranger = world.hub.comment(77, forged, by=login)
    world.verify("--pr", "77", "--publish")
    assert world.status() == ("failure", "Sign-off of amy rejected by check 0")
    assert world.hub.state.comments[stranger.kind, stranger.id].body == forged
    assert len(world.verdicts()) == 1


APP = "bench-bot[bot]"


def with_identities(world: World, *names: str) -> None:
    listed = ", ".join(f'"{name}"' for name in names)
    policy = f"{BASE['configs/policy.yaml']}identities: [{listed}]\n"
    world.hub.push("main", {"configs/policy.yaml": policy}, "identities", by="mia")
    Git(world.folder / "clone").run("pull", "--quiet")


def test_only_the_publishing_identity_is_trusted(world: World) -> None:
    # A branch's own workflow writes as github-actions[bot], and may edit older comments of that account.
    with_identities(world, APP, "github-actions[bot]")
    first = world.head
    world.hub.set_status(first, "infx/sweep", "pending", by=APP)
    world.sign()
    world.verify("--pr", "77", "--publish", app=APP)
    genuine = next(c for c in world.hub.comments_of(77) if c.author == APP)
    world.hub.push("feat-x", {**CHANGE, "benchmarks/evil.sh": "x\n"}, "quick")
    reuse(world, world.sweep().id)
    forged = (genuine.body or "").replace(first, world.head)
    world.hub.comment(77, forged, by="github-actions[bot]")
    world.hub.set_status(world.head, "codeowner-signoff-verify", "success", by="github-actions[bot]")
    world.verify("--pr", "77", "--publish", app=APP)
    own = [c for c in world.hub.comments_of(77) if (c.author or "").endswith("[bot]")]
    assert [c.author for c in own] == [APP]
    assert "### Sign-off out of date" in (own[0].body or "")
    assert (world.status() or ("",))[0] == "pending"
    world.hub.edit_comment(own[0].id, forged, by="github-actions[bot]")
    world.verify("--pr", "77", "--publish", app=APP)
    assert (world.status() or ("",))[0] == "pending"


@pytest.mark.parametrize("names", [("github-actions[bot]", APP), ("github-actions[bot]",), ("ghost",)])
def test_a_token_of_another_identity_publishes_no_verdict(world: World, names: tuple[str, ...]) -> None:
    with_identities(world, *names)
    world.sign()
    called = world.try_to_verify("--pr", "77", "--publish", app=APP)
    assert called.code == 1
    assert "writes as bench-bot[bot]" in called.err
    assert [c.author for c in world.hub.comments_of(77)] == ["noor"]
    assert world.status() is None


def test_a_token_of_another_identity_sets_no_status(world: World) -> None:
    # Without a sign-off the status is the first write.
    called = world.try_to_verify("--pr", "77", "--publish", app=APP)
    assert called.code == 1
    assert "statuses as bench-bot[bot]" in called.err


def test_verdicts_on_a_closed_pull_request_stay(world: World) -> None:
    signed_off(world)
    before = world.verdicts()
    world.hub.close_pull(77)
    event = {"issue": {"number": 77, "pull_request": {}}, "comment": {"body": "Thanks, CODEOWNER!", "user": {"type": "User"}}}  # fmt: skip
    world.hub.clear_log()
    called = world.verify("--publish", event=("issue_comment", event))
    assert (called.code, called.err) == (0, "Skipped: #77 is closed.\n")
    assert (world.verdicts(), world.hub.writes) == (before, 0)


def test_another_base_branch_gives_no_status(world: World) -> None:
    # Otherwise anyone who can push a branch could choose the owners for the shared commit.
    world.hub.push("mine", {**BASE, ".github/CODEOWNERS": "* @acme/core\n"}, "mine", by="cody")
    world.hub.open_pull("feat-x", title="Harmless", number=78, base="mine", by="cody")
    assert world.hub.state.pulls[78].head_sha == world.head
    world.verify("--pr", "78", "--publish")
    assert "codeowner-signoff-verify" not in {status.context for status in world.hub.state.statuses}


def test_a_push_before_the_first_run_is_not_signed_off(world: World) -> None:
    # The comment was written before the push. The run that every push starts shows its time.
    old = world.head
    reuse(world, world.sweep().id)
    world.sign()
    world.hub.push("feat-x", {**CHANGE, "benchmarks/evil.sh": "x\n"}, "quick")
    world.sweep()
    world.verify("--pr", "77", "--publish")
    (text,) = world.verdicts()
    assert text.startswith(f"### Sign-off out of date\n\n`noor` signed off at `{old}`")
    comment = next(c for c in world.hub.comments_of(77) if c.author == "noor")
    world.hub.edit_comment(comment.id, f"{comment.body}\nSeen.\n")
    world.verify("--pr", "77", "--publish")
    assert f"Assessed commit: `{world.head}`" in world.verdicts()[0]


@pytest.mark.parametrize("swept", [True, False])
def test_a_push_that_starts_nothing_is_not_signed_off(world: World, *, swept: bool) -> None:
    # With `[skip ci]` no run shows when the head came. The sign-off is bound to the last commit seen before the
    # comment, if any. A later sweep does not change this; an edit after the first verification does.
    old = world.head
    world.hub.listeners.clear()
    if swept:
        world.sweep()
    else:
        world.hub.state.statuses.clear()
    world.sign()
    world.hub.push("feat-x", {**CHANGE, "benchmarks/evil.sh": "x\n"}, "quick [skip ci]")
    why = "it is for {sha}, and the diff" if swept else "nothing shows that {sha} was the head"
    for _ in range(2):
        called = world.try_to_verify("--pr", "77", "--publish")
        sha = (old if swept else world.head)[:12]
        assert f"{why.format(sha=sha)} " in called.err
        assert "edit it to sign the head\n" in called.err
        (text,) = world.verdicts()
        head = f"### Sign-off out of date\n\n`noor` signed off at `{old}`"
        assert text.startswith(head if swept else "### Sign-off of an unknown commit")
        assert (world.status() or ("",))[0] == "pending"
        reuse(world, world.sweep().id)
    comment = next(c for c in world.hub.comments_of(77) if c.author == "noor")
    world.hub.edit_comment(comment.id, f"{comment.body}\nSeen.\n")
    world.verify("--pr", "77", "--publish")
    assert f"Assessed commit: `{world.head}`" in world.verdicts()[0]


@pytest.mark.parametrize(
    ("url", "code", "words"),
    [
        ("https://github.com/acme/bench/pull/77#issuecomment-{foreign}", 1, "no issuecomment"),
        ("https://github.com/acme/bench/pull/78#issuecomment-{own}", 1, "no issuecomment"),
        ("https://github.com/acme/other/pull/77#issuecomment-{own}", 2, "acme/other"),
        ("https://github.com/acme/bench/pull/77#issuecomment-{own}x", 2, "not the URL"),
        ("https://github.com/acme/bench/pull/77#discussion_r{own}", 1, "no discussion_r"),
        ("https://github.com/acme/bench/pull/77#pullrequestreview-{own}", 1, "no pullrequestreview"),
        ("https://github.com/acme/bench/pull/77#issuecomment-{chat}", 1, "not a sign-off"),
    ],
)
def test_comment_url_must_lead_to_a_signoff_of_this_pull_request(
    world: World, url: str, code: int, words: str
) -> None:
    world.hub.push("docs", {"README.md": "hello\n"}, "docs")
    world.hub.open_pull("docs", title="Docs", number=78)
    own, foreign = world.sign(), world.hub.comment(78, checklist(), by="noor")
    chat = world.hub.comment(77, "Nice.", by="noor")
    called = world.try_to_verify(
        "--comment-url", url.format(own=own.id, foreign=foreign.id, chat=chat.id), "--publish"
    )
    assert called.code == code
    assert words in called.err
    assert world.status() is None


def test_url_and_number_must_agree(world: World) -> None:
    own = world.sign()
    called = world.try_to_verify(
        "--pr", "5", "--comment-url", f"https://github.com/acme/bench/pull/77#issuecomment-{own.id}"
    )
    assert called.code == 2
    assert "not on #5" in called.err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (BASE["configs/nvidia.yaml"] + "\nm2-fp8-h200-vllm:\n  image: cody/vllm:1\n", "m2-fp8-h200-vllm"),
        (BASE["configs/nvidia.yaml"].replace("precision: fp8", "precision: []"), "precision"),
        ("{[", "not YAML"),
    ],
    ids=["new", "old", "file"],
)
def test_an_invalid_configuration_does_not_count_as_absent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, words: str
) -> None:
    # A check must not end in N/A because the changed configuration cannot be parsed.
    monkeypatch.setattr(infx.gather.signoff_links, "fetch_page", lambda url: LinkState.PUBLISHED)
    with open_world(tmp_path, BASE, {"configs/nvidia.yaml": text}) as world:
        world.sign()
        world.verify("--pr", "77", "--publish")
        (verdict,) = world.verdicts()
        rows = [line for line in verdict.splitlines() if line.startswith("- ")]
        assert all(": FAIL — " in line for line in rows)
        assert words in rows[6]
        assert (world.status() or ("",))[0] == "failure"


def test_an_edited_workflow_lowers_its_evidence(world: World) -> None:
    # The same holds for an earlier commit whose run is the evidence.
    world.hub.push("feat-x", {**CHANGE, ".github/workflows/run-sweep.yml": "jobs: {}\n"}, "mine")
    run = world.sweep()
    reuse(world, run.id)
    world.hub.push("feat-x", {".github/workflows/run-sweep.yml": None}, "undo")
    world.sign()
    world.verify("--pr", "77", "--publish")
    (verdict,) = world.verdicts()
    for number in (1, 2, 14):
        assert re.search(
            rf"⚠️ Check {number} .*WARN — The pull request changes the rules that produced this evidence \(`.github/workflows/run-sweep.yml`\)",
            verdict,
        )


def test_the_workflow_of_another_target_lowers_its_evidence(world: World) -> None:
    # The same commit has a pull request into a branch whose workflow may choose its job names.
    world.hub.push("mine", {**BASE, ".github/workflows/run-sweep.yml": "jobs: {}\n"}, "mine", by="cody")
    world.hub.open_pull("feat-x", title="Harmless", number=78, base="mine", by="cody")
    run = world.sweep()
    world.hub.close_pull(78)
    reuse(world, run.id)
    world.sign()
    world.verify("--pr", "77", "--publish")
    (verdict,) = world.verdicts()
    for number in (1, 2, 14):
        words = (
            r"WARN — The pull request changes the rules that produced this evidence \(`.github/ of mine`\)"
        )
        assert re.search(rf"⚠️ Check {number} .*{words}", verdict)
    reuse(world, world.sweep().id)  # when only one was open
    world.verify("--pr", "77", "--publish")
    assert world.status() == ("success", f"Signed off by noor at {world.head[:12]}")


def test_submodules_and_links_need_human_review(world: World) -> None:
    # A diff shows only an id or a path of them.
    git = Git(world.folder / "clone")
    git.run("fetch", "--quiet", "origin", "feat-x")
    git.run("checkout", "--quiet", "FETCH_HEAD")
    git.run("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},engine")
    (world.folder / "clone/serve.sh").symlink_to("elsewhere.sh")
    git.run("add", "serve.sh")
    git.run("commit", "--quiet", "--message", "engine")
    git.run("push", "--quiet", "origin", "HEAD:feat-x")
    world.hub.sync()
    git.run("checkout", "--quiet", "--force", "main")
    reuse(world, world.sweep().id)
    world.sign()
    called = world.verify("--pr", "77", "--format", "json")
    checks = json.loads(called.out)["checks"]
    assert [checks[number]["status"] for number in (8, 10)] == ["WARN", "WARN"]
    assert "`engine`, `serve.sh`" in checks[8]["reason"]


def test_push_during_verification_writes_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    reuse(world, world.sweep().id)
    world.sign()
    artifacts = GitHub.artifacts

    def push_then_list(github: GitHub, run_id: int, **how: Any) -> list[Any]:
        world.hub.push("feat-x", {**CHANGE, "README.md": "late\n"}, "late")
        return list(artifacts(github, run_id, **how))

    monkeypatch.setattr(GitHub, "artifacts", push_then_list)
    called = world.try_to_verify("--pr", "77", "--publish")
    assert called.code == 3
    assert "has a new head since" in called.err
    assert world.verdicts() == []
    assert "codeowner-signoff-verify" not in {status.context for status in world.hub.state.statuses}


def test_fork_counts_only_its_approved_run(world: World) -> None:
    world.hub.account("eve", role="read")
    world.hub.push("feat-y", CHANGE, "fork", by="eve", repository="eve/bench")
    pull = world.hub.open_pull("feat-y", title="Fork", number=79, repository="eve/bench", by="eve")
    world.hub.comment(79, checklist(), by="noor")
    rows = world.rows()  # the same change, so the same rows
    run = world.hub.add_run(event="workflow_dispatch", branch="main", by="github-actions[bot]")
    for row in rows:
        world.hub.add_job(run.id, f"sweep / row / {row.id} · {family_of(row.row)} · h200 · x")
    world.hub.finish_run(run.id)
    called = world.verify("--pr", "79", "--format", "json")
    assert json.loads(called.out)["checks"][1]["reason"].startswith(
        "There is no run of `.github/workflows/run-sweep.yml` named by its approval"
    )
    url = f"https://github.com/acme/bench/actions/runs/{run.id}"
    world.hub.set_status(pull.head_sha, "infx/approval", "success", target_url=url, by="eve")
    called = world.verify("--pr", "79", "--format", "json")
    assert (
        json.loads(called.out)["checks"][1]["status"] == "FAIL"
    )  # any account with write access may set a status
    world.hub.set_status(pull.head_sha, "infx/approval", "success", target_url=url)
    called = world.verify("--pr", "79", "--format", "json")
    assert json.loads(called.out)["checks"][1]["status"] == "PASS"
    event = {"workflow_run": {"id": run.id, "path": ".github/workflows/run-sweep.yml", "head_sha": run.head_sha, "event": "workflow_dispatch"}}  # fmt: skip
    called = world.verify(event=("workflow_run", event))
    assert "#79" in called.err


def test_git_settings_do_not_change_the_facts(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    # Neither the user's settings nor .gitmodules hide a change or alter the diff.
    modules = '[submodule "engine"]\n\tpath = engine\n\turl = https://example.org/e\n\tignore = all\n'
    world.hub.push("main", {".gitmodules": modules}, "modules", by="mia")
    git = Git(world.folder / "clone")
    git.run("fetch", "--quiet", "origin", "main", "feat-x")
    git.run("checkout", "--quiet", "origin/feat-x")
    git.run("merge", "--quiet", "--no-edit", "origin/main")
    git.run("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},engine")
    git.run("commit", "--quiet", "--message", "engine")
    git.run("push", "--quiet", "origin", "HEAD:feat-x")
    world.hub.sync()
    git.run("checkout", "--quiet", "--force", "origin/main")
    world.sign()
    seen = []
    settings = {
        "diff.algorithm": "patience", "diff.noprefix": "true", "diff.interHunkContext": "9", "diff.submodule": "log",
        "diff.ignoreSubmodules": "all", "diff.mnemonicPrefix": "true", "diff.context": "0",
    }  # fmt: skip
    for number, environ in enumerate(({}, settings)):
        monkeypatch.setenv("GIT_CONFIG_COUNT", str(len(environ)))
        for place, (key, value) in enumerate(environ.items()):
            monkeypatch.setenv(f"GIT_CONFIG_KEY_{place}", key)
            monkeypatch.setenv(f"GIT_CONFIG_VALUE_{place}", value)
        saved = world.folder / f"{number}.json"
        world.verify("--pr", "77", "--save-facts", str(saved))
        facts = json.loads(saved.read_text(encoding="utf-8"))
        seen.append((facts["diff"], facts["files"]))
    assert seen[0] == seen[1]
    assert [file["added"] for file in seen[0][1] if file["path"] == "engine"] == [None]


def test_a_script_without_an_entry_is_checked(tmp_path: Path) -> None:
    # Without a changelog entry nothing is planned, but the configurations that the script serves are checked.
    script = "benchmarks/single_node/m1_fp8_h200_vllm.sh"
    change = {script: "vllm serve --kv-cache-dtype fp8\n", "benchmarks/other.sh": "echo\n"}
    with open_world(tmp_path, change=change) as world:
        world.sign(checklist("mia", detail="nothing"), by="mia")
        called = world.verify("--pr", "77", "--format", "json")
        checks = json.loads(called.out)["checks"]
        assert (checks[1]["status"], KEY in checks[1]["reason"]) == ("WARN", True)
        assert (checks[3]["status"], KEY in checks[3]["reason"]) == ("FAIL", True)
