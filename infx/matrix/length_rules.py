"""Rules about simulated acceptance lengths: in settings, and in the scripts that are in the checkout."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from infx.bench.config import AgenticScenario, Config, SpecDecoding
from infx.matrix.acceptance import AcceptanceCell, find_fitting, find_simulated, is_curve_of
from infx.matrix.checkout import Checkout
from infx.matrix.file_rules import choose_script
from infx.matrix.landing import Landing, list_places
from infx.matrix.launch_hits import ConfigHit
from infx.matrix.row_rules import iterate_settings
from infx.phrases import join_words
from infx.policy.signoff import SignoffPolicy

_LENGTH_SETTING = "SYNTHETIC_ACCEPTANCE_LENGTH"
_SHOWN = 6  # lengths in a message
_ASSIGNED = re.compile(r"(?m)^[ \t]*(?:export[ \t]+)?(\w+)=[\"']?([0-9]+(?:\.[0-9]+)?)[\"']?[ \t]*(?:$|#|;)")
_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)\})")


def find_other_setting_length(config: Config, cells: Sequence[AcceptanceCell]) -> Iterator[ConfigHit]:
    """Yield simulated acceptance lengths in settings that are not committed for the model."""
    own = [cell for cell in cells if is_curve_of(cell.path, config.model_prefix)]
    for place in list_places(config):
        for at, name, value in iterate_settings(place.row):
            if name == _LENGTH_SETTING and (fault := _judge_length(value, own, config)):
                yield ConfigHit(
                    rule="acceptance-length",
                    config=config,
                    at=(*place.at, *at),
                    message=f"{name} is {value}; {fault}",
                    hint="Use the committed length of the draft method and the number of draft tokens.",
                    jobs=place.jobs,
                )


def find_other_script_length(
    landing: Landing, checkout: Checkout, cells: Sequence[AcceptanceCell], policy: SignoffPolicy
) -> Iterator[ConfigHit]:
    """Yield drafting AgentX rows whose script simulates no acceptance length, or another than the committed one."""
    config = landing.config
    own = [cell for cell in cells if is_curve_of(cell.path, config.model_prefix)]
    for place in landing.places:
        script = choose_script(landing, place, checkout)
        is_drafting = place.row.spec_decoding is not SpecDecoding.NONE
        if script is None or not is_drafting or not isinstance(place.scenario, AgenticScenario):
            continue
        lengths = find_simulated(script, fill_numbers(checkout.scripts.get(script, "")), policy)
        faults = [
            f"{length.place} simulates {length.length:g}; {fault}"
            for length in lengths
            if (fault := _judge_length(f"{length.length:g}", own, config, length.tokens))
        ]
        if not lengths:
            faults = [f"{script} simulates no acceptance length; {_describe(own, config)}"]
        for fault in faults:
            yield ConfigHit(
                rule="acceptance-length",
                config=config,
                at=(config.key, "scenarios"),
                message=fault,
                hint="Simulate the committed length of the draft method and the number of draft tokens.",
                jobs=place.jobs,
                cluster=landing.cluster.name,
            )


def fill_numbers(script: str) -> str:
    """Return a script with numbers in place of variables to which it assigns a single number."""
    numbers: dict[str, set[str]] = {}
    for match in _ASSIGNED.finditer(script):
        numbers.setdefault(match[1], set()).add(match[2])
    known = {name: values.pop() for name, values in numbers.items() if len(values) == 1}
    return _VARIABLE.sub(lambda match: known.get(match[1] or match[2], match[0]), script)


def _judge_length(
    text: str, cells: Sequence[AcceptanceCell], config: Config, tokens: Sequence[int] = ()
) -> str | None:
    """Return why a length is not committed, or None. tokens: the draft lengths that may belong to it."""
    fitting = [cell for cell in cells if not tokens or cell.tokens in tokens]
    try:
        return None if find_fitting(float(text), fitting) else _describe(fitting, config)
    except ValueError:
        return f"expected a number; {_describe(fitting, config)}"


def _describe(cells: Sequence[AcceptanceCell], config: Config) -> str:
    if not cells:
        return f"no length is committed for {config.model_prefix}"
    return f"expected {join_words([str(cell) for cell in cells], 'or', limit=_SHOWN)}"
