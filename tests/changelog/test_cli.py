"""Call the commands as people and workflows do; check exit codes, JSON, annotations and the summary."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import pytest

from infx.cli.changelog import COMMANDS, changelog
from tests.calling import call
from tests.changelog.samples import BASE, KEY, PATH, RUNNERS, config, entry, link, new
from tests.repository import Repository

CONFIG = config(KEY, "m1-fp8-b200-vllm")
POLICY = "repository: acme/bench\nmaster-configs: [configs/nvidia.yaml]\n"
FILES: dict[str, str | bytes] = {
    PATH: BASE,
    "configs/nvidia.yaml": CONFIG,
    "configs/policy.yaml": POLICY,
    "configs/runners.yaml": RUNNERS,
}


VALID = '{\n  "ok": true,\n  "problems": []\n}\n'


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """Return a clone with the base on main, and the branch feat-x checked out."""
    clone = Repository.init(tmp_path / "clone")
    clone.commit(FILES, "base")
    clone.branch("feat-x")
    monkeypatch.chdir(clone.path)
    return clone


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(name: str) -> None:
    command = changelog.get_command(click.Context(changelog), name)
    assert command is not None
    assert command.name == name
    assert (command.help or "").split("\n\n")[0].replace("\n", " ") == COMMANDS[name][1]
    assert [p.name for p in command.params if isinstance(p, click.Option) and not p.help] == []


def test_the_working_tree_is_judged_against_the_merge_base(repository: Repository) -> None:
    repository.checkout("main")
    repository.commit({PATH: BASE + new(link(80))}, "main moves on")
    repository.checkout("feat-x")
    repository.write({PATH: BASE + new("XXX")})
    called = call("changelog", "validate", "--pr", "77", "--format", "json")
    assert (called.code, called.out, called.err) == (
        0,
        VALID,
        "",
    )


def test_problems_as_json_and_as_lines(repository: Repository) -> None:
    repository.commit({PATH: BASE + new(link(75))})
    called = call(
        "changelog",
        "validate",
        "--base-ref",
        "main",
        "--head-ref",
        "feat-x",
        "--pr",
        "77",
        "--format",
        "json",
    )
    assert called.code == 1
    assert json.loads(called.out) == {
        "ok": False,
        "problems": [
            {
                "rule": "pr-link-foreign",
                "level": "error",
                "message": "The pr-link belongs to another pull request: expected pull/77 or the placeholder `XXX`, found pull/75.",
                "path": PATH,
                "line": 11,
                "hint": f"Write `XXX`, `{link('XXX')}` or `{link(77)}`.",
            }
        ],
    }
    assert called.err.startswith(f"{PATH}:11: The pr-link belongs to another pull request")
    assert call("changelog", "validate", "--pr", "77", "--format", "table").out == ""


def test_origins_branch_counts_before_the_local_branch(repository: Repository, tmp_path: Path) -> None:
    clone = Repository(tmp_path / "other")
    repository.git.run("clone", "--quiet", "--branch", "main", ".", str(clone.path))
    clone.branch("feature")
    clone.checkout("main")
    clone.commit({PATH: BASE + new(link(80))}, "a local main that was never pushed")
    clone.branch("feature", "main")
    clone.write({PATH: BASE + new("XXX")})
    monkey = pytest.MonkeyPatch()
    monkey.chdir(clone.path)
    assert call("changelog", "validate", "--pr", "77").code == 0
    assert call("changelog", "validate", "--pr", "77", "--base-ref", "main").code == 1
    monkey.undo()


def test_keys_are_looked_up_at_the_head(repository: Repository) -> None:
    more = CONFIG + config("brand-new-key")
    repository.commit({PATH: BASE + new("XXX", key="brand-new-key"), "configs/nvidia.yaml": more})
    assert call("changelog", "validate", "--pr", "77", "--head-ref", "HEAD").code == 0
    assert call("changelog", "validate", "--pr", "77").code == 0
    repository.commit({"configs/nvidia.yaml": CONFIG})
    assert "no configuration 'brand-new-key'" in call("changelog", "validate", "--pr", "77").err


def test_a_shallow_clone_gets_no_verdict(repository: Repository, tmp_path: Path) -> None:
    repository.commit({PATH: BASE + new("XXX")})
    repository.checkout("main")
    repository.commit({PATH: BASE + new(link(80))})
    shallow = tmp_path / "shallow"
    repository.git.run(
        "clone", "--quiet", "--depth=1", "--no-single-branch", f"file://{repository.path}", str(shallow)
    )
    monkey = pytest.MonkeyPatch()
    monkey.chdir(shallow)
    called = call(
        "changelog", "validate", "--base-ref", "origin/main", "--head-ref", "origin/feat-x", "--pr", "77"
    )
    monkey.undo()
    assert called.code == 3
    assert "History too shallow" in called.err


def test_files_need_no_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("base.yaml").write_bytes(BASE)
    Path("head.yaml").write_bytes(BASE + new("XXX"))
    files = ("--base-file", "base.yaml", "--head-file", "head.yaml")
    called = call("changelog", "validate", *files, "--repo", "acme/bench", "--pr", "77")
    assert called.code == 0
    assert "config-keys were not checked" in called.err
    called = call("changelog", "canonicalize", *files, "--repo", "acme/bench", "--pr", "77")
    assert (called.code, called.out.encode()) == (0, BASE + new(link(77)))


@pytest.mark.parametrize(
    "arguments",
    [
        ("validate", "--base-file", "x"),
        ("validate", "--head-file", "x"),
        ("validate", "--base-file", "x", "--head-file", "x", "--base-ref", "main"),
        ("validate", "--pr", "0"),
        ("validate", "--repo", "no-name"),
        ("canonicalize", "--write", "--check"),
    ],
)
def test_usage(repository: Repository, arguments: tuple[str, ...]) -> None:
    repository.write({"x": BASE})
    assert call("changelog", *arguments).code == 2


@pytest.mark.parametrize("option", ["--base-ref", "--base-file", "--head-ref"])
def test_event_and_revision_options_exclude_each_other(repository: Repository, option: str) -> None:
    called = call("changelog", "validate", "--event", "event.json", option, "main")
    assert called.code == 2
    assert "exclude each other" in called.err


def test_the_stage_option_wins_over_the_event(repository: Repository) -> None:
    head = repository.commit({PATH: BASE + new("XXX")})
    pull = {"number": 77, "base": {"sha": f"{head}~1", "ref": "main"}, "head": {"sha": head}}
    repository.write({"event.json": json.dumps({"pull_request": pull})})
    assert call("changelog", "validate", "--event", "event.json").code == 0
    assert call("changelog", "validate", "--event", "event.json", "--stage", "merge").code == 1


def test_exit_codes_of_missing_revisions_and_files(repository: Repository) -> None:
    assert call("changelog", "validate", "--base-ref", "nowhere").code == 3
    assert call("changelog", "validate", "--base-file", "none", "--head-file", "none").code == 2
    repository.git.run("branch", "--delete", "--force", "main")
    called = call("changelog", "validate")
    assert called.code == 3
    assert "The branch main was not found" in called.err


def test_fix_writes_the_working_tree(repository: Repository) -> None:
    file = repository.path / PATH
    file.write_bytes(BASE + b"\n" + new("TBD"))
    file.chmod(0o640)
    called = call("changelog", "validate", "--fix", "--pr", "77")
    assert called.code == 0
    assert file.read_bytes() == BASE + new(link(77))
    assert file.stat().st_mode & 0o777 == 0o640
    assert f"repaired: {PATH}:12: `TBD` is not a valid pr-link" in called.err
    assert sorted(path.name for path in repository.path.iterdir()) == [".git", "configs", PATH]
    assert call("changelog", "validate", "--fix", "--pr", "77").err == ""


def test_fix_refuses_as_a_whole(repository: Repository) -> None:
    head = BASE + b"\n" + new(link(75))
    repository.write({PATH: head})
    called = call("changelog", "validate", "--fix", "--pr", "77")
    assert called.code == 1
    assert "found pull/75" in called.err
    assert "Nothing was written" in called.err
    assert (repository.path / PATH).read_bytes() == head


def test_fix_of_a_revision_needs_it_checked_out(repository: Repository) -> None:
    repository.commit({PATH: BASE + new("TBD")})
    repository.write({PATH: BASE + new("something else")})
    assert call("changelog", "validate", "--fix", "--pr", "77", "--head-ref", "HEAD").code == 2
    repository.git.run("checkout", "--quiet", "--", PATH)
    assert call("changelog", "validate", "--fix", "--pr", "77", "--head-ref", "HEAD").code == 0
    assert (repository.path / PATH).read_bytes() == BASE + new(link(77))


def test_canonicalize_writes_prints_or_checks(repository: Repository) -> None:
    repository.write({PATH: BASE + new("'XXX'  # later")})
    called = call("changelog", "canonicalize", "--pr", "77")
    assert (called.code, called.out.encode()) == (0, BASE + new(link(77)))
    called = call("changelog", "canonicalize", "--pr", "77", "--check")
    assert (called.code, called.out) == (1, "")
    assert (
        f"{PATH}:11: The pr-link is not canonical yet. Run `infx changelog canonicalize --write --pr 77`."
        in called.err
    )
    assert call("changelog", "canonicalize", "--pr", "77", "--write").code == 0
    assert (repository.path / PATH).read_bytes() == BASE + new(link(77))
    assert call("changelog", "canonicalize", "--pr", "77", "--check").code == 0


def test_canonicalize_needs_a_number_for_placeholders(repository: Repository) -> None:
    repository.write({PATH: BASE + new("XXX")})
    called = call("changelog", "canonicalize")
    assert called.code == 1
    assert "Give --pr." in called.err


def test_a_field_lost_in_a_hand_made_merge(repository: Repository) -> None:
    flags = "  append-only: true\n"
    repository.commit({PATH: BASE + new("XXX", more=flags)})
    repository.checkout("main")
    main = BASE + new(link(80))
    repository.commit({PATH: main})
    repository.checkout("feat-x")
    assert repository.git.call("merge", "--no-edit", "main").code == 1
    repository.commit({PATH: main + new("XXX")}, "Merge branch main")
    called = call("changelog", "validate", "--pr", "77", "--head-ref", "HEAD")
    assert called.code == 1
    assert "An entry was lost or changed in the merge" in called.err
    assert "append-only: True" in called.err
    assert call("changelog", "validate", "--pr", "77", "--fix").code == 1
    repository.commit({PATH: main + new("XXX", text='"reworded"')}, "changed on purpose")
    assert call("changelog", "validate", "--pr", "77", "--head-ref", "HEAD").code == 0


def test_an_uncommitted_merge_is_judged_as_if_committed(repository: Repository) -> None:
    repository.commit({PATH: BASE + new("XXX")}, "ours")
    repository.checkout("main")
    theirs = BASE + new(link(80), text='"theirs"')
    repository.commit({PATH: theirs}, "theirs")
    repository.checkout("feat-x")
    assert repository.git.call("merge", "--no-commit", "main").code != 0
    assert call("changelog", "resolve").code == 0
    called = call("changelog", "validate", "--pr", "77")
    assert (called.code, called.out, called.err) == (0, VALID, "")
    assert call("changelog", "canonicalize", "--pr", "77").out.encode() == theirs + new(link(77))


def test_a_correct_merge_is_valid(repository: Repository) -> None:
    repository.commit({PATH: BASE + new("XXX")})
    repository.checkout("main")
    repository.commit({PATH: BASE + new(link(80))})
    repository.checkout("feat-x")
    assert repository.git.call("merge", "--no-edit", "main").code == 1
    assert call("changelog", "resolve").code == 0
    repository.git.run("commit", "--no-edit", "--quiet")
    assert call("changelog", "validate", "--pr", "77", "--head-ref", "HEAD").code == 0


EVENTS: list[tuple[str, dict[str, Any], int, str]] = [
    ("pull_request", {"pull_request": {"number": 77}}, 0, ""),
    (
        "pull_request",
        {"pull_request": {"number": 78}},
        1,
        "expected pull/78 or the placeholder `XXX`, found pull/77",
    ),
    ("merge_group", {"merge_group": {}}, 1, "still the placeholder `XXX`"),
    ("push", {"ref": "refs/heads/main"}, 1, "still the placeholder `XXX`"),
]


@pytest.mark.parametrize(("name", "payload", "code", "message"), EVENTS)
def test_events(repository: Repository, name: str, payload: dict[str, Any], code: int, message: str) -> None:
    base = repository.git.commit("main")
    head = repository.commit({PATH: BASE + new("XXX") + new(link(77))})
    match name:
        case "pull_request":
            payload = {
                "pull_request": {**payload["pull_request"], "base": {"sha": base}, "head": {"sha": head}}
            }
        case "merge_group":
            payload = {"merge_group": {"base_sha": base, "head_sha": head}}
        case _:
            payload = {**payload, "before": base, "after": head}
    event = repository.path.parent / "event.json"
    event.write_text(json.dumps(payload))
    called = call("changelog", "validate", "--event", str(event))
    assert called.code == code
    assert message in called.err


def created(repository: Repository, *commits: str) -> str:
    """Write the payload of the push that created main, with its new commits, oldest first."""
    event = repository.path.parent / "event.json"
    after = repository.git.commit("HEAD")
    listed = [{"id": sha} for sha in commits]
    event.write_text(
        json.dumps({"ref": "refs/heads/main", "before": "0" * 40, "after": after, "commits": listed})
    )
    return str(event)


def test_a_created_branch_is_compared_with_its_first_commits_parent(repository: Repository) -> None:
    first = repository.commit({PATH: BASE + new(link(77))})
    second = repository.commit({"other": "x"})
    assert call("changelog", "validate", "--event", created(repository, first, second)).code == 0
    third = repository.commit({PATH: BASE + new(link(77)) + new("XXX")})
    called = call("changelog", "validate", "--event", created(repository, first, second, third))
    assert called.code == 1
    assert "still the placeholder `XXX`" in called.err


def test_the_first_push_of_a_repository_is_judged_as_a_whole(repository: Repository) -> None:
    first = repository.git.commit("main")
    assert call("changelog", "validate", "--event", created(repository, first)).code == 0
    repository.commit({PATH: BASE + new("XXX")})
    called = call("changelog", "validate", "--event", created(repository, first, "HEAD"))
    assert called.code == 1
    assert f"{PATH}:11: The pr-link is still the placeholder" in called.err


@pytest.mark.parametrize("commits", [(), ("not a commit",), ("d" * 40,), ("HEAD",) * 2048])
def test_a_push_with_an_unknown_base_has_no_verdict(repository: Repository, commits: tuple[str, ...]) -> None:
    """Push without listed commits, with commits that are not in the clone, and with a list that may be cut."""
    repository.commit({PATH: BASE + new(link(77))})
    head = repository.git.commit("HEAD")
    listed = [head if sha == "HEAD" else sha for sha in commits]
    called = call("changelog", "validate", "--event", created(repository, *listed))
    assert called.code == 3
    assert "The base revision is unavailable" in called.err or "is not in this repository" in called.err


def test_the_oldest_commit_of_a_shallow_clone_is_not_the_first_commit(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = repository.commit({PATH: BASE + new("XXX")})
    event = created(repository, head)
    source = f"file://{repository.path}"
    repository.git.run("clone", "--quiet", "--depth=1", "--branch", "feat-x", source, str(tmp_path / "edge"))
    monkeypatch.chdir(tmp_path / "edge")
    called = call("changelog", "validate", "--event", event)
    assert called.code == 3
    assert "The clone is shallow" in called.err


@pytest.mark.parametrize("payload", [{"issue": {}}, {"merge_group": {}}, {"ref": "x", "after": "y"}])
def test_an_event_without_revisions_is_refused(repository: Repository, payload: dict[str, Any]) -> None:
    event = repository.path.parent / "event.json"
    event.write_text(json.dumps(payload))
    assert call("changelog", "validate", "--event", str(event)).code == 2


def test_on_actions_problems_are_annotated_and_summarized(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("INFX_POLICY", "main:configs/policy.yaml")
    repository.commit(
        {
            PATH: BASE + b"\n" + new("TBD", text='"::error::x ```"'),
            "configs/policy.yaml": "repository: eve/x\n",
        }
    )

    called = call("changelog", "validate", "--base-ref", "main", "--head-ref", "HEAD", "--pr", "77")
    assert called.code == 1
    assert (
        f"::error file={PATH},line=12,title=pr-link-placeholder::`TBD` is not a valid pr-link" in called.err
    )
    assert called.summary.startswith("### Changelog: 2 to repair\n")
    assert "infx changelog validate --fix --pr 77" in called.summary
    assert f"-  pr-link: TBD\n+  pr-link: {link(77)}\n" in called.summary


def test_on_actions_a_policy_must_be_named(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert call("changelog", "validate").code == 2


def test_add_appends_a_valid_entry(repository: Repository) -> None:
    options = (
        "--config-key",
        "m1-fp8-h",
        "--description",
        'Say "it": #3',
        "--translation",
        "说",
        "--no-evals",
    )
    assert call("changelog", "add", *options, "--scenario-type", "fixed-seq-len").code == 0
    text = (repository.path / PATH).read_bytes()
    assert text == BASE + (
        b"\n- config-keys:\n    - m1-fp8-h200-vllm\n  scenario-type:\n    - fixed-seq-len\n  description:\n"
        b'    - "Say \\"it\\": #3"\n    - "' + "说".encode() + b'"\n  no-evals: true\n  pr-link: XXX\n'
    )
    called = call("changelog", "validate", "--pr", "77")
    assert (called.code, called.out, called.err) == (0, VALID, "")
    called = call("changelog", "add", "--config-key", "m1-*", "--description", "x", "--pr", "77", "--dry-run")
    assert (called.code, called.out.encode()) == (
        0,
        entry(link(77), key='"m1-*"' if '"m1-*"' in called.out else "m1-*", text='"x"'),
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--config-key", "m1"), "could be any of 2 keys"),
        (("--config-key", "m1-fp8-h300-vllm"), "Did you mean m1-fp8-h200-vllm"),
        (("--config-key", "x-*"), "No configuration matches 'x-*'."),
        (("--config-key", "m1-fp8-?300-vllm"), "No configuration matches 'm1-fp8-?300-vllm'."),
        (("--config-key", KEY, "--no-evals", "--all-evals"), "contradict"),
        (
            ("--config-key", KEY, "--translation", "a", "--translation", "b"),
            "Give one translation for each description",
        ),
        (("--config-key", KEY, "--description", " "), "is empty"),
    ],
)
def test_add_refuses_wrong_options(repository: Repository, options: tuple[str, ...], message: str) -> None:
    called = call("changelog", "add", "--description", "x", *options)
    assert called.code == 2
    assert message in called.err
    assert (repository.path / PATH).read_bytes() == BASE


@pytest.mark.parametrize(
    "arguments",
    [
        ("add", "--config-key", KEY, "--description", "x", "--pr", "77"),
        ("canonicalize", "--write", "--pr", "77"),
        ("resolve", "--pr", "77"),
    ],
)
def test_no_link_is_written_while_the_repository_is_not_known(
    repository: Repository, arguments: tuple[str, ...]
) -> None:
    repository.write(
        {PATH: BASE + new("XXX"), "configs/policy.yaml": "master-configs: [configs/nvidia.yaml]\n"}
    )
    called = call("changelog", *arguments)
    assert called.code in {1, 2}
    assert "Give --repo" in called.err
    assert (repository.path / PATH).read_bytes() == BASE + new("XXX")


def test_a_repair_without_a_repository_writes_a_placeholder(repository: Repository) -> None:
    repository.write(
        {PATH: BASE + new("TBD"), "configs/policy.yaml": "master-configs: [configs/nvidia.yaml]\n"}
    )
    assert call("changelog", "validate", "--fix", "--pr", "77").code == 0
    assert (repository.path / PATH).read_bytes() == BASE + new("XXX")


def test_the_base_is_the_main_of_the_policys_repository(repository: Repository) -> None:
    """Clone a fork whose origin is behind: entries merged since must not count as the branch's own."""
    repository.commit({PATH: BASE + new(link(80), text='"theirs"')}, "merged upstream")
    repository.git.run("update-ref", "refs/remotes/origin/main", "main")
    repository.git.run("config", "remote.origin.url", "git@github.com:eve/bench.git")
    repository.git.run("config", "remote.upstream.url", "https://github.com/Acme/Bench")
    assert call("changelog", "validate", "--pr", "77").code == 1  # not fetched yet, so that origin is used
    repository.git.run("update-ref", "refs/remotes/upstream/main", "HEAD")
    repository.commit({PATH: BASE + new(link(80), text='"theirs"') + new("XXX")}, "ours")
    assert call("changelog", "validate", "--pr", "77").code == 0


def test_add_says_that_a_changelog_is_new(repository: Repository) -> None:
    """Report a new file, because the policy may name the wrong file."""
    (repository.path / PATH).unlink()
    called = call("changelog", "add", "--config-key", KEY, "--description", "new")
    assert called.code == 0
    assert f"There was no changelog. Wrote a new one, {PATH}" in called.err
    assert (repository.path / PATH).read_bytes() == entry(text='"new"')


@pytest.mark.parametrize(
    ("tail", "message"),
    [
        (b"<<<<<<< HEAD\n" + entry() + b"=======\n" + entry() + b">>>>>>> main\n", ":6: Unresolved conflict"),
        (b"=======\n", "Unresolved conflict marker"),
        (b'\n- config-keys:\n    - "open\n', "This is not YAML"),
        (b"\n- config-keys: [a\n", "This is not YAML"),
    ],
)
def test_add_refuses_a_file_with_a_broken_end(repository: Repository, tail: bytes, message: str) -> None:
    repository.write({PATH: BASE + tail})
    called = call("changelog", "add", "--config-key", KEY, "--description", "new")
    assert called.code == 1
    assert message in called.err
    assert (repository.path / PATH).read_bytes() == BASE + tail


def test_a_sparse_checkout_has_the_changelog(repository: Repository) -> None:
    repository.commit({PATH: BASE + new("TBD"), "README": "x"})
    repository.git.run("sparse-checkout", "set", "--no-cone", "/README", "/configs/policy.yaml")
    assert not (repository.path / PATH).exists()
    called = call("changelog", "validate", "--pr", "77")
    assert called.code == 1
    assert f"{PATH}:11: `TBD` is not a valid pr-link" in called.err
    assert len(called.err.splitlines()) == 1, "its configurations are read as well"
    repository.git.run("sparse-checkout", "set", "--no-cone", "/configs/")
    called = call("changelog", "add", "--config-key", KEY, "--description", "new")
    assert called.code == 2
    assert f"git sparse-checkout add {PATH}" in called.err
    assert not (repository.path / PATH).exists()


def test_a_missing_changelog_is_an_error(repository: Repository) -> None:
    policy = "repository: acme/bench\nmaster-configs: [configs/nvidia.yaml]\nchangelog: changes.yaml\n"
    repository.commit({"configs/policy.yaml": policy})
    for options in (
        (),
        ("--head-ref", "HEAD"),
        ("--stage", "main", "--base-ref", "main", "--head-ref", "HEAD"),
    ):
        called = call("changelog", "validate", "--pr", "77", *options)
        assert called.code == 1
        assert "changes.yaml: Neither the base nor the head has a changelog." in called.err


BROKEN = {
    "an unknown runner": (CONFIG.replace("runner: h200", "runner: h300"), "h300"),
    "a missing field": (CONFIG.replace("  image: vllm/vllm-openai:v0.20.0\n", "", 1), "image"),
    "a value of the wrong type": (CONFIG.replace("tp: 8", "tp: eight"), "tp"),
}


@pytest.mark.parametrize("stage", ["pr", "merge", "main"])
@pytest.mark.parametrize(("text", "message"), BROKEN.values(), ids=list(BROKEN))
def test_an_entry_whose_configuration_cannot_be_planned_is_refused(
    repository: Repository, text: str, message: str, stage: str
) -> None:
    repository.commit({PATH: BASE + new(link(77)), "configs/nvidia.yaml": text})
    options = ("--base-ref", "main", "--head-ref", "HEAD", "--pr", "77")
    called = call("changelog", "validate", *options, "--stage", stage, "--format", "json")
    assert called.code == 1
    (problem,) = json.loads(called.out)["problems"]
    assert problem["path"] == "configs/nvidia.yaml"
    assert problem["line"]
    assert message in problem["message"]
    assert call("changelog", "validate", "--pr", "77").code == 1, "the working tree too"


def test_only_named_configurations_are_expanded(repository: Repository) -> None:
    other = CONFIG + config("other").replace("runner: h200", "runner: h300")
    repository.commit({PATH: BASE + new("XXX"), "configs/nvidia.yaml": other})
    called = call("changelog", "validate", "--pr", "77")
    assert (called.code, called.out, called.err) == (0, VALID, "")


def test_without_a_new_entry_nothing_is_loaded(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Load nothing: the check of every pull request must be fast, and broken configurations are not its own."""
    monkeypatch.setattr("infx.gather.plan.load_named_inputs", None)
    repository.commit({"configs/nvidia.yaml": "broken: [", "configs/runners.yaml": "x"})
    assert call("changelog", "validate", "--pr", "77").code == 0


def test_problems_of_both_files_come_in_one_report(repository: Repository) -> None:
    """Report a broken configuration together with problems of its entry, which are still repaired."""
    head = BASE + new("TBD") + new("XXX", key="unheard-of")
    broken = CONFIG.replace("runner: h200", "runner: h300", 1)
    repository.commit({PATH: head, "configs/nvidia.yaml": broken})
    called = call("changelog", "validate", "--pr", "77", "--format", "json")
    rules = [problem["rule"] for problem in json.loads(called.out)["problems"]]
    assert called.code == 1
    assert {"config-key-unknown", "pr-link-placeholder"} < set(rules)
    assert len(rules) == 3
    repository.write({PATH: BASE + new("TBD")})
    called = call("changelog", "validate", "--fix", "--pr", "77")
    assert called.code == 1
    assert "h300" in called.err
    assert (repository.path / PATH).read_bytes() == BASE + new(link(77))


def test_a_point_appended_to_a_changed_configuration_is_refused(repository: Repository) -> None:
    """Refuse such a point only before the merge: later, other pull requests may have changed the configuration."""
    more = new(link(77), more="  append-only: true\n")
    changed = CONFIG.replace("v0.20.0", "v0.21.0", 1).replace("conc-list: [4]", "conc-list: [4, 8]", 1)
    repository.commit({PATH: BASE + more, "configs/nvidia.yaml": changed})
    options = ("--base-ref", "main", "--head-ref", "HEAD", "--pr", "77")
    called = call("changelog", "validate", *options)
    assert called.code == 1
    assert "is no longer measured in the same way" in called.err
    assert call("changelog", "validate", *options, "--stage", "merge").code == 0


@pytest.mark.parametrize("name", ["configs/nvidia.yaml", "configs/runners.yaml"])
def test_an_entry_without_its_files_is_refused(repository: Repository, name: str) -> None:
    repository.commit({PATH: BASE + new("XXX")})
    (repository.path / name).unlink()
    called = call("changelog", "validate", "--pr", "77")
    assert called.code == 1
    assert f"{name}: There is no such file, so the new entries could not be expanded." in called.err


def test_files_with_their_configurations_are_expanded(repository: Repository, tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_bytes(BASE)
    files = ("--base-file", str(tmp_path / "base.yaml"), "--head-file", PATH, "--pr", "77")
    repository.write({PATH: BASE + new("XXX"), "configs/runners.yaml": "labels:\n  b200: [b200-a_00]\n"})
    called = call("changelog", "validate", *files)
    assert called.code == 1
    assert "h200" in called.err
    (repository.path / "configs/runners.yaml").unlink()
    called = call("changelog", "validate", *files)
    assert called.code == 0
    assert "warning: configs/runners.yaml: There is no such file" in called.err


FIX_REFUSED = {
    "a warning": (new(link(77)) + b"\n" + new("XXX", text="&a 'x'"), ()),
    "a text that cannot be repaired": (b"\n" + new("TBD", text="Fix\n      #12 x"), ("--pr", "77")),
    "another number": (b"\n" + new("７５"), ("--pr", "77")),
    "another key": (b"\n" + new("TBD", key="unheard-of"), ("--pr", "77")),
}


@pytest.mark.parametrize(("tail", "options"), FIX_REFUSED.values(), ids=list(FIX_REFUSED))
def test_a_refused_repair_reports_the_same_as_plain_validate(
    repository: Repository, tail: bytes, options: tuple[str, ...]
) -> None:
    repository.write({PATH: BASE + tail})
    plain = call("changelog", "validate", *options, "--format", "json")
    fixed = call("changelog", "validate", "--fix", *options, "--format", "json")
    assert (plain.code, plain.out) == (fixed.code, fixed.out)
    assert plain.code == 1
    assert (repository.path / PATH).read_bytes() == BASE + tail


def test_hidden_characters_of_a_copied_link_are_removed(repository: Repository) -> None:
    hidden = link(77).replace("://", ":\u200b//").replace("77", "\ufeff77") + "\u00a0"
    for options in (("--pr", "77"), ()):
        repository.write({PATH: BASE + new(hidden)})
        called = call("changelog", "validate", *options)
        assert called.code == 1
        assert "with invisible U+200B, U+FEFF and U+00A0" in called.err
        assert call("changelog", "validate", "--fix", *options).code == 0
        assert (repository.path / PATH).read_bytes() == BASE + new(link(77))


def test_a_clone_owned_by_another_user_is_named_with_the_remedy(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    for command in (("validate",), ("canonicalize",), ("resolve",), ("install-driver",)):
        called = call("changelog", *command)
        assert called.code == 3, command
        assert "dubious ownership" in called.err
        assert f"git config --global --add safe.directory {repository.path}" in called.err
