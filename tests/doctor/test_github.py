"""`infx doctor`: everything right is exit 0; each fault on GitHub gives its own line only."""

from __future__ import annotations

import shlex
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import ClassVar
from urllib.parse import urlsplit

import pytest

from infx.doctor.facts import CheckoutFacts
from infx.doctor.github import judge_github
from infx.doctor.lines import Health, ReportLine, Unseen
from infx.doctor.rules import RULES
from infx.gather.doctor_github import gather_github, read_repository
from infx.github.api import connect
from infx.github.transport import probe
from infx.hub import Fault, FaultKind, Hub
from infx.hub.faults import FOREVER
from infx.hub.settings import Settings, Toolkit
from infx.model import UserType
from infx.policy.model import Policy
from infx.records import replace
from tests.calling import Called, call
from tests.doctor.adopter import TOOLKIT
from tests.doctor.world import ACTIONS_APP, APP_ID, APP_PERMISSIONS, BENCHMARK, EVERYTHING, LABELS

Seen = list[tuple[str, str]]  # rule and state of the lines that are not ok
Healthy = tuple[CheckoutFacts, Policy]


def look(hub: Hub, healthy: Healthy, token: str | None = None) -> list[ReportLine]:
    """Return the lines about GitHub, for a person with the role admin."""
    facts, policy = healthy
    github = connect(hub.repository, environ=hub.environ(token or hub.user_token("mia")))
    repository = read_repository(github)
    assert not isinstance(repository, Unseen)
    path = facts.policy_path
    seen = gather_github(github, repository, facts.use, policy, path=path, labels=LABELS, probe=None)
    return judge_github(seen, facts.use, policy, path)


def list_seen(lines: list[ReportLine]) -> Seen:
    return [(line.rule.id, line.health.value) for line in lines if line.health is not Health.OK]


def diagnose(hub: Hub, token: str | None, *arguments: str) -> Called:
    return call("doctor", *arguments, environ=hub.environ(token))


def list_faults(called: Called) -> Seen:
    """Return rule and state of each line that is not ok."""
    faults = [(line["rule"], line["state"]) for line in called.json["lines"] if line["state"] != "ok"]
    assert called.code == int(bool(faults)), called.err
    return faults


def admin(hub: Hub) -> str:
    return hub.user_token("mia")


@pytest.mark.parametrize("kind", ["person", "app"])
@pytest.mark.usefixtures("adopter")
def test_a_repository_with_everything_is_healthy(hub: Hub, kind: str) -> None:
    token = admin(hub) if kind == "person" else hub.app_token("bench-bot[bot]", EVERYTHING)
    hub.clear_log()
    called = diagnose(hub, token)
    assert list_faults(called) == []
    rules = {line["rule"] for line in called.json["lines"] if line["part"] == "github"}
    github = {rule.id for rule in RULES.values() if rule.part == "github"}
    assert rules == github - {
        "fork-workflows",
        "link",
        "publish-secret",
    }  # public, without --links and targets
    assert hub.reads == len(hub.log) == REQUESTS


# Each list is one page: repository, policy, labels, environments, 2 environments with branches and secrets,
# secrets, variables, 2 for rules, App, installations, 2 lists of runners, groups, 3 settings of Actions, infx,
# 3 linked files.
REQUESTS = 24


Break = Callable[[Hub, Settings], object]


def install(**changes: object) -> Break:
    """Return a function that changes the App's installation."""

    def change(_: Hub, settings: Settings) -> None:
        (app,) = settings.installations.values()
        for name, value in changes.items():
            setattr(app, name, value)

    return change


def change_actions(**changes: object) -> Break:
    def change(_: Hub, settings: Settings) -> None:
        for name, value in changes.items():
            assert hasattr(settings.actions, name)
            setattr(settings.actions, name, value)

    return change


def require(*checks: str | tuple[str, int]) -> Break:
    """Return a function that requires only these checks, by classic protection."""

    def change(hub: Hub, _: Settings) -> None:
        hub.state.rulesets.clear()
        hub.protect(*checks)

    return change


def open_groups(_: Hub, settings: Settings) -> None:
    for group in settings.groups.values():
        group.workflows = ()


def both(*breaks: Break) -> Break:
    return lambda hub, settings: [change(hub, settings) for change in breaks]


CHECKS = ("changelog", "infx/sweep", "codeowner-signoff-verify")


@pytest.mark.parametrize(
    ("breaks", "faults"),
    [
        (lambda hub, _: hub.push("main", {"configs/policy.yaml": None}, "x"), [("live-policy", "missing")]),
        (lambda hub, _: hub.state.labels.pop("all-evals"), [("label", "missing")]),
        (require(*CHECKS), []),
        (require(*CHECKS[1:]), [("required-check", "missing")]),
        (require("changelog", ("infx/sweep", 7), CHECKS[2]), [("required-check", "wrong")]),
        (require(*[(name, ACTIONS_APP) for name in CHECKS]), []),
        (lambda _, s: s.environments.pop("publish"), [("environment", "missing")]),
        (lambda hub, _: hub.add_environment("publish"), [("environment", "wrong")]),
        (lambda hub, s: [s.environments.pop("publish"), hub.add_environment("Publish", branches=["main"])], []),
        (lambda hub, _: hub.add_environment("publish", branches=["main", "x/*"]), [("environment", "wrong")]),
        (lambda hub, _: hub.add_environment("publish", protected_only=True), []),
        (lambda hub, _: [hub.push("x", {"a": "b"}, "x"), hub.protect(branch="x"), hub.add_environment("publish", protected_only=True)],
         [("environment", "wrong")]),
        (lambda _, s: s.environments["reconcile"].secrets.clear(), [("app-key", "missing")]),
        (lambda _, s: s.secrets.add("INFX_APP_KEY"), [("app-key", "wrong")]),
        (lambda _, s: s.variables.clear(), [("app-key", "missing")]),
        (lambda _, s: s.installations.clear(), [("app-installed", "missing")]),
        (install(permissions={**APP_PERMISSIONS, "contents": "read"}), [("app-installed", "wrong")]),
        (install(is_suspended=True), [("app-installed", "wrong")]),
        (install(selection="selected"), [("app-installed", "unknown")]),
        (install(slug="other-bot"), [("app-login", "wrong")]),
        (lambda _, s: s.runners.clear(), [("runner", "missing")] * len(LABELS) + [("runner-access", "unknown")]),
        (lambda _, s: setattr(next(iter(s.runners.values())), "is_online", False), [("runner", "wrong")]),
        (open_groups, [("runner-access", "unknown")]),
        (both(open_groups, change_actions(approval="all_external_contributors")), []),
        (change_actions(is_enabled=False), [("allowed-actions", "wrong")]),
        (change_actions(allowed="local_only"), [("allowed-actions", "wrong")]),
        (change_actions(allowed="selected"), []),
        (change_actions(allowed="selected", github_owned=False), [("allowed-actions", "wrong")]),
        (change_actions(allowed="selected", github_owned=False, patterns=("actions/*",)), []),
        (change_actions(allowed="selected", github_owned=False, verified=True), [("allowed-actions", "unknown")]),
        (change_actions(token="write"), [("workflow-token", "wrong")]),
        (change_actions(approves_pulls=True), [("approving-workflows", "wrong")]),
        (lambda _, s: s.toolkits.update({TOOLKIT: Toolkit(is_private=True)}), [("toolkit-access", "wrong")]),
        (lambda _, s: s.toolkits.update({TOOLKIT: Toolkit(is_private=True, access="organization")}), []),
        (lambda _, s: s.toolkits.clear(), [("toolkit-access", "unknown")]),
        (lambda hub, _: hub.push("main", {"docs/PR_REVIEW_CHECKLIST.md": None}, "x"), [("linked-file", "missing")]),
    ],
)  # fmt: skip
def test_a_fault_gives_only_its_line(hub: Hub, healthy: Healthy, breaks: Break, faults: Seen) -> None:
    breaks(hub, hub.state.settings)
    lines = look(hub, healthy)
    assert list_seen(lines) == faults
    assert all(line.fix for line in lines if line.health in {Health.MISSING, Health.WRONG})


def test_another_default_branch_is_reported(
    hub: Hub, healthy: Healthy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "branch", "other")
    assert list_seen(look(hub, healthy)) == [("base-branch", "wrong")]


def test_a_private_repository_must_not_give_forks_its_secrets(hub: Hub, healthy: Healthy) -> None:
    settings = hub.state.settings
    settings.is_private = True
    open_groups(hub, settings)
    assert list_seen(look(hub, healthy)) == []  # forks run nothing
    settings.actions.runs_forks = settings.actions.forks_get_secrets = True
    assert list_seen(look(hub, healthy)) == [("runner-access", "unknown"), ("fork-workflows", "wrong")]


@pytest.mark.parametrize(
    "workflow",
    [
        BENCHMARK.replace("@refs/heads/main", "@refs/heads/x"),
        "acme/other/.github/workflows/a.yml@refs/heads/main",
    ],
)
def test_a_group_that_admits_another_branch_protects_nothing(
    hub: Hub, healthy: Healthy, workflow: str
) -> None:
    (group,) = hub.state.settings.groups.values()
    group.workflows = (workflow,)
    assert list_seen(look(hub, healthy)) == [("runner-access", "unknown")]
    facts, policy = healthy
    silent = replace(policy, workflows=replace(policy.workflows, runner_boundary=None))
    assert list_seen(look(hub, (facts, silent))) == [("runner-access", "wrong")]


def test_runners_that_this_repository_may_not_use_do_not_count(hub: Hub, healthy: Healthy) -> None:
    hub.state.settings.groups.clear()
    faults = list_seen(look(hub, healthy))
    assert faults == [("runner", "missing")] * len(LABELS) + [("runner-access", "unknown")]


def test_a_person_without_an_organization_sees_own_runners_only(hub: Hub, healthy: Healthy) -> None:
    """GitHub shows the installations of a person's account only to the App itself."""
    hub.account("acme", type=UserType.USER)
    for runner in hub.state.settings.runners.values():
        runner.group = None
    change_actions(approval="all_external_contributors")(hub, hub.state.settings)
    assert list_seen(look(hub, healthy)) == [("app-installed", "unknown"), ("app-login", "unknown")]


def test_a_publishing_app_must_be_the_source_of_its_statuses(hub: Hub, healthy: Healthy) -> None:
    facts, policy = healthy
    own = (facts, replace(policy, identities=("bench-bot[bot]",)))
    assert list_seen(look(hub, own)) == [("required-check", "wrong")] * 2
    require("changelog", *[(name, APP_ID) for name in CHECKS[1:]])(hub, hub.state.settings)
    assert list_seen(look(hub, own)) == []
    del hub.state.accounts["bench-bot[bot]"]  # a private App
    assert list_seen(look(hub, own)) == [("required-check", "unknown")] * 2


def test_a_repository_without_an_app_is_healthy(hub: Hub, healthy: Healthy) -> None:
    facts, policy = healthy
    settings = hub.state.settings
    settings.variables.clear()
    settings.environments["reconcile"].secrets.clear()
    plain = (facts, replace(policy, identities=("github-actions[bot]",)))
    assert list_seen(look(hub, plain)) == []


def test_a_command_quotes_the_environment_of_a_workflow(hub: Hub, healthy: Healthy) -> None:
    facts, policy = healthy
    apps = tuple(replace(app, environment="a; $(id)") for app in facts.use.apps)
    lines = look(hub, (replace(facts, use=replace(facts.use, apps=apps)), policy))
    fixes = {line.fix for line in lines if line.rule.id == "app-key" and line.fix}
    assert {shlex.split(fix)[5] for fix in fixes} == {"a; $(id)"}


def test_every_list_is_read_to_its_last_page(hub: Hub, healthy: Healthy) -> None:
    """The labels come after 150 others, and so do the runners: each takes two pages instead of one."""
    settings = hub.state.settings
    late_labels, late_runners = dict(hub.state.labels), dict(settings.runners)
    hub.state.labels.clear()
    settings.runners.clear()
    for number in range(150):
        hub.get_or_make_label(f"label-{number}")
        hub.add_runner(f"other-{number}", "self-hosted")
    hub.state.labels.update(late_labels)
    settings.runners.update(late_runners)
    hub.clear_log()
    assert list_seen(look(hub, healthy)) == []
    assert hub.reads == REQUESTS + 2


@pytest.mark.usefixtures("adopter")
def test_a_token_that_sees_little_gets_unknown_lines(hub: Hub) -> None:
    """A workflow's token cannot read an administrator's settings, whatever permissions its job has."""
    called = diagnose(hub, hub.workflow_token(contents="read", issues="read", actions="read"))
    faults = dict(list_faults(called))
    assert set(faults.values()) == {"unknown"}
    assert set(faults) == {
        "app-key", "app-installed", "app-login", "runner", "runner-access", "allowed-actions", "workflow-token",
        "approving-workflows",
    }  # fmt: skip
    by_rule = {line["rule"]: line for line in called.json["lines"]}
    assert by_rule["allowed-actions"]["permission"] == "administration: read"
    assert by_rule["app-key"]["fix"] == "Give the token `actions-variables: read`."
    what = "The settings of Actions cannot be seen: The token has no permission to read it."
    assert by_rule["allowed-actions"]["what"] == what
    assert by_rule["label"]["state"] == "ok"


@pytest.mark.usefixtures("adopter")
def test_the_summary_names_the_permissions_that_would_show_more(hub: Hub) -> None:
    token = hub.app_token("bench-bot[bot]", {**EVERYTHING, "secrets": "none"})
    called = diagnose(hub, token, "--format", "table")
    assert called.code == 1
    assert "on GitHub" in called.out
    assert called.err.endswith("2 unknown. To see what is unknown, the token needs `secrets: read`.\n")


@pytest.mark.usefixtures("adopter")
def test_a_token_that_cannot_see_the_repository_has_one_unknown_line(hub: Hub) -> None:
    hub.faults.add(Fault(kind=FaultKind.UNAUTHORIZED))
    assert list_faults(diagnose(hub, admin(hub))) == [("base-branch", "unknown")]


@pytest.mark.usefixtures("adopter")
def test_only_a_github_that_cannot_be_reached_is_exit_code_three(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("infx.cli.github.wait", lambda _: None)
    environ = {**hub.environ(admin(hub)), "GITHUB_API_URL": "http://127.0.0.1:9"}
    called = call("doctor", environ=environ)
    assert (called.code, called.out) == (3, "")


@pytest.mark.usefixtures("adopter")
def test_a_connection_that_is_lost_later_leaves_the_rest_unknown(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("infx.cli.github.wait", lambda _: None)
    hub.faults.add(Fault(kind=FaultKind.DROP, nth=2, times=FOREVER))
    called = diagnose(hub, admin(hub))
    github = [line for line in called.json["lines"] if line["part"] == "github"]
    assert [line["rule"] for line in github if line["state"] == "ok"] == ["base-branch"]
    assert {line["state"] for line in github} == {"ok", "unknown"}
    assert called.code == 1
    assert hub.reads == 1 + 5  # nothing is asked after the attempts of one request


@pytest.mark.parametrize("kind", [FaultKind.NOT_FOUND, FaultKind.FORBIDDEN])
@pytest.mark.parametrize(
    ("path", "rules"),
    [
        ("/labels$", {"label"}),
        ("/environments$", {"environment", "app-key"}),
        ("reconcile/deployment-branch-policies$", {"environment"}),
        ("/environments/reconcile/secrets$", {"app-key"}),
        ("/actions/variables$", {"app-key", "app-installed", "app-login"}),
        ("/actions/secrets$", {"app-key"}),
        ("/rules/branches/main$", {"required-check", "merge-queue"}),
        ("/orgs/acme/installations$", {"app-installed", "app-login"}),
        ("/orgs/acme/actions/runners$", {"runner", "runner-access"}),
        ("/orgs/acme/actions/runner-groups$", {"runner", "runner-access"}),
        ("/actions/permissions$", {"allowed-actions"}),
        ("/actions/permissions/workflow$", {"workflow-token", "approving-workflows"}),
        ("/acme/infx$", {"toolkit-access"}),
    ],
)
def test_what_github_does_not_show_is_never_ok(
    hub: Hub, healthy: Healthy, path: str, rules: set[str], kind: FaultKind
) -> None:
    """GitHub answers 404, too, for what a token may not see."""
    hub.faults.add(Fault(kind=kind, path=path, times=FOREVER))
    lines = look(hub, healthy)
    assert {rule for rule, _ in list_seen(lines)} == rules
    assert {line.health for line in lines if line.rule.id in rules} <= {Health.UNKNOWN, Health.OK}
    unknown = [line for line in lines if line.health is Health.UNKNOWN]
    assert all("cannot be seen" in line.what for line in unknown)


def test_no_value_of_a_variable_is_shown(hub: Hub, healthy: Healthy) -> None:
    hub.state.settings.variables["INFX_APP_ID"] = "a-value-of-a-variable"
    lines = look(hub, healthy)
    assert list_seen(lines) == [("app-installed", "missing")]
    assert "a-value" not in str(lines)


@pytest.mark.usefixtures("adopter")
def test_pages_that_comments_link_are_asked_on_request(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = {"docs.github.com": 200, "recipes.vllm.ai": 404, "docs.sglang.io": 403}
    monkeypatch.setattr("infx.github.transport.probe", lambda url: answers[urlsplit(url).netloc])
    called = diagnose(hub, admin(hub), "--links")
    assert list_faults(called) == [("link", "wrong"), ("link", "unknown")]


class Page(BaseHTTPRequestHandler):
    """A web page that only answers HEAD."""

    asked: ClassVar[list[dict[str, str]]] = []

    def do_HEAD(self) -> None:
        self.asked.append({name.lower(): value for name, value in self.headers.items()})
        self.send_response(404 if self.path == "/gone" else 200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Print nothing."""


def test_a_page_is_asked_without_a_token() -> None:
    with HTTPServer(("127.0.0.1", 0), Page) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        assert (probe(f"{url}/"), probe(f"{url}/gone")) == (200, 404)
        server.shutdown()
    assert [headers.get("authorization") for headers in Page.asked] == [None, None]
    for address in (url, "https://[::1", "https://a..b/"):
        with pytest.raises(ConnectionError):
            probe(address)


def test_a_target_of_results_needs_a_token(hub: Hub, healthy: Healthy) -> None:
    facts, policy = healthy
    stage = replace(policy.publish.stage, target="acme/staging")
    publish = replace(policy.publish, target="acme/app", stage=stage)
    own = (facts, replace(policy, publish=publish, results=replace(policy.results, store="environment")))
    assert list_seen(look(hub, own)) == [("publish-secret", "missing")] * 3
    secrets = hub.state.settings.environments["publish"].secrets
    secrets |= {"INFX_TARGET_TOKEN", "INFX_STORE"}
    assert list_seen(look(hub, own)) == []
    secrets.remove("INFX_TARGET_TOKEN")
    secrets.add("INFX_TARGET_APP_KEY")
    hub.state.settings.variables["INFX_TARGET_APP_ID"] = "7"
    assert list_seen(look(hub, own)) == []
    token = hub.app_token("bench-bot[bot]", {**EVERYTHING, "environments": "none"})
    assert ("publish-secret", "unknown") in list_seen(look(hub, own, token))
