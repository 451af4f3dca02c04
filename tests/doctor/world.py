"""A hub on which the adopter's repository has everything that the doctor looks for."""

from __future__ import annotations

from infx.hub import Hub
from infx.hub.settings import Toolkit
from infx.policy.load import default_policy
from tests.doctor.adopter import TOOLKIT, list_files

BENCHMARK = "acme/bench/.github/workflows/benchmark.yml@refs/heads/main"
APP_ID = 4711
ACTIONS_APP = 15368
# What the workflows ask for: reconcile.yml and merge.yml.
APP_PERMISSIONS = {"contents": "write", "pull_requests": "write", "workflows": "write", "metadata": "read"}
LABELS = ("h200", "b200", "mi300x", "cluster:h200-cw", "cluster:b200-nb", "cluster:mi300x-amd")
EVERYTHING = dict.fromkeys(("actions", "actions_variables", "administration", "contents", "environments", "issues", "organization_administration", "organization_self_hosted_runners", "secrets"), "read")  # fmt: skip


def equip(hub: Hub) -> None:
    """Set up everything on GitHub."""
    settings = hub.state.settings
    hub.account("mia", role="admin")
    hub.push("main", list_files(), "adopt", by="mia")
    for name in default_policy().labels.names:
        hub.get_or_make_label(name)
    hub.add_ruleset(("changelog", ACTIONS_APP), "infx/sweep", "codeowner-signoff-verify")
    hub.add_environment("reconcile", branches=["main"], secrets=["INFX_APP_KEY"])
    hub.add_environment("publish", branches=["main"])
    settings.variables["INFX_APP_ID"] = str(APP_ID)
    hub.install_app("bench-bot", APP_PERMISSIONS, app_id=APP_ID)
    group = hub.add_runner_group("gpu", BENCHMARK)
    for number, label in enumerate(LABELS):
        hub.add_runner(f"node-{number}", "self-hosted", label, group=group)
    settings.toolkits[TOOLKIT] = Toolkit()
