"""Placeholder."""

from __future__ import annotations

from typing import Mapping

from .process import ProcessOptions, ProcessReport


def process_all(options: ProcessOptions, environment: Mapping[str, str]) -> ProcessReport:
    raise NotImplementedError
