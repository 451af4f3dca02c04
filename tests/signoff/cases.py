"""The outcomes of every check for hand-written facts: each status that the check can have, with its words."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

from infx.model import Comment, Conclusion, FileStatus, User
from infx.policy.signoff import CheckStatus
from infx.reuse.facts import ReuseFacts
from infx.signoff.facts import (
    LinkState,
    Membership,
    PlanVariant,
    RecipeFile,
    RecomputedPlan,
    ResolvedLink,
    SignoffFacts,
    TextFile,
)
from infx.signoff.judge import judge
from infx.signoff.outcome import CheckOutcome
from tests.builders import NOW, OLD, comment, pull, run
from tests.signoff.facts import (
    ITEMS,
    KEY,
    MASTER,
    MODELS,
    POLICY,
    RECIPE_URL,
    ROWS,
    SCRIPT,
    THRESHOLDS,
    WAIVER,
    change,
    checklist,
    facts,
    file,
    job,
    judged,
    plan,
    plan_entry,
    point,
    results,
    row,
    score,
    state,
    sweep,
)

PASS, FAIL, WARN, NA = CheckStatus.PASS, CheckStatus.FAIL, CheckStatus.WARN, CheckStatus.NOT_APPLICABLE
CHANGELOG = file("perf-changelog.yaml", "- config-keys:")
AMD = "configs/amd.yaml"


def outcome(slug: str, signoff_facts: SignoffFacts) -> CheckOutcome:
    results = judge(signoff_facts, POLICY).results
    return next(result.outcome for result in results if result.check.slug == slug)


def asked(body: str, author: str = "mia", **fields: Any) -> Comment:
    return comment(body, author, **{"id": 1, "association": "MEMBER", **fields})


def partly_swept(body: str = "/use 900") -> ReuseFacts:
    """Return the facts of a run whose last row failed."""
    reuse = facts(comments=(asked(body),)).reuse
    assert reuse is not None
    (source,) = reuse.runs
    assert source.sweep is not None
    source = replace(source, sweep=replace(source.sweep, done=source.sweep.done[:-1]))
    return replace(reuse, runs=(source,))


def files(*paths: str, **fields: Any) -> dict[str, Any]:
    """Return the fields of changed files, with the same number in the pull request."""
    return {"files": tuple(file(path, **fields) for path in paths), "pull": pull(changed_files=len(paths))}


def signed(author: str, body: str | None = None) -> dict[str, Any]:
    text = body if body is not None else checklist().replace("noor", author)
    return {"signoff": comment(text, author=author)}


def member(login: str, is_member: bool | None) -> dict[str, Any]:
    return {"memberships": (Membership(team="@acme/core", login=login, is_member=is_member),)}


def owners(text: str) -> dict[str, Any]:
    return {"codeowners": TextFile(path="CODEOWNERS", text=text)}


def serving(*lines: str, path: str = SCRIPT, **fields: Any) -> dict[str, Any]:
    changed = (file(path, *lines), CHANGELOG)
    return {"files": changed, "pull": pull(changed_files=2), **fields}


def spec(before: bool = True, **fields: Any) -> dict[str, Any]:
    """Change one speculative configuration, which exists on the base branch unless `before` is false."""
    drafting = state(speculative=True, **fields)
    return {"configs": (change(drafting if before else None, replace(drafting, points="p2")),)}


def agentx(
    text: str | None, *, golden: str | None = None, head: str | None = "same", **fields: Any
) -> dict[str, Any]:
    drafting = state(speculative=True, agentic_speculative=True, scenarios=("agentic",), **fields)
    recipes = () if text is None else (RecipeFile(path=SCRIPT, text=text, keys=(KEY,)),)
    curves = (
        () if golden is None and head == "same" else (judged("configs/golden-al/m1_mtp.yaml", golden, head),)
    )
    return {"configs": (change(None, drafting),), "recipes": recipes, "golden": curves}


GOLDEN = "m1:\n  thinking_on: {2: 2.1, 3: 2.87}\n  thinking_off: {3: 2.99}\n"
VLLM = (
    '{"num_speculative_tokens": 3, "rejection_sample_method": "synthetic", "synthetic_acceptance_length": %s}'
)


def append_only(added: Any = None, **fields: Any) -> dict[str, Any]:
    """Add concurrency 128 to the curve of the other rows."""
    rows = (added or row(7),)
    selected = plan(
        rows, entries=(plan_entry(append_only=True),), base_rows=tuple(old.row for old in ROWS[:6])
    )
    return {"plan": selected, **fields}


TRIMMED = (
    PlanVariant(name="full", rows=ROWS),
    PlanVariant(name="trimmed", rows=ROWS[:1], is_complete=False),
)

CASES: list[tuple[str, str, dict[str, Any], CheckStatus, str]] = [
    # 0: the last matching line decides, both sides of a rename, the catch-all by any owner.
    ("owner", "own line", {}, PASS, "owns 2 changed paths"),
    ("owner", "catch-all by any owner", {**files(MASTER, "run.sh"), **member("noor", None)}, PASS, "owns 2"),
    ("owner", "catch-all by another team's member", {**files("run.sh"), **owners("* @acme/core\nconfigs/ @acme/nv\n"), **signed("lee"), "memberships": (Membership(team="@acme/nv", login="lee", is_member=True),)}, PASS, "owns 1"),
    ("owner", "CODEOWNERS of the base branch", {**files(MASTER, ".github/CODEOWNERS"), **signed("amy")}, FAIL, "does not own `configs/nvidia.yaml`"),
    ("owner", "other owner", {**files(MASTER), **signed("amy")}, FAIL, "`amy` does not own `configs/nvidia.yaml` (owners: `@noor`, `@acme/core`)"),
    ("owner", "one of two", {**files(MASTER, AMD), **signed("amy")}, FAIL, "does not own `configs/nvidia.yaml`"),
    ("owner", "other owner, team unreadable", {**files(MASTER), **signed("amy"), **member("amy", None)}, FAIL, "nvidia"),
    ("owner", "team unreadable", {**files(MASTER), **signed("mia"), **member("mia", None)}, WARN, "cannot read"),
    ("owner", "team member", {**files(MASTER), **signed("mia"), **member("mia", True)}, PASS, "owns 1"),
    ("owner", "no team member", {**files(MASTER), **signed("mia"), **member("mia", False)}, FAIL, "does not own"),
    ("owner", "another person's catch-all", {**files("run.sh"), **signed("eve"), **member("eve", False)}, FAIL, "run.sh"),
    ("owner", "author", {"pull": pull(author=User(login="Noor"))}, FAIL, "author cannot sign"),
    ("owner", "rename", {"files": (file("misc/x.yaml", status=FileStatus.RENAMED, previous_path=AMD),), "pull": pull(changed_files=1), **signed("amy")}, PASS, "owns 2"),
    ("owner", "rename away", {"files": (file("misc/x.yaml", status=FileStatus.RENAMED, previous_path=AMD),), "pull": pull(changed_files=1)}, FAIL, AMD),
    ("owner", "unseen files", {"pull": pull(changed_files=3200)}, FAIL, "2 of 3200"),
    ("owner", "address", {**files("run.sh"), **owners("* @noor\n/run.sh mia@acme.example\n"), **signed("mia")}, WARN, "a team or an address"),
    ("owner", "address, another owner", {**files("run.sh"), **owners("* @noor\n/run.sh mia@acme.example\n")}, FAIL, "does not own `run.sh`"),
    ("owner", "ownerless", {**files(MASTER, "free/x"), **owners(f"* @noor\n{MASTER} @noor\n/free\n")}, PASS, "Without an owner: `free/x`"),
    ("owner", "no file", {"codeowners": None}, FAIL, "no CODEOWNERS"),
    ("owner", "empty file", owners("# nothing\n"), FAIL, "names no owner for any path"),
    ("owner", "skipped line", owners(f"* @noor\n!x @amy\n{MASTER} @noor\n"), PASS, "In `CODEOWNERS`, line 2 cannot be read"),
    # 1: rows by their ids, in the newest attempt, on a commit of the pull request, by the workflow's path.
    ("sweep", "all rows", {}, PASS, "All 8 rows (6 throughput, 2 accuracy)"),
    ("sweep", "canary and rerun", {"runs": (sweep(jobs=(*(job(r, attempt=2) for r in ROWS), job(ROWS[0], Conclusion.FAILURE))),)}, PASS, "8 rows"),
    ("sweep", "failed in the newest attempt", {"runs": (sweep(jobs=(*(job(r) for r in ROWS), job(ROWS[0], Conclusion.FAILURE, attempt=2))),)}, FAIL, "000000000001"),
    ("sweep", "accuracy run missing", {"runs": (sweep(ROWS[:7]),)}, FAIL, "00000000000c"),
    ("sweep", "skipped is missing", {"runs": (sweep(jobs=(*(job(r) for r in ROWS[1:]), job(ROWS[0], Conclusion.SKIPPED))),)}, FAIL, "1 of 8 rows did not run"),
    ("sweep", "cancelled", {"runs": (sweep(jobs=(*(job(r) for r in ROWS[1:]), job(ROWS[0], Conclusion.CANCELLED))),)}, FAIL, "1 of 8 rows did not succeed"),
    ("sweep", "running", {"runs": (sweep(jobs=(*(job(r) for r in ROWS[1:]), job(ROWS[0], None)), run=run(status="in_progress", conclusion=None)),)}, FAIL, "not finished: 7 of 8"),
    ("sweep", "none yet", {"runs": ()}, FAIL, "no run of"),
    ("sweep", "other workflow", {"runs": (sweep(run=run(path=".github/workflows/mine.yml")),)}, FAIL, "no run of"),
    ("sweep", "commit rebased away", {"runs": (sweep(run=run(head_sha="e" * 40)),)}, FAIL, "no run of"),
    ("sweep", "older commit of the PR", {"runs": (sweep(run=run(head_sha=OLD)),)}, PASS, OLD[:12]),
    ("sweep", "script changed later", {"runs": (sweep(run=run(head_sha=OLD), later_paths=(MASTER, "README.md")),)}, WARN, f"`{MASTER}`"),
    ("sweep", "unknown later", {"runs": (sweep(later_paths=None),)}, WARN, "cannot be read"),
    ("sweep", "results rejected", {"runs": (sweep(run=run(conclusion=Conclusion.FAILURE)),)}, WARN, "The run itself ended with `failure`"),
    ("sweep", "cancelled after its rows", {"runs": (sweep(run=run(conclusion=Conclusion.CANCELLED)),)}, WARN, "The run itself ended with `cancelled`"),
    ("sweep", "trimmed", {"plan": plan(variants=TRIMMED), "runs": (sweep(ROWS[:1]),)}, WARN, "trimmed sweep, not a full one"),
    ("sweep", "full one that failed beyond the trimmed rows", {"plan": plan(variants=TRIMMED), "runs": (sweep(jobs=(*(job(r) for r in ROWS[:-1]), job(ROWS[-1], Conclusion.FAILURE))),)}, FAIL, "1 of 8 rows did not succeed"),
    ("sweep", "fork without approval", {"pull": pull(head_repository="eve/bench")}, FAIL, "named by its approval"),
    ("sweep", "fork, approved run", {"pull": pull(head_repository="eve/bench"), "approved_run": 900, "commits": ()}, PASS, "8 rows"),
    ("sweep", "fork, other run", {"pull": pull(head_repository="eve/bench"), "approved_run": 901}, FAIL, "no run of"),
    ("sweep", "no plan", {"plan": RecomputedPlan(problem="No such key.")}, FAIL, "No such key."),
    ("sweep", "nothing planned", {"plan": plan(()), "configs": ()}, NA, "plans no rows"),
    ("sweep", "config without entry", {"plan": plan(())}, WARN, f"`{MASTER}:10`"),
    ("sweep", "script without entry", {**serving("vllm serve"), "plan": plan((), entries=()), "configs": (change(state(), state()),)}, WARN, f"the files that serve them change (`{KEY}`)"),
    ("sweep", "another config without entry", {"configs": (change(state(), state(points="p2")), change(state(line=30), state(line=30, image="vllm/vllm-openai:v1"), key="m1-fp8-h200-vllm-mtp"))}, WARN, f"Other configurations or the files that serve them change (`{MASTER}:30`)"),
    ("sweep", "another config goes", {"configs": (change(state(), state(points="p2")), change(state(line=30), None, key="m1-fp8-h200-vllm-mtp"))}, PASS, "All 8 rows"),
    ("sweep", "config goes", {"plan": plan((), entries=()), "configs": (change(state(), None),)}, NA, "plans no rows"),
    ("sweep", "workflow edited", files(MASTER, ".github/workflows/run-sweep.yml"), WARN, "changes the rules that produced"),
    ("sweep", "policy edited", files(MASTER, "configs/policy.yaml"), WARN, "changes the rules that produced"),
    ("sweep", "workflow edited at the run's commit only", {"runs": (sweep(edited_rules=(".github/workflows/run-sweep.yml",)),)}, WARN, "run-sweep.yml"),
    ("sweep", "forged names", {"runs": (sweep(jobs=tuple(job(r, name=f"eval / {r.id}") for r in ROWS)),)}, FAIL, "8 of 8 rows did not run"),
    # 2: every accuracy run, by the base branch's thresholds, with the plan's image.
    ("accuracy", "above", {}, PASS, "2 scores of 2"),
    ("accuracy", "below the model's threshold", {"results": results(scores=(score(ROWS[6], 0.93), score(ROWS[7])))}, FAIL, "0.93, below 0.94"),
    ("accuracy", "other image", {"results": results(scores=(score(ROWS[6], identity={"image": "x/y:1"}), score(ROWS[7])))}, FAIL, "`x/y:1`"),
    ("accuracy", "broken", {"results": results(scores=(score(ROWS[6], None, is_sound=False), score(ROWS[7])))}, FAIL, "broke down"),
    ("accuracy", "not a number", {"results": results(scores=(score(ROWS[6], float("nan")), score(ROWS[7])))}, FAIL, "broke down"),
    ("accuracy", "percent", {"results": results(scores=(score(ROWS[6], 95.0), score(ROWS[7])))}, FAIL, "the score 95, which is not between 0 and 1"),
    ("accuracy", "negative", {"results": results(scores=(score(ROWS[6], -0.1), score(ROWS[7])))}, FAIL, "not between"),
    ("accuracy", "no samples", {"results": results(scores=(score(ROWS[6], samples=0), score(ROWS[7])))}, FAIL, "no samples"),
    ("accuracy", "few samples", {"results": results(scores=(score(ROWS[6], samples=5), score(ROWS[7])))}, FAIL, "5 of 1,319 samples counted"),
    ("accuracy", "just enough samples", {"results": results(scores=(score(ROWS[6], samples=1254), score(ROWS[7])))}, PASS, "2 scores"),
    ("accuracy", "just too few samples", {"results": results(scores=(score(ROWS[6], samples=1253), score(ROWS[7])))}, FAIL, "1,253 of 1,319"),
    ("accuracy", "more samples than there are", {"results": results(scores=(score(ROWS[6], original=100), score(ROWS[7])))}, FAIL, "but the task has 100"),
    ("accuracy", "missing score", {"results": results(scores=(score(ROWS[6]),))}, FAIL, "has no score"),
    ("accuracy", "missing concurrency", {"results": results(scores=(score(ROWS[6]), score(ROWS[7], conc=2)))}, FAIL, "concurrency 64"),
    ("accuracy", "unplanned concurrency", {"results": results(scores=(score(ROWS[6]), score(ROWS[7]), score(ROWS[7], conc=2)))}, FAIL, "unplanned scores at concurrency 2"),
    ("accuracy", "ambiguous", {"results": results(scores=(score(ROWS[6], 0.78), score(ROWS[6]), score(ROWS[7])))}, FAIL, "ambiguous"),
    ("accuracy", "another run's", {"results": results(run_id=1)}, FAIL, "no collected accuracy"),
    ("accuracy", "artifact unreadable", {"results": results(problems=("agg.json is not JSON.",))}, FAIL, "not JSON"),
    ("accuracy", "no results", {"results": None}, FAIL, "no collected accuracy"),
    ("accuracy", "not run", {"runs": (), "results": None}, FAIL, "none has run"),
    ("accuracy", "thresholds not read", {"thresholds": None}, FAIL, "no threshold"),
    ("accuracy", "no file of thresholds", {"thresholds": judged("t.yaml", None), "results": results(scores=(score(ROWS[6], 0.85), score(ROWS[7])))}, PASS, "are at or above the threshold"),
    ("accuracy", "no file of thresholds, below", {"thresholds": judged("t.yaml", None), "results": results(scores=(score(ROWS[6], 0.84), score(ROWS[7])))}, FAIL, "reached 0.84, below 0.85"),
    ("accuracy", "thresholds come with it", {"thresholds": judged("t.yaml", None, "default: {gsm8k: 0.5}\n")}, WARN, "gsm8k of m1: 0.85 → 0.5"),
    ("accuracy", "bad thresholds", {"thresholds": judged("t.yaml", "default: [")}, FAIL, "cannot be read"),
    ("accuracy", "threshold lowered here", {"thresholds": judged("t.yaml", THRESHOLDS, "default: {gsm8k: 0.5}\n")}, WARN, "0.94 → 0.5"),
    ("accuracy", "threshold lowered to pass", {"thresholds": judged("t.yaml", THRESHOLDS, "default: {gsm8k: 0.5}\n"), "results": results(scores=(score(ROWS[6], 0.6), score(ROWS[7])))}, FAIL, "below 0.94"),
    ("accuracy", "another model's threshold", {"thresholds": judged("t.yaml", THRESHOLDS, "default: {gsm8k: 0.9}\nmodels: {m1: {gsm8k: 0.94}, m9: {gsm8k: 0.1}}\n")}, PASS, "2 scores"),
    ("accuracy", "diagnostic task", {"results": results(scores=(score(ROWS[6], 0.1, task="probe"), score(ROWS[7]))), "thresholds": judged("t.yaml", "default: {gsm8k: 0.9, probe: 0.0}\n")}, PASS, "2 scores"),
    ("accuracy", "unnamed task", {"results": results(scores=(score(ROWS[6], 0.84, task="new"), score(ROWS[7])))}, FAIL, "below 0.85"),
    ("accuracy", "samples of how many", {"results": results(scores=(score(ROWS[6], original=None), score(ROWS[7])))}, WARN, "number of samples is unknown for 1 score (`gsm8k`)"),
    ("accuracy", "no count of samples", {"results": results(scores=(score(ROWS[6], samples=None, original=None), score(ROWS[7])))}, WARN, "number of samples is unknown"),
    ("accuracy", "none planned", {"plan": plan(ROWS[:6])}, NA, "no accuracy runs"),
    ("accuracy", "workflow edited", files(MASTER, ".github/workflows/run-sweep.yml"), WARN, "changes the rules that produced"),
    # 3: linked, merged or published; the comparison of settings needs human review.
    ("recipe", "points only", {}, PASS, "Only concurrencies change"),
    ("recipe", "settings change", {"configs": (change(state(), state(settings="s2")),)}, WARN, f"`{MASTER}:10`"),
    ("recipe", "script changes", serving("vllm serve --x"), WARN, f"`{SCRIPT}:5`"),
    ("recipe", "script loses lines", serving(), WARN, f"`{SCRIPT}`"),
    ("recipe", "script is gone", {"files": (file(SCRIPT, status=FileStatus.REMOVED), CHANGELOG)}, WARN, f"`{SCRIPT}`"),
    ("recipe", "workflow changes", serving("run: x", path=".github/workflows/benchmark.yml"), WARN, "benchmark.yml:5"),
    ("recipe", "no link", signed("noor", checklist(detail="none")), FAIL, "No link to the vllm recipe"),
    ("recipe", "list of recipes", signed("noor", checklist(detail="https://recipes.vllm.ai/ https://recipes.vllm.ai/?m1 https://recipes.vllm.ai")), FAIL, "No link"),
    ("recipe", "list below a folder", {**signed("noor", checklist(detail="https://docs.sglang.io/cookbook/ https://docs.sglang.io/cookbook/../x")), "configs": (change(state(framework="sglang"), state(framework="sglang", points="p")),)}, FAIL, "No link"),
    ("recipe", "link of the other engine", signed("noor", checklist(detail="https://docs.sglang.io/cookbook/a")), FAIL, "No link"),
    ("recipe", "open", {"links": (ResolvedLink(url=RECIPE_URL, state=LinkState.OPEN),)}, FAIL, "is open"),
    ("recipe", "closed", {"links": (ResolvedLink(url=RECIPE_URL, state=LinkState.CLOSED),)}, FAIL, "is closed"),
    ("recipe", "unreachable", {"links": (ResolvedLink(url=RECIPE_URL, state=LinkState.UNKNOWN),)}, WARN, "could not be read"),
    ("recipe", "not followed", {"links": ()}, WARN, "could not be read"),
    ("recipe", "published page", {**signed("noor", checklist(detail="https://recipes.vllm.ai/m1")), "links": (ResolvedLink(url="https://recipes.vllm.ai/m1", state=LinkState.PUBLISHED),)}, PASS, "The recipe is linked"),
    ("recipe", "other host", signed("noor", checklist(detail="https://recipes.vllm.ai.evil.example/m1")), FAIL, "No link"),
    ("recipe", "merged elsewhere", {**signed("noor", checklist(detail="https://github.com/sgl-project/sglang/pull/3")), "configs": (change(state(framework="sglang"), state(framework="sglang", points="p")),), "links": (ResolvedLink(url="https://github.com/sgl-project/sglang/pull/3", state=LinkState.MERGED, paths=("python/x.py",)),)}, FAIL, "changes no recipe"),
    ("recipe", "vendor engine", {"configs": (change(state(framework="trt"), state(framework="trt", points="p")),)}, NA, "No configuration of an open engine"),
    ("recipe", "link in a quote", signed("noor", checklist(detail=f"> {RECIPE_URL}")), FAIL, "No link"),
    # 4: on a line of its own, by a person with write access.
    ("reuse", "asked for", {}, PASS, "run 900 to be reused"),
    ("reuse", "newest", {"comments": (asked("/reuse-sweep-run\r\nthanks"),)}, PASS, "newest suitable run to be reused, which is run 900"),
    ("reuse", "no command", {"comments": ()}, WARN, "/use <run id>"),
    ("reuse", "incomplete", {"reuse": partly_swept()}, PASS, "It is incomplete: 7 of 8 rows (1 missing)"),
    ("reuse", "incomplete and not named", {"reuse": partly_swept("/reuse-sweep-run")}, WARN, "pin it\\: /reuse\\-sweep\\-run 900"),
    ("reuse", "not swept", {"runs": (sweep(run=run(None)),)}, WARN, "run 900 cannot be used, because it has not completed"),
    ("reuse", "bare /use", {"comments": (asked("/use"),)}, WARN, "No one with write access"),
    ("reuse", "outsider", {"comments": (asked("/use 900", "eve"),)}, WARN, "No one with write access"),
    ("reuse", "not associated", {"comments": (asked("/use 900", association="CONTRIBUTOR"),)}, WARN, "No one with write access"),
    ("reuse", "in a fence", {"comments": (asked("```\n/use 900\n```"),)}, WARN, "No one with write access"),
    ("reuse", "in a sentence", {"comments": (asked("please /use 900"),)}, WARN, "No one with write access"),
    ("reuse", "no such run", {"comments": (asked("/use 5"),)}, WARN, "there is no run 5"),
    ("reuse", "another branch", {"runs": (sweep(run=run(head_branch="x-@acme/core")),)}, WARN, "it belongs to the branch"),
    ("reuse", "not read", {"reuse": None}, WARN, "No one with write access"),
    ("reuse", "nothing planned", {"plan": plan(())}, NA, "nothing to reuse"),
    # 5: every item ticked, or left open with a reason.
    ("checklist", "all ticked", {}, PASS, "6 of 6 items are ticked"),
    ("checklist", "two missing", signed("noor", checklist(items=ITEMS[:3] + ITEMS[5:])), FAIL, "missing: `4 Linked the accuracy runs of that sweep`, `5"),
    ("checklist", "open", signed("noor", checklist([True, True, False, False, True, True])), FAIL, "not ticked and not explained: `3"),
    ("checklist", "explained", signed("noor", checklist([True, True, False, False, True, True], detail="3, 4: docs-only change, no sweep exists")), PASS, "2 left open with a reason"),
    ("checklist", "denied", signed("noor", checklist(items=(*ITEMS[:4], "Verified that an engine is patched", ITEMS[5]))), WARN, "contradict the checklist"),
    ("checklist", "both ways", signed("noor", checklist([*[True] * 6, False], items=(*ITEMS, ITEMS[2]))), FAIL, "present twice, ticked once: `3"),
    ("checklist", "signed by another", signed("noor", checklist().replace("Signed: noor", "Signed: amy")), FAIL, "line names `amy`, but `noor`"),
    ("checklist", "no template", {"checklists": ()}, FAIL, "has no `docs/PR_REVIEW_CHECKLIST.md`"),
    ("checklist", "template without items", {"checklists": (TextFile(path="t.md", text="As a PR reviewer and CODEOWNER, done."),)}, FAIL, "no items"),
    ("checklist", "hundreds of items", signed("noor", checklist(items=ITEMS * 40, ticked=[True] * 240)), FAIL, "240 task items"),
    # 6: upstream images, and an open engine first.
    ("images", "upstream", {}, PASS, "1 configuration"),
    ("images", "digest", {"configs": (change(state(), state(image="vllm/vllm-openai#nightly@sha256:00")),)}, FAIL, "uses"),
    ("images", "with digest", {"configs": (change(state(), state(image="vllm/vllm-openai:nightly@sha256:00")),)}, PASS, "as required"),
    ("images", "other repository", {"configs": (change(state(), state(image="cody/vllm:1")),)}, FAIL, "uses `cody/vllm`"),
    ("images", "look-alike registry", {"configs": (change(state(), state(image="evil.example/vllm/vllm-openai:1")),)}, FAIL, "evil.example"),
    ("images", "new hardware", {"configs": (change(None, state(image="cody/vllm:1", runner="cluster:vr-nvl72")),)}, WARN, "too new"),
    ("images", "vendor first", {"configs": (change(None, state(framework="trt", image="nvcr.io/trt:1")),), "known_configs": ()}, FAIL, "no open engine serves"),
    ("images", "vendor after open", {"configs": (change(None, state(framework="trt", image="nvcr.io/trt:1")),)}, PASS, "as required"),
    ("images", "vendor instead of open", {"configs": (change(state(), state(framework="trt", image="nvcr.io/trt:1")),)}, FAIL, "no open engine serves"),
    ("images", "vendor while open goes", {"configs": (change(None, state(framework="trt", image="nvcr.io/trt:1"), key="k2"), change(state(), None))}, FAIL, "no open engine serves"),
    ("images", "vendor while open changes", {"configs": (change(None, state(framework="trt", image="nvcr.io/trt:1"), key="k2"), change(state(), state(image="vllm/vllm-openai:v1")))}, PASS, "as required"),
    ("images", "vendor with open", {"configs": (change(None, state(framework="trt", image="nvcr.io/trt:1"), key="k2"), change(None, state())), "known_configs": ()}, WARN, "comes together with"),
    ("images", "old vendor entry", {"configs": (change(state(framework="trt"), state(framework="trt", image="nvcr.io/trt:2")),), "known_configs": ()}, PASS, "as required"),
    ("images", "nothing changed", {"configs": (change(state(), state(line=99)),)}, NA, "No master configuration changes"),
    # 7: by the base branch's file and today's date.
    ("deprecation", "active", {}, PASS, "is active on 2026-11-30"),
    ("deprecation", "retired scenario", {"plan": plan((row(1, scenario="1k1k"),))}, FAIL, "the scenario was retired on 2026-07-17"),
    ("deprecation", "retired model", {"plan": plan((row(1, model_prefix="m2"),))}, FAIL, "M2 was retired on 2026-10-01"),
    ("deprecation", "announced", {"plan": plan((row(1, model_prefix="m3"),))}, PASS, "until 2026-12-24"),
    ("deprecation", "from today", {"plan": plan((row(1, model_prefix="m4"),))}, FAIL, "on 2026-11-30"),
    ("deprecation", "still the day before at Greenwich", {"plan": plan((row(1, model_prefix="m4"),)), "now": datetime(2026, 11, 30, 5, tzinfo=timezone(timedelta(hours=9)))}, PASS, "until 2026-11-30"),
    ("deprecation", "precision", {"plan": plan((row(1, precision="fp4"),))}, FAIL, "in fp8 only"),
    ("deprecation", "scenario never supported", {"plan": plan((row(1, model_prefix="m2", scenario="agentic"),)), "now": NOW - timedelta(days=90)}, FAIL, "not supported"),
    ("deprecation", "unknown model", {"plan": plan((row(1, model_prefix="m9"),))}, FAIL, "not in the file"),
    ("deprecation", "model added here", {"plan": plan((row(1, model_prefix="m9"),)), "models": judged("m.yaml", MODELS, MODELS + "  m9: {title: M9, scenarios: {8k1k: {}}}\n")}, WARN, "is new"),
    ("deprecation", "date moved here", {"plan": plan((row(1, model_prefix="m2"),)), "models": judged("m.yaml", MODELS, MODELS.replace("deprecated: 2026-10-01", "deprecated: 2027-10-01"))}, FAIL, "retired on 2026-10-01"),
    ("deprecation", "retired here", {"models": judged("m.yaml", MODELS, MODELS.replace("m1: {", "m1: {deprecated: 2026-11-01, "))}, WARN, "this pull request says"),
    ("deprecation", "not read", {"models": None}, FAIL, "`configs/models.yaml` was not read"),
    ("deprecation", "file comes with it", {"models": judged("m.yaml", None, MODELS)}, WARN, "adds one. By that file: `m1 8k1k fp8` active"),
    ("deprecation", "file comes with it and says otherwise", {"models": judged("m.yaml", None, MODELS), "plan": plan((row(1, scenario="1k1k"),))}, WARN, "the scenario was retired on 2026-07-17"),
    ("deprecation", "broken file comes with it", {"models": judged("m.yaml", None, "models: 1")}, FAIL, "cannot be read"),
    ("deprecation", "bad file", {"models": judged("m.yaml", "models: 1")}, FAIL, "cannot be read"),
    ("deprecation", "nothing measured", {"plan": plan(())}, NA, "Nothing is measured"),
    ("deprecation", "no file", {"models": judged("configs/models.yaml", None)}, NA, "has no `configs/models.yaml`, so nothing is retired"),
    # 8
    ("architecture", "nothing known", {}, PASS, "No known architecture override in 1 added line of 1 file"),
    ("architecture", "events off", serving("  publish_events_and_metrics: false"), FAIL, f"`{SCRIPT}:5: publish_events_and_metrics: false`"),
    ("architecture", "events off in YAML", serving("  publish_events_and_metrics: No"), FAIL, "publish_events"),
    ("architecture", "events off by option", serving("serve --publish-events-and-metrics false"), FAIL, "publish-events"),
    ("architecture", "events on", serving("  publish_events_and_metrics: true"), PASS, "No known"),
    ("architecture", "fewer layers", serving("""--hf-overrides '{"num_hidden_layers": 4}'"""), FAIL, "num_hidden_layers"),
    ("architecture", "an override", serving("""--hf-overrides '{"rope_theta": 4}'"""), WARN, "need human review"),
    ("architecture", "line of an override that begins above", serving("""  "num_hidden_layers": 4,"""), WARN, "num_hidden_layers"),
    ("architecture", "unreadable file", {"files": (file(SCRIPT, added=None), CHANGELOG)}, WARN, "cannot be read line by line"),
    ("architecture", "in a workflow", serving("run: serve --hf-overrides x", path=".github/workflows/benchmark.yml"), WARN, "benchmark.yml:5"),
    ("architecture", "script among the documentation", serving("serve --hf-overrides x", path="docs/serve.sh"), WARN, "docs/serve.sh:5"),
    ("architecture", "documentation", {"files": (file("docs/a.md", "--hf-overrides"), CHANGELOG)}, NA, "No file that a row may run"),
    # 9
    ("chat", "not speculative", {}, NA, "No configuration with speculative decoding"),
    ("chat", "AgentX", spec(scenarios=("agentic",)), PASS, "replayed chats"),
    ("chat", "template used", {**spec(), "recipes": (RecipeFile(path=SCRIPT, text="bench --use-chat-template", keys=(KEY,)),)}, PASS, "chat template"),
    ("chat", "nothing shows it", spec(), WARN, "No file shows"),
    ("chat", "shown by the AgentX script only", {**spec(), "recipes": (RecipeFile(path="benchmarks/single_node/agentic/m1_vllm.sh", text="bench --use-chat-template", keys=(KEY,)),)}, WARN, "No file shows"),
    ("chat", "commented out", {**spec(), "recipes": (RecipeFile(path=SCRIPT, text="bench\n  # --use-chat-template", keys=(KEY,)),)}, WARN, "No file shows"),
    ("chat", "raw completions", {**serving("curl $HOST/v1/completions"), **spec(scenarios=("agentic",))}, FAIL, "/v1/completions"),
    ("chat", "chat completions", {**serving("curl $HOST/v1/chat/completions"), **spec(scenarios=("agentic",))}, PASS, "No raw completions"),
    ("chat", "raw completions in a comment", {**serving("# never /v1/completions"), **spec(scenarios=("agentic",))}, WARN, "must check that these use a chat template"),
    ("chat", "unreadable file", {**spec(scenarios=("agentic",)), "files": (file(SCRIPT, added=None), CHANGELOG)}, WARN, "must check that these use a chat template"),
    # 10
    ("patches", "nothing known", {}, PASS, "No known way to patch"),
    ("patches", "git apply", serving("git apply fix.patch"), FAIL, "without a waiver `docs/waiver/77.md`"),
    ("patches", "patch from a file", serving("patch -d /opt < fix.txt"), FAIL, "patch -d /opt"),
    ("patches", "patch file", serving("+ x", path="benchmarks/fix.patch"), FAIL, "a patch file"),
    ("patches", "questionable", serving("pip install nixl==0.3"), WARN, "may change the serving stack"),
    ("patches", "engine from a branch", serving("pip install -U git+https://github.com/vllm-project/vllm@fix"), FAIL, "git+https"),
    ("patches", "harness from a branch", serving("pip install git+https://github.com/EleutherAI/lm-evaluation-harness.git@v0.4"), WARN, "may change the serving stack"),
    ("patches", "comment", serving("  # git apply is no longer needed"), WARN, "may change the serving stack"),
    ("patches", "what a queue reads", serving("#SBATCH --wrap='git apply fix.patch'"), FAIL, "#SBATCH"),
    ("patches", "own image", serving("docker build ."), WARN, "docker build"),
    ("patches", "waiver not linked", {**serving("git apply x"), "waivers": (judged("docs/waiver/77.md", None, WAIVER),)}, FAIL, "does not link"),
    ("patches", "waiver without plan", {**serving("git apply x"), **signed("noor", checklist(detail=f"{RECIPE_URL} docs/waiver/77.md")), "waivers": (judged("docs/waiver/77.md", None, WAIVER.replace("Removal plan: with v0.10", "")),)}, FAIL, "does not say: `removal plan`"),
    ("patches", "waived", {**serving("git apply x"), **signed("noor", checklist(detail=f"{RECIPE_URL} docs/waiver/77.md")), "waivers": (judged("docs/waiver/77.md", None, WAIVER),)}, WARN, "covers exactly this"),
    ("patches", "old waiver", {**serving("git apply x"), **signed("noor", checklist(detail=f"{RECIPE_URL} [w](https://github.com/acme/bench/blob/main/docs/waiver/12.md)")), "waivers": (judged("docs/waiver/12.md", WAIVER),)}, WARN, "docs/waiver/12.md"),
    ("patches", "another number, new", {**serving("git apply x"), **signed("noor", checklist(detail=f"{RECIPE_URL} docs/waiver/12.md")), "waivers": (judged("docs/waiver/12.md", None, WAIVER),)}, FAIL, "without a waiver"),
    ("patches", "in a workflow", serving("- run: git apply fix.patch", path=".github/workflows/benchmark.yml"), FAIL, "benchmark.yml:5"),
    ("patches", "documentation", {"files": (file("docs/a.md", "git apply"), CHANGELOG)}, NA, "No file that a row may run"),
    # 11
    ("acceptance", "not AgentX", {}, NA, "No AgentX configuration"),
    ("acceptance", "as committed", agentx(VLLM % "2.87", golden=GOLDEN), PASS, "as committed: `2.87 (thinking_on, 3 draft tokens"),
    ("acceptance", "thinking off", agentx(VLLM % "2.99", golden=GOLDEN), PASS, "thinking_off"),
    ("acceptance", "other length", agentx(VLLM % "3.4", golden=GOLDEN), FAIL, "has 3.4`, committed is"),
    ("acceptance", "length of another draft", agentx(VLLM % "2.1", golden=GOLDEN), FAIL, "has 2.1"),
    ("acceptance", "not switched on", agentx((VLLM % "2.87").replace("synthetic\"", "typical\""), golden=GOLDEN), FAIL, "not switched on"),
    ("acceptance", "not simulated", agentx("vllm serve", golden=GOLDEN), FAIL, "not simulated"),
    ("acceptance", "one of each scenario", {**agentx(None, golden=GOLDEN), "recipes": tuple(RecipeFile(path=f"benchmarks/{name}/m1_vllm.sh", text=text, keys=(KEY,)) for name, text in (("fixed_seq_len", "vllm serve"), ("agentic", VLLM % "2.87")))}, PASS, "2.87"),
    ("acceptance", "commented out", agentx(f"# {VLLM % '2.87'}\nvllm serve", golden=GOLDEN), FAIL, "not simulated"),
    ("acceptance", "draft length unknown", agentx("SGLANG_SIMULATE_ACC_LEN=2.87", golden=GOLDEN), WARN, "not certain"),
    ("acceptance", "one file of two", {**agentx(None, golden=GOLDEN), "recipes": tuple(RecipeFile(path=f"benchmarks/{name}.sh", text=text, keys=(KEY,)) for name, text in (("m1_vllm", "vllm serve"), ("m1_vllm_mtp", VLLM % "2.87")))}, WARN, "`benchmarks/m1_vllm.sh` may serve it too"),
    ("acceptance", "sglang", agentx("SGLANG_SIMULATE_ACC_LEN=2.87\n--speculative-num-steps 3", golden=GOLDEN), PASS, "2.87"),
    ("acceptance", "tensorrt counts one less", agentx("TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS=1.87\nmax_draft_len: 3", golden=GOLDEN), PASS, "2.87"),
    ("acceptance", "atom", agentx("--spec-decode-acceptance-length 2.99 --num-speculative-tokens 3", golden=GOLDEN), PASS, "2.99"),
    ("acceptance", "length not measured", agentx((VLLM % "2.87").replace(": 3,", ": 7,"), golden=GOLDEN), FAIL, "no committed length for 7"),
    ("acceptance", "length measured here", agentx((VLLM % "3.3").replace(": 3,", ": 4,"), golden=GOLDEN, head=GOLDEN.replace("3: 2.87", "3: 2.87, 4: 3.3")), WARN, "this pull request adds `3.3 (thinking_on, 4 draft tokens"),
    ("acceptance", "other length than measured here", agentx((VLLM % "3.9").replace(": 3,", ": 4,"), golden=GOLDEN, head=GOLDEN.replace("3: 2.87", "3: 2.87, 4: 3.3")), FAIL, "this pull request adds"),
    ("acceptance", "no curve", agentx(VLLM % "2.87"), WARN, "no curve"),
    ("acceptance", "no file", agentx(None, golden=GOLDEN), WARN, "no file that serves it"),
    ("acceptance", "curve added here", agentx(VLLM % "2.87", golden=None, head=GOLDEN), WARN, "this pull request adds"),
    ("acceptance", "curve changed here", agentx(VLLM % "2.87", golden=GOLDEN, head=GOLDEN.replace("2.87", "3.4")), WARN, "this pull request has"),
    ("acceptance", "curve changed to fit", agentx(VLLM % "3.4", golden=GOLDEN, head=GOLDEN.replace("2.87", "3.4")), FAIL, "this pull request has"),
    ("acceptance", "bad curve", agentx(VLLM % "2.87", golden="m1: 3"), FAIL, "cannot be read"),
    ("acceptance", "outside of AgentX", {**spec(), "recipes": (RecipeFile(path=SCRIPT, text=VLLM % "2.87", keys=(KEY,)),)}, FAIL, "outside of AgentX"),
    ("acceptance", "length of the other mode", agentx(f"export THINKING_MODE=thinking_on\n{VLLM % '2.99'}", golden=GOLDEN), FAIL, "has 2.99`, committed is `2.87 (thinking_on"),
    ("acceptance", "length of its mode", agentx(f"export THINKING_MODE=thinking_off\n{VLLM % '2.99'}", golden=GOLDEN), PASS, "thinking_off"),
    ("acceptance", "script of the model's AgentX rows", {**spec(), "recipes": (RecipeFile(path="benchmarks/single_node/agentic/m1_vllm_mtp.sh", text=VLLM % "2.87", keys=(KEY,)),)}, NA, "No AgentX"),
    ("acceptance", "such a script, named by the configuration", {**spec(recipes=("agentic/m1.yaml",)), "recipes": (RecipeFile(path="agentic/m1.yaml", text=VLLM % "2.87", keys=(KEY,)),)}, FAIL, "outside of AgentX"),
    ("acceptance", "script of a drafting one", {"recipes": (RecipeFile(path="benchmarks/m1_vllm_mtp.sh", text=VLLM % "2.87", keys=(KEY,)),)}, NA, "No AgentX"),
    ("acceptance", "changed script of one that does not draft", {**serving("x"), "recipes": (RecipeFile(path=SCRIPT, text=VLLM % "2.87", keys=(KEY,)),)}, FAIL, "outside of AgentX"),
    # 12
    ("append-only", "none", {}, NA, "No changelog entry is append-only"),
    ("append-only", "pure", append_only(), PASS, "1 new point on curves with one image, 6 old points unchanged"),
    ("append-only", "mixed", {"plan": plan(entries=(plan_entry(append_only=True), plan_entry(15)))}, FAIL, "perf-changelog.yaml:15"),
    ("append-only", "other image", append_only(row(7, image="vllm/vllm-openai:v1")), FAIL, "its curve has"),
    ("append-only", "other curve", append_only(row(7, precision="fp4")), FAIL, "does not extend a measured curve"),
    ("append-only", "repeats", append_only(row(6)), FAIL, "repeats concurrency 64"),
    ("append-only", "settings changed", append_only(configs=(change(state(), state(settings="s2")),)), FAIL, "more than concurrencies"),
    ("append-only", "script changed", {**append_only(), "files": (file(SCRIPT, "x"), CHANGELOG)}, WARN, f"`{SCRIPT}`"),
    ("append-only", "workflow changed", {**append_only(), "files": (file(".github/workflows/benchmark.yml", "x"), CHANGELOG)}, WARN, "benchmark.yml"),
    ("append-only", "no plan", {"plan": RecomputedPlan(problem="Entry 2 selects nothing.")}, FAIL, "Entry 2 selects nothing."),
    # 13
    ("draft", "not speculative", {}, NA, "No configuration with speculative decoding"),
    ("draft", "points only", spec(), PASS, "the draft does not"),
    ("draft", "new", spec(before=False), WARN, f"`{MASTER}:10`"),
    ("draft", "script loses lines", {**serving(), **spec()}, WARN, f"`{SCRIPT}`"),
    ("draft", "refused switch", {**serving("export SGLANG_NVFP4_CKPT_FP8_NEXTN_MOE=1"), **spec()}, FAIL, "cheaper than shipped"),
    ("draft", "switch whose value is on another line", {**serving("- name: SGLANG_NVFP4_CKPT_FP8_NEXTN_MOE"), **spec()}, WARN, f"`{SCRIPT}:5: - name:"),
    ("draft", "switched off", {**serving("export SGLANG_NVFP4_CKPT_FP8_NEXTN_MOE=0"), **spec()}, WARN, f"`{SCRIPT}`"),
    ("draft", "questionable", {**serving("--speculative-draft-model-quantization fp8"), **spec()}, WARN, "how the draft runs and needs human review"),
    # 14
    ("pareto", "enough", {}, PASS, "1 curve has at least 5 frontier points"),
    ("pareto", "four", {"results": results(points=tuple(point(r) for r in ROWS[:4]))}, WARN, "4 of 4 measured points are on the frontier, 5 are recommended"),
    ("pareto", "invalid", {"results": results(points=(*(point(r) for r in ROWS[:6]), point(row(8), latency=0.0)))}, WARN, "1 point without usable numbers"),
    ("pareto", "no results", {"results": None}, WARN, "no collected results"),
    ("pareto", "unreadable", {"results": results(problems=("x is a bomb.",))}, WARN, "x is a bomb"),
    ("pareto", "curve without points", {"plan": plan((*ROWS, row(9, precision="fp4"))), "runs": (sweep((*ROWS, row(9))),)}, WARN, "0 of 0"),
    ("pareto", "only accuracy", {"plan": plan(ROWS[6:])}, NA, "no throughput rows"),
    ("pareto", "workflow edited", files(MASTER, ".github/workflows/x.yml"), WARN, "changes the rules that produced"),
    # 15
    ("description", "no claim", {}, NA, "no claim"),
    ("description", "no claim, whatever looks like many ports", {"pull": pull(body="a:1/" * 60_000)}, NA, "no claim"),
    ("description", "a number of what goes", {"pull": pull(body="Drop the published concurrency 16 and 24 points.")}, NA, "no claim"),
    ("description", "a number of what comes", {"pull": pull(body="Adds 14 rows, 3 jobs, 99 points of 7 configurations.")}, NA, "no claim"),
    ("description", "image contradicts", {"pull": pull(body="Uses vllm/vllm-openai:v0.8.0 now.")}, WARN, "`vllm/vllm-openai:v0.8.0`"),
    ("description", "image agrees", {"pull": pull(body="Uses `vllm/vllm-openai:v0.9.1`.")}, PASS, "The plan agrees with 1 claim of"),
    ("description", "foreign run", {"pull": pull(body="https://github.com/acme/bench/actions/runs/1")}, WARN, "run 1"),
    ("description", "own run", {"pull": pull(body="[run](https://github.com/acme/bench/actions/runs/900)")}, PASS, "1 claim"),
    ("description", "docs only", {"pull": pull(body="A docs-only change.")}, WARN, "but the plan has 8 rows"),
    ("description", "docs only, and one row", {"pull": pull(body="A docs-only change."), "plan": plan(ROWS[:1])}, WARN, "but the plan has 1 row."),
    ("description", "performance", {"pull": pull(body="It is 20% faster.")}, WARN, "performance claim"),
    ("description", "quoted claim", {"pull": pull(body="> It is 20% faster.")}, NA, "no claim"),
    ("description", "no plan", {"plan": None}, FAIL, "Without a plan"),
]  # fmt: skip
