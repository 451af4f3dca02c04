"""Actions of administrators on the settings of the repository and its organization."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from infx.hub.settings import Environment, Installation, Runner, RunnerGroup
from infx.hub.world import World, locked


class SettingActions(World):
    @locked
    def add_environment(
        self,
        name: str,
        *,
        branches: Iterable[str] = (),
        protected_only: bool = False,
        secrets: Iterable[str] = (),
    ) -> Environment:
        """Add an environment, or replace it. branches: that may use it, by default all."""
        environment = Environment(
            id=self.next_id("environment", 80001),
            name=name,
            branches=tuple(branches),
            protected_only=protected_only,
            secrets=set(secrets),
        )
        self.state.settings.environments[name] = environment
        return environment

    @locked
    def add_runner(
        self, name: str, *labels: str, online: bool = True, group: RunnerGroup | None = None
    ) -> Runner:
        """Register a runner, of the repository or in a group of the organization."""
        runner = Runner(
            id=self.next_id("runner", 81001),
            name=name,
            labels=labels,
            is_online=online,
            group=group.id if group is not None else None,
        )
        self.state.settings.runners[runner.id] = runner
        return runner

    @locked
    def add_runner_group(self, name: str, *workflows: str) -> RunnerGroup:
        """Add a group of runners. workflows: that may use it, as `owner/name/path@ref`; by default all."""
        group = RunnerGroup(id=self.next_id("runner group", 82001), name=name, workflows=workflows)
        self.state.settings.groups[group.id] = group
        return group

    @locked
    def install_app(self, slug: str, permissions: Mapping[str, str], *, app_id: int) -> Installation:
        """Install an App in the organization. permissions: spelled as in GitHub's headers."""
        installation = Installation(
            id=self.next_id("installation", 83001), app_id=app_id, slug=slug, permissions=dict(permissions)
        )
        self.state.settings.installations[installation.id] = installation
        self.state.apps[f"{slug}[bot]"] = app_id
        self.account(f"{slug}[bot]")
        return installation
