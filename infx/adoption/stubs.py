"""First versions of the files that a repository then owns: configurations, runners, clusters, models, a benchmark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from infx.adoption.answers import Answers, Pin, RegisteredRunner
from infx.adoption.text import make_file_name, render_scalar
from infx.adoption.workflows import read_own
from infx.policy.load import default_policy

_PREFIX, _PRECISION = "qwen3", "bf16"
_SCHEMA = "# yaml-language-server: $schema=https://raw.githubusercontent.com/{pin.repository}/{pin.sha}/infx/schemas/{name}.json\n"
_CONFIG = """
{key}:
  image: vllm/vllm-openai:v0.20.0
  model: Qwen/Qwen3-0.6B
  model-prefix: {prefix}
  precision: {precision}
  framework: vllm
  runner: {label}
  multinode: false
  scenarios:
    fixed-seq-len:
      - isl: 1024
        osl: 1024
        search-space:
          - {{tp: 1, conc-list: [1, 4]}}
"""
_MASTER = """\
# What is measured. {link} explains the fields. Replace the example by your configurations.
"""
_EMPTY = "# Replace {} by the first configuration.\n{}\n"
_RUNNERS = """\
# The names of the self-hosted runners on GitHub, by the label that a configuration's `runner` names.
labels:
"""
_CLUSTERS = """\
# How a row runs on each cluster. {link} explains the fields.
# A runner belongs to the cluster that is named like the runner, up to the first `_`.
#
# As it is, a row's script runs on the runner's own machine, without a container. With docker:
#   image: {{from: docker}}
#   container: {{entrypoint: none, name: "bench-{{runner}}", gpus: "{{gpus}}", network: host, ipc: host}}
# With Slurm and pyxis, and images as squash files on a shared disk:
#   allocate: salloc
#   partition: batch
#   gres: "gpu:{{gpus}}"
#   exclusive: true
#   time: 780 # minutes, more than sweep.row-minutes of the policy
#   image: {{squash: "/shared/images/{{key}}.sqsh"}}
#   container: {{entrypoint: none, home: false}}
defaults:
  allocate: none
  image: {{from: none}}
  scripts: # the first that exists
    - "{{dir}}/{{code}}_{{precision}}_{{gpu}}{{spec}}.sh"
    - "{{dir}}/{{code}}_{{precision}}{{spec}}.sh"

clusters:
"""
_MODELS = """\
# The models that may be measured, by model-prefix, and their scenarios. {link} explains the fields.
scenarios:
  1k1k: {{title: "1,024 tokens in, 1,024 out"}}

models:
  {prefix}:
    title: Qwen3
    scenarios: {{1k1k: {{}}}}
"""
_SCRIPT = """\
#!/usr/bin/env bash
# Measure one row: start the server, run the client, and write agg_$RESULT_FILENAME.json. The settings of the row, such as
# $MODEL, $TP and $CONC, are environment variables. {link} explains them and the file.
set -euo pipefail

echo "{path} measures nothing yet. Write the benchmark of this row there." >&2
exit 1
"""
_HOOKS = """\
# Checks at each commit, after `pre-commit install`. They read the policy's files, whatever these are called.
repos:
  - repo: https://github.com/{pin.repository}
    rev: {pin.sha}{pin.comment}
    hooks:
      - id: infx-config-check
      - id: infx-changelog-validate
      - id: infx-workflows-check
"""
_CODEOWNERS = """\
# Owners of files, who may sign off changes. The last matching line decides.
* {owners}
"""
ROW_SCRIPT = "benchmarks/run.sh"  # of infx's default policy
_SCRIPT_FOLDER = "benchmarks/single_node/fixed_seq_len"


def make_stubs(
    answers: Answers,
    runners: Sequence[RegisteredRunner],
    *,
    has_configs: bool,
    has_launcher: bool,
    has_script: bool,
) -> Mapping[str, str]:
    """Return path → text of the files of a repository.

    A repository that has configurations runs its own benchmarks, so it gets no example, no clusters and no models. If it has only
    the script that the default policy runs, it gets no clusters, because rows would then run another script.

    Args:
        runners: those of the answers, or of the repository's own file.
        has_launcher: whether the repository has clusters, or its policy has a command of its own that runs rows.
        has_script: whether the repository has the script that the default policy runs.
    """
    files = {answers.changelog: "", ".pre-commit-config.yaml": _HOOKS.format(pin=answers.pin)}
    if answers.runners:
        files[answers.runners_file] = _render_runners(answers.pin, answers.runners)
    if answers.code_owners:
        files[".github/CODEOWNERS"] = _CODEOWNERS.format(owners=" ".join(answers.code_owners))
    if answers.has_signoffs:
        files |= _make_checklists(answers)
    if not has_configs:
        has_own = has_script and not has_launcher
        return (
            files
            | _make_example(answers, runners)
            | (
                {ROW_SCRIPT: _render_script(answers.pin, ROW_SCRIPT)}
                if has_own
                else _make_launcher(answers, runners)
            )
        )
    files |= dict.fromkeys(answers.master_configs, _render_master_head(answers.pin) + _EMPTY)
    return files if has_launcher else files | {ROW_SCRIPT: _render_script(answers.pin, ROW_SCRIPT)}


def _make_launcher(answers: Answers, runners: Sequence[RegisteredRunner]) -> dict[str, str]:
    script = f"{_SCRIPT_FOLDER}/{_PREFIX}_{_PRECISION}.sh"
    return {
        answers.clusters: _render_clusters(answers.pin, runners),
        script: _render_script(answers.pin, script),
    }


def _make_example(answers: Answers, runners: Sequence[RegisteredRunner]) -> dict[str, str]:
    link = answers.pin.make_link
    models = _SCHEMA.format(pin=answers.pin, name="models") + _MODELS.format(
        link=link("docs/tables.md"), prefix=_PREFIX
    )
    return {**_make_masters(answers, runners), answers.models: models}


def _make_masters(answers: Answers, runners: Sequence[RegisteredRunner]) -> dict[str, str]:
    """Return the master files; the first one has an example for each label."""
    head = _render_master_head(answers.pin)
    labels = dict.fromkeys(runner.label for runner in runners)
    examples: dict[str, str] = {}
    for label in labels:
        key = f"{_PREFIX}-{_PRECISION}-{make_file_name(label)}-vllm"
        key = f"{key}-{len(examples)}" if key in examples else key
        examples[key] = _CONFIG.format(
            key=key, prefix=_PREFIX, precision=_PRECISION, label=render_scalar(label)
        )
    first, *others = answers.master_configs
    return {first: head + ("".join(examples.values()) or _EMPTY), **dict.fromkeys(others, head + _EMPTY)}


def _render_master_head(pin: Pin) -> str:
    return _SCHEMA.format(pin=pin, name="master-config") + _MASTER.format(
        link=pin.make_link("docs/configs.md")
    )


def _render_runners(pin: Pin, runners: Sequence[RegisteredRunner]) -> str:
    names: dict[str, list[str]] = {}
    for runner in runners:
        names.setdefault(runner.label, []).append(render_scalar(runner.name))
    lines = [f"  {render_scalar(label)}: [{', '.join(listed)}]\n" for label, listed in names.items()]
    return _SCHEMA.format(pin=pin, name="runners") + _RUNNERS + "".join(lines)


def _render_clusters(pin: Pin, runners: Sequence[RegisteredRunner]) -> str:
    clusters: dict[str, RegisteredRunner] = {}
    for runner in runners:
        clusters.setdefault(runner.cluster, runner)
    lines = [
        f"  {render_scalar(name)}: {{gpu: {render_scalar(runner.hardware)}}}\n"
        for name, runner in clusters.items()
    ]
    head = _SCHEMA.format(pin=pin, name="clusters")
    return head + _CLUSTERS.format(link=pin.make_link("docs/launching.md")) + "".join(lines)


def _render_script(pin: Pin, path: str) -> str:
    return _SCRIPT.format(link=pin.make_link("docs/adopting.md"), path=path)


def _make_checklists(answers: Answers) -> dict[str, str]:
    """Return infx's own checklists, with links that work in another repository."""
    default = default_policy()
    texts = {}
    for path in default.signoff.paths.checklists:
        text = read_own(path.rpartition("/")[2])
        text = text.replace("](signoff.md)", f"]({answers.pin.make_link('docs/signoff.md')})")
        texts[path] = text.replace(f"`{default.models}`", f"`{answers.models}`")
    return texts
