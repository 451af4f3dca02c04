"""Facts about this machine as the machine of a launch."""

from __future__ import annotations

from pathlib import Path

from infx.gather.launch import read_host
from infx.launch.render import render_row_launch
from tests.launch.samples import CLUSTERS, SCRIPT, change, clusters, task


def test_facts_come_from_this_machine(tmp_path: Path) -> None:
    models = tmp_path / "models"
    models.mkdir()
    (models / "x.safetensors").write_text("")
    (tmp_path / SCRIPT).parent.mkdir(parents=True)
    (tmp_path / SCRIPT).write_text("")
    model = f'{{set: [M], paths: {{m1/fp8: {{any: [{models}, /b], holds: "*.safetensors"}}}}}}'
    text = change(CLUSTERS, "h200-a: {", f"h200-a: {{model: {model}, ")
    launch = render_row_launch(task(), "h200-a", clusters(text))
    facts = read_host(launch, "h200-a_0", tmp_path, 1001, {"USER": "ci", "HOME": "", "HF_TOKEN": "secret"})
    assert facts.values == {"user": "ci", "uid": "1001", "workspace": str(tmp_path)}
    assert facts.paths == {SCRIPT, str(models), f"{models}/x.safetensors"}
