"""Whom and what a verification does not believe: others' words, others' records, branches, workflows and settings."""

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
def test_words_of_another_are_no_signoff(world: World, kind: str, editor: str) -> None:
    """Whoever may write here may edit everybody's comments; the author of the pull request most of all."""
    reuse(world, world.sweep().id)
    comment = world.hub.comment(77, "Nice.", by="noor") if kind == "comment" else world.hub.review(77, "Nice.", by="noor")  # fmt: skip
    if kind == "comment":
        world.hub.edit_comment(comment.id, checklist(), by=editor)
    else:
        world.hub.edit_review(comment.id, checklist(), by=editor)
    called = world.verify("--pr", "77", "--publish")
    assert f"passed over. {editor} edited it last" in called.err
    assert world.verdicts() == []
    assert world.status() == ("pending", "Waiting for the sign-off of one owner: @noor")


def test_another_who_edits_a_signoff_withdraws_it(world: World) -> None:
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
    """Signed off at one head, then another is pushed and swept. Returns our comment."""
    signed_off(world)
    world.hub.push("feat-x", {**CHANGE, "benchmarks/evil.sh": "x\n"}, "quick")
    world.sweep()
    return next(c for c in world.hub.comments_of(77) if c.author == "github-actions[bot]")


def test_record_that_others_have_edited_is_forgotten(world: World) -> None:
    first = world.head
    ours = pushed_after_the_signoff(world)
    world.hub.edit_comment(ours.id, (ours.body or "").replace(first, world.head), by="cody")
    for _ in range(2):
        world.verify("--pr", "77", "--publish")
        assert "Someone else edited this comment" in world.verdicts()[0]
        words = "Someone else edited infx's comment on the sign-off of noor; sign again"
        assert world.status() == ("pending", words)
    signoff = next(c for c in world.hub.comments_of(77) if c.author == "noor")
    world.hub.edit_comment(signoff.id, f"{signoff.body}\nSeen.\n")
    world.verify("--pr", "77", "--publish")
    assert f"Assessed commit: `{world.head}`" in world.verdicts()[0]


def test_record_that_others_have_deleted_signs_no_later_head(world: World) -> None:
    ours = pushed_after_the_signoff(world)
    world.hub.delete_comment(ours.id, by="cody")
    world.verify("--pr", "77", "--publish")
    assert world.verdicts()[0].startswith("### Sign-off out of date")


def test_crowd_of_strangers_hides_no_signoff(world: World) -> None:
    signed_off(world)
    for _ in range(45):
        world.sign(checklist("eve"), by="eve")
    world.verify("--pr", "77", "--publish")
    assert world.status() == ("success", f"Signed off by noor at {world.head[:12]}")


@pytest.mark.parametrize("words", [PHRASE, "/settle 3 as agreed in the meeting", "/use 42"])
def test_long_comments_of_strangers_are_not_parsed(
    world: World, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    """A comment of brackets alone keeps a parser of Markdown busy for seconds, and there may be hundreds."""
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
    """Whatever became of it; none before it is revived."""
    reuse(world, world.sweep().id)
    world.hub.review(77, checklist(), by="noor")
    body = checklist() if last == "dismissed" else "Wait, this is wrong."
    state = "CHANGES_REQUESTED" if last == "requests changes" else "COMMENTED"
    newest = world.hub.review(77, body, state=state, by="noor")
    if last == "dismissed":
        world.hub.dismiss_review(newest.id)
    called = world.verify("--pr", "77", "--publish")
    assert "passed over. noor has written a newer review." in called.err
    assert world.verdicts() == []
    assert world.status() == ("pending", "Waiting for the sign-off of one owner: @noor")


def test_a_comment_on_a_line_takes_no_review_back(world: World) -> None:
    """GitHub wraps it into a review without words of its own."""
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
    assert world.status() == ("failure", "Sign-off of amy rejected: checks 0")
    assert world.hub.state.comments[stranger.kind, stranger.id].body == forged
    assert len(world.verdicts()) == 1


APP = "bench-bot[bot]"


def with_identities(world: World, *names: str) -> None:
    listed = ", ".join(f'"{name}"' for name in names)
    policy = f"{BASE['configs/policy.yaml']}identities: [{listed}]\n"
    world.hub.push("main", {"configs/policy.yaml": policy}, "identities", by="mia")
    Git(world.folder / "clone").run("pull", "--quiet")


def test_only_the_identity_that_publishes_is_believed(world: World) -> None:
    """A branch's own workflow writes as github-actions[bot], and may edit what that one wrote before."""
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


def test_a_status_of_another_identity_is_said_to_be_none(world: World) -> None:
    """Where there is no comment to write first."""
    called = world.try_to_verify("--pr", "77", "--publish", app=APP)
    assert called.code == 1
    assert "statuses as bench-bot[bot]" in called.err


def test_what_stands_on_a_closed_pull_request_stays(world: World) -> None:
    signed_off(world)
    before = world.verdicts()
    world.hub.close_pull(77)
    event = {"issue": {"number": 77, "pull_request": {}}, "comment": {"body": "Thanks, CODEOWNER!", "user": {"type": "User"}}}  # fmt: skip
    world.hub.clear_log()
    called = world.verify("--publish", event=("issue_comment", event))
    assert (called.code, called.err) == (0, "Passed over. #77 is closed.\n")
    assert (world.verdicts(), world.hub.writes) == (before, 0)


def test_another_base_branch_gives_no_status(world: World) -> None:
    """Its status would stand on the same commit: who can push a branch would choose the owners."""
    world.hub.push("mine", {**BASE, ".github/CODEOWNERS": "* @acme/core\n"}, "mine", by="cody")
    world.hub.open_pull("feat-x", title="Harmless", number=78, base="mine", by="cody")
    assert world.hub.state.pulls[78].head_sha == world.head
    world.verify("--pr", "78", "--publish")
    assert "codeowner-signoff-verify" not in {status.context for status in world.hub.state.statuses}


def test_push_before_the_first_look_is_not_signed_off(world: World) -> None:
    """The comment was written before the push; every push starts a run, which tells when it was."""
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
    """`[skip ci]`: no run tells when the head came. What was seen before the comment, if anything was, is signed off; a
    later sweep makes nothing of it, and an edit after the first look does.
    """
    old = world.head
    world.hub.listeners.clear()
    if swept:
        world.sweep()
    else:
        world.hub.state.statuses.clear()
    world.sign()
    world.hub.push("feat-x", {**CHANGE, "benchmarks/evil.sh": "x\n"}, "quick [skip ci]")
    for _ in range(2):
        world.verify("--pr", "77", "--publish")
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
def test_broken_configuration_is_no_missing_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, words: str
) -> None:
    """Nobody can say of it that no configuration changes."""
    monkeypatch.setattr(infx.gather.signoff_links, "fetch_page", lambda url: LinkState.PUBLISHED)
    with open_world(tmp_path, BASE, {"configs/nvidia.yaml": text}) as world:
        world.sign()
        world.verify("--pr", "77", "--publish")
        (verdict,) = world.verdicts()
        rows = [line for line in verdict.splitlines() if line.startswith("- ")]
        assert all(": FAIL — " in line for line in rows)
        assert words in rows[6]
        assert (world.status() or ("",))[0] == "failure"


def test_edited_workflow_is_no_evidence(world: World) -> None:
    """Neither in the diff nor in an earlier commit whose run would serve."""
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


def test_workflow_of_another_target_is_no_evidence(world: World) -> None:
    """The same commit, in a pull request into a branch whose workflow names its jobs at will."""
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


def test_submodule_and_link_are_for_a_human(world: World) -> None:
    """All that a diff shows of them is an id or a path."""
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
    assert "pushed to while" in called.err
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
    assert json.loads(called.out)["checks"][1]["status"] == "FAIL"  # anybody may set a status
    world.hub.set_status(pull.head_sha, "infx/approval", "success", target_url=url)
    called = world.verify("--pr", "79", "--format", "json")
    assert json.loads(called.out)["checks"][1]["status"] == "PASS"
    event = {"workflow_run": {"id": run.id, "path": ".github/workflows/run-sweep.yml", "head_sha": run.head_sha, "event": "workflow_dispatch"}}  # fmt: skip
    called = world.verify(event=("workflow_run", event))
    assert "#79" in called.err


def test_configuration_of_git_changes_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the user's nor a .gitmodules' hides a change or makes another diff of it."""
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


def test_a_script_alone_passes_nothing_by(tmp_path: Path) -> None:
    """Without an entry in the changelog nothing is planned; what the script serves is judged all the same."""
    script = "benchmarks/single_node/m1_fp8_h200_vllm.sh"
    change = {script: "vllm serve --kv-cache-dtype fp8\n", "benchmarks/other.sh": "echo\n"}
    with open_world(tmp_path, change=change) as world:
        world.sign(checklist("mia", detail="nothing"), by="mia")
        called = world.verify("--pr", "77", "--format", "json")
        checks = json.loads(called.out)["checks"]
        assert (checks[1]["status"], KEY in checks[1]["reason"]) == ("WARN", True)
        assert (checks[3]["status"], KEY in checks[3]["reason"]) == ("FAIL", True)
