"""Play the demo once for all tests of this folder."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from infx.demo.play import Play, play
from infx.demo.steps import DemoStep
from tests.demo.quiet import Quiet, offline
from tests.direct import direct_calls
from tests.git_memory import remembering
from tests.locks import find_left_out, hidden


@pytest.fixture(scope="package")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Play]:
    printed: list[DemoStep] = []
    threads_before = set(threading.enumerate())
    with direct_calls(), remembering(), offline(), play(tmp_path_factory.mktemp("demo")) as story:
        with hidden(find_left_out()):  # the actions of the workflows do not install these modules
            story.begin(printed.append, Quiet())
            for act in story.scenes().values():
                act.play()
        assert printed == story.stage.steps
        assert story.hub.errors == []
        yield story
    assert set(threading.enumerate()) <= threads_before
