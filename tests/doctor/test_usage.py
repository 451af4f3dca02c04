"""What workflow files need is read from every form that GitHub allows."""

from __future__ import annotations

import pytest

from infx.doctor.usage import WorkflowUse, find_use
from infx.workflows.model import parse_sources

SHA = "1f" * 20
GATE = f"{{uses: acme/infx/.github/actions/gate@{SHA}}}"
HEAD = "on: {pull_request: }\njobs:\n"


def read(**files: str) -> WorkflowUse:
    sources = {f".github/workflows/{name}.yml": text.encode() for name, text in files.items()}
    return find_use(parse_sources(sources).workflows)


def job(name: str, *steps: str, extra: str = "runs-on: x") -> str:
    return f"  {name}: {{{extra}, steps: [{', '.join(steps)}]}}\n"


def test_callers_and_callees_of_an_infx_workflow_belong_to_it() -> None:
    use = read(
        a=f"{HEAD}  call: {{uses: ./.github/workflows/b.yml}}\n",
        b=HEAD + job("gate", GATE) + "  more: {uses: ./.github/workflows/c.yml}\n",
        c=HEAD + job("rows", "{uses: actions/cache@v4}"),
        other=HEAD + job("x", "{uses: actions/stale@v1}"),
    )
    assert use.actions == {"gate": (".github/workflows/b.yml",)}
    assert use.infx_workflows == {f".github/workflows/{name}.yml" for name in "abc"}
    assert [item.uses for item in use.remote if not item.is_pinned] == ["actions/cache@v4"]


@pytest.mark.parametrize(
    ("environment", "names"),
    [
        ("environment: prod", ["prod"]),
        ("environment: {name: prod, url: 'https://example.org'}", ["prod"]),
        ('environment: "${{ inputs.environment }}"', []),  # only known at run time
        ("if: true", []),
    ],
)
def test_environments(environment: str, names: list[str]) -> None:
    use = read(a=HEAD + job("gate", GATE, extra=environment))
    assert list(use.environments) == names


def test_the_root_action_is_the_toolkit_too() -> None:
    use = read(a=HEAD + job("gate", GATE, "{uses: acme/infx@v1}", "{uses: ./local}", "{uses: 'docker://x'}"))
    assert use.toolkits == {("acme/infx", SHA), ("acme/infx", "v1")}
    assert {item.uses for item in use.remote} == {GATE[7:-1], "acme/infx@v1"}


def test_the_tokens_of_apps() -> None:
    step = """{uses: actions/create-github-app-token@v3, with: {client-id: "${{ vars.ID }}",
      private-key: "${{ secrets.KEY }}", permission-contents: write, permission-pull-requests: read}}"""
    use = read(a=HEAD + job("gate", GATE, step, extra="environment: reconcile"))
    (app,) = use.apps
    assert (app.variable, app.secret, app.environment) == ("ID", "KEY", "reconcile")
    assert app.permissions == {"contents": "write", "pull-requests": "read"}


def test_names_of_variables_and_secrets_are_read_as_github_lists_them() -> None:
    """GitHub ignores upper and lower case in these names, and lists them in upper case."""
    step = "{uses: actions/create-github-app-token@v3, with: {app-id: '${{ vars.my_id }}', private-key: '${{ secrets.Key }}'}}"
    (app,) = read(a=HEAD + job("gate", GATE, step)).apps
    assert (app.variable, app.secret) == ("MY_ID", "KEY")


def test_an_id_that_is_not_a_variable_has_no_name() -> None:
    step = "{uses: actions/create-github-app-token@v3, with: {app-id: 4711, private-key: '${{ vars.KEY }}'}}"
    (app,) = read(a=HEAD + job("gate", GATE, step)).apps
    assert (app.variable, app.secret) == (None, None)


def test_shadow_mode_is_not_the_part_of_a_workflow() -> None:
    """shadow.yml shows what infx would do; without the other workflows, infx does none of it."""
    use = read(shadow=HEAD + job("gate", GATE.replace("{uses", "{continue-on-error: true, uses")))
    assert use.actions == {}
    assert use.infx_workflows == {".github/workflows/shadow.yml"}
    assert use.toolkits == {("acme/infx", SHA)}
