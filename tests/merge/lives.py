"""Random lives of three concurrent pull requests, and an independent statement of what main's changelog must be.

A life plays people, GitHub and its workflows on a hub. Only `infx merge` and `infx reconcile` are real. The statement
needs nothing of infx: it follows the events of the hub, and knows the words of the entries that the authors wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random

from infx.hub.rules import ACTIONS_APP, QueueRule
from infx.hub.state import Event, Pull
from tests.merge.world import World
from tests.reconcile.world import BASE, LABEL, entry

NUMBERS = (81, 82, 83)
CHANGELOG, SCRIPT = "perf-changelog.yaml", "benchmarks/run.sh"
SWEEP, SIGNOFF, CHECK = "infx/sweep", "codeowner-signoff-verify", "changelog"
OTHER_LABELS = ("full-sweep-enabled", "all-evals")
ROUNDS = 5  # at the end of a life, in which every pull request that can be merged must be merged

# Most requests of a merge that publishes statuses itself, and of a merge by a person's token.
MOST_REQUESTS = {True: 120, False: 40}


def render_merged(words: str, number: int) -> str:
    """Return an entry as main must have it after the merge."""
    return entry(words, f"https://github.com/acme/bench/pull/{number}")


@dataclass
class Life:
    """A life: its random choices, what the authors wrote, and what main must have.

    Attributes:
        is_whole: infx publishes the statuses and queues pull requests again; else the life sets the statuses.
        words: head → the words of the entries that the pull request's author appended.
        main: the entries after the first, in the order of the merges.
        costs: the requests of each call of `infx merge`.
    """

    world: World
    random: Random
    is_whole: bool
    has_queue: bool
    words: dict[str, tuple[str, ...]] = field(default_factory=dict)
    main: list[str] = field(default_factory=list)
    queued: dict[int, str] = field(default_factory=dict)
    groups: list[tuple[str, str]] = field(
        default_factory=list
    )  # commits and branches that wait for their checks
    costs: list[int] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    pushed: tuple[str, ...] | None = None  # the words of the push that an author makes at the moment
    count: int = 0

    def begin(self) -> None:
        hub = self.world.hub
        checks = ((CHECK, ACTIONS_APP), SWEEP)
        at_once = self.random.random() < 0.5
        hub.add_ruleset(*checks, queue=QueueRule(removes_at_once=at_once) if self.has_queue else None)
        hub.listeners[:] = [self._see]
        hub.push_as(hub.app_token("bench-app[bot]", contents="write"))
        for number in NUMBERS:
            self._open(number)
        self.check()

    # GitHub and its workflows

    def _see(self, event: Event) -> None:
        """Follow an event: note what an author wrote or what was merged, and run the workflows."""
        if event.name == "pull_request":
            number, pull = event.payload["number"], event.payload["pull_request"]
            head = pull["head"]["sha"]
            match event.action:
                case "opened" | "synchronize":
                    # Every push that is not an author's must keep the author's entries.
                    before = self.words.get(event.payload.get("before", ""), ())
                    self.words[head] = before if self.pushed is None else self.pushed
                    self._run_checks(head, pull["head"]["ref"], "success")
                case "enqueued":
                    self.queued[number] = head
                case "closed" if pull["merged"]:
                    merged = self.queued.pop(number, head)
                    self.main += [render_merged(words, number) for words in self.words[merged]]
        if event.name == "merge_group" and event.action == "checks_requested":
            group = event.payload["merge_group"]
            self.groups.append((group["head_sha"], group["head_ref"].removeprefix("refs/heads/")))

    def _run_checks(self, sha: str, branch: str, conclusion: str) -> None:
        hub = self.world.hub
        run = hub.add_run("changelog.yml", head_sha=sha, branch=branch, event="merge_group")
        hub.add_job(run.id, CHECK, conclusion=conclusion)
        hub.finish_run(run.id, conclusion)
        if not self.is_whole:
            for context in (SWEEP, SIGNOFF):
                hub.set_status(sha, context, "success")

    # People

    def _open(self, number: int) -> None:
        self.pushed = (self._next_words(number),)
        link = self.random.choice(("XXX", f"https://github.com/acme/bench/pull/{number}"))
        files = {CHANGELOG: BASE + entry(self.pushed[0], link)}
        if self.random.random() < 0.3:
            files[f"benchmarks/{number}.sh"] = "true\n"
        self.world.pull(number, files=files)
        self.pushed = None

    def _next_words(self, number: int) -> str:
        self.count += 1
        return f"measurement {self.count} of {number}"

    def _push(self, pull: Pull, files: Mapping[str, str], words: tuple[str, ...]) -> None:
        self.pushed = words
        self.world.hub.push(pull.head_ref, files, "late")
        self.pushed = None

    def append(self, pull: Pull) -> None:
        """Let the author append one more entry; if the pull request is queued, the entry is lost."""
        words = self._next_words(pull.number)
        text = self.world.file(pull.head_ref) + entry(words)
        self._push(pull, {CHANGELOG: text}, (*self.words[pull.head_sha], words))

    def reword(self, pull: Pull) -> None:
        """Let the author change the last entry."""
        *others, last = self.words[pull.head_sha]
        words = self._next_words(pull.number)
        text = self.world.file(pull.head_ref).replace(f'"{last}"', f'"{words}"')
        self._push(pull, {CHANGELOG: text}, (*others, words))

    def push_script(self, pull: Pull) -> None:
        self.count += 1
        self._push(pull, {f"benchmarks/{pull.number}.sh": f"true {self.count}\n"}, self.words[pull.head_sha])

    def fight(self, pull: Pull) -> None:
        """Let main and a pull request change one line, so that the pull request cannot be merged any more."""
        self._push(pull, {SCRIPT: f"mine {pull.number}\n"}, self.words[pull.head_sha])
        self.world.hub.push("main", {SCRIPT: f"theirs {pull.number}\n"}, by="mia")

    def append_on_main(self, pull: Pull) -> None:
        """Let a person append an entry on main, for a pull request that was merged elsewhere."""
        del pull
        words = self._next_words(10)
        self.main.append(render_merged(words, 10))
        self.world.hub.push("main", {CHANGELOG: self.world.file() + self.main[-1]}, by="mia")

    def label(self, pull: Pull) -> None:
        name = self.random.choice((LABEL, *OTHER_LABELS))
        if any(label.name == name for label in pull.labels):
            self.world.hub.unlabel(pull.number, name)
        else:
            self.world.hub.label(pull.number, name)

    def sweep(self, pull: Pull) -> None:
        self.world.sweep(pull.number, self.random.choice(("success", "success", "failure")))

    def ask_for_reuse(self, pull: Pull) -> None:
        runs = [
            run.id
            for run in self.world.hub.state.runs.values()
            if run.workflow == "run-sweep.yml" and pull.number in run.pulls
        ]
        by = self.random.choice(("mia", "mia", "tia"))  # tia may not
        self.world.hub.comment(pull.number, f"/use {self.random.choice(runs)}", by=by)

    def close(self, pull: Pull) -> None:
        self.world.hub.close_pull(pull.number)

    def reopen(self, pull: Pull) -> None:
        self.world.hub.reopen_pull(pull.number)

    def dequeue(self, pull: Pull) -> None:
        if self.world.hub.find_entry(pull.number) is not None:
            self.world.hub.dequeue(pull.number, by="mia")

    def check_groups(self, pull: Pull) -> None:
        """Let the checks of the groups in the merge queue end."""
        del pull
        groups, self.groups = self.groups, []
        for sha, branch in groups:
            self._run_checks(sha, branch, "success" if self.random.random() < 0.9 else "failure")

    # infx

    def merge_old(self, pull: Pull) -> None:
        """Ask for the merge of a head that the branch once had."""
        head = self.random.choice([sha for sha in self.words if self._is_known_head(pull, sha)])
        self.merge(pull, "--head", head)

    def merge(self, pull: Pull, *chosen: str) -> None:
        """Call `infx merge`, as the workflow or with a person's token."""
        hub = self.world.hub
        hub.clear_log()
        called = self.world.merge(
            str(pull.number), "--wait", "0", *chosen, by=None if self.is_whole else "mia"
        )
        self.costs.append(hub.reads + hub.writes + hub.queries)
        assert called.code in {0, 1}, called.err
        self.log.append(f"  → {called.code} {called.err.strip().splitlines()[-1:]}")

    def _is_known_head(self, pull: Pull, sha: str) -> bool:
        return self.world.hub.git.merge_base(sha, pull.head_sha) == sha

    def reconcile(self, pull: Pull) -> None:
        if self.is_whole:
            called = self.world.call("reconcile", "--pr", str(pull.number))
            assert called.code == 0, called.err

    # The life

    def live(self, steps: int) -> None:
        """Do random steps, and check main after each."""
        mind: dict[Callable[[Pull], None], int] = {
            self.append: 3, self.reword: 2, self.push_script: 2, self.fight: 1, self.append_on_main: 2, self.label: 2,
            self.sweep: 3, self.ask_for_reuse: 3, self.close: 1, self.dequeue: 1, self.check_groups: 2, self.merge: 3, self.merge_old: 1, self.reconcile: 3,
        }  # fmt: skip
        for _ in range(steps):
            pull = self.world.hub.state.pulls[self.random.choice(NUMBERS)]
            (act,) = self.random.choices(list(mind), list(mind.values()))
            if pull.merged_at is not None:
                continue
            if not pull.is_open:
                act = self.reopen
            self._do(act, pull)

    def _do(self, act: Callable[[Pull], None], pull: Pull) -> None:
        self.log.append(f"{act.__name__} {pull.number}")
        act(pull)
        self.world.hub.sync()
        self.check()

    def settle(self) -> None:
        """Let people do what infx asks for, until everything that can be merged is merged."""
        for _ in range(ROUNDS):
            waiting = [pull for pull in self._pulls() if pull.merged_at is None and not self._is_stuck(pull)]
            for pull in waiting:
                self._prepare(pull)
            for pull in waiting:
                if pull.merged_at is None and self.world.hub.find_entry(pull.number) is None:
                    self._do(self.merge, pull)
            for pull in waiting:
                self._do(self.reconcile, pull)
            self._do(self.check_groups, self._pulls()[0])

    def _prepare(self, pull: Pull) -> None:
        hub = self.world.hub
        if not pull.is_open:
            self._do(self.reopen, pull)
        queued = hub.find_entry(pull.number)
        if queued is not None and queued.head_sha == pull.head_sha:
            return
        self._do(self.dequeue, pull)  # the queue would lose the later push
        for name in OTHER_LABELS:
            hub.unlabel(pull.number, name)
        hub.label(pull.number, LABEL)
        run = self.world.sweep(pull.number)
        hub.comment(pull.number, f"/use {run}", by="mia")

    def _pulls(self) -> list[Pull]:
        return [self.world.hub.state.pulls[number] for number in NUMBERS]

    def _is_stuck(self, pull: Pull) -> bool:
        """Return whether a pull request conflicts with main outside the changelog."""
        hub = self.world.hub
        main = hub.git.resolve("refs/heads/main")
        assert main is not None
        return bool(set(hub.git.test_merge(main, pull.head_sha).conflicts) - {CHANGELOG})

    # The statement

    def check(self) -> None:
        """Check that main has every merged entry once, canonical, in the order of the merges, and nothing else."""
        assert self.world.file() == BASE + "".join(self.main), "\n".join(self.log)

    def check_costs(self) -> None:
        """Check that every merge made a bounded number of requests."""
        assert max(self.costs, default=0) <= MOST_REQUESTS[self.is_whole]

    def check_end(self) -> None:
        """Check that everything was merged that could be."""
        left = [pull.number for pull in self._pulls() if pull.merged_at is None and not self._is_stuck(pull)]
        assert left == [], "\n".join(self.log)
