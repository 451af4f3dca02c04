"""Check 3: the sign-off links a merged or published upstream recipe for every affected open engine."""

from __future__ import annotations

import re

from infx.markdown import parse_markdown
from infx.phrases import join_some
from infx.policy.model import Policy
from infx.policy.signoff import RecipeSource, SignoffPolicy
from infx.records import record
from infx.signoff.facts import LinkState, ResolvedLink, SignoffFacts
from infx.signoff.lines import find_serving_changes
from infx.signoff.outcome import CheckOutcome, Link, code, failed, name_all, not_applicable, passed, warned
from infx.signoff.planned import ConfigChange

MAX_LINKS = 6  # of one engine in one sign-off that are followed

_GITHUB = re.compile(
    r"https://github\.com/(?P<repository>[\w.-]+/[\w.-]+)/"
    r"(?:pull/(?P<number>[1-9]\d{0,9})|(?:blob|tree)/(?P<ref>main|master)/(?P<path>[^?#\s]+))(?:[/?#].*)?",
    re.ASCII,
)


@record
class RecipeLink:
    """A link in a sign-off to an engine's recipe: a pull request, a file or folder, else a published page."""

    url: str
    engine: str
    repository: str = ""
    number: int | None = None  # of the pull request
    path: str = ""  # of the file or folder
    ref: str = ""  # the default branch, for a file or folder


def find_recipe_links(body: str, policy: SignoffPolicy) -> tuple[RecipeLink, ...]:
    """Return the visible links of a sign-off to the policy's recipe sources, in order, each once."""
    urls = dict.fromkeys(url for block in parse_markdown(body) for url in block.links)
    recipe_links: list[RecipeLink] = []
    for engine, source in policy.sources.items():
        links = [link for url in urls if (link := _parse_link(url, engine, source))]
        recipe_links += links[:MAX_LINKS]
    return tuple(recipe_links)


def _parse_link(url: str, engine: str, source: RecipeSource) -> RecipeLink | None:
    if any(is_below(url, page) for page in source.pages):
        return RecipeLink(url=url, engine=engine)
    match = _GITHUB.fullmatch(url)
    folders = {name.lower(): folder for name, folder in source.repositories.items()}
    if match is None or match["repository"].lower() not in folders:
        return None
    path = match["path"] or ""
    if path and not path.startswith(folders[match["repository"].lower()]):
        return None
    number = int(match["number"]) if match["number"] else None
    return RecipeLink(
        url=url,
        engine=engine,
        repository=match["repository"],
        number=number,
        path=path,
        ref=match["ref"] or "",
    )


def is_below(url: str, page: str) -> bool:
    """Return whether an address is below a page: `https://host/a/b` is below `https://host/a`.

    The page itself, which only lists recipes, and `https://host/ab` are not.
    """
    tail = url.removeprefix(page)
    if tail == url or not (page.endswith("/") or tail.startswith("/")):
        return False
    path = re.split(r"[?#]", tail, maxsplit=1)[0]
    return bool(path.strip("/")) and not re.search(r"\.\.|%2e|\\", path, re.IGNORECASE)


def check_recipe(facts: SignoffFacts, policy: Policy) -> CheckOutcome:
    """Check that a recipe is linked. A person must compare the settings; the WARN lists the lines."""
    affected = {
        change: engine
        for change in facts.configs
        if change.after and (engine := policy.signoff.engines.get(change.after.framework))
    }
    if not affected:
        return not_applicable("No configuration of an open engine is affected.")
    links = find_recipe_links(facts.signoff.body, policy.signoff)
    states = {link.url: link for link in facts.links}
    shown: list[Link] = []
    for engine in dict.fromkeys(affected.values()):
        own = [link for link in links if link.engine == engine]
        keys = name_all(change.key for change, needed in affected.items() if needed == engine)
        if not own:
            return failed(
                f"No link to the {engine} recipe of {keys}; expected {_describe_sources(engine, policy.signoff)}."
            )
        good = [link for link in own if _is_good(link, states.get(link.url), policy.signoff)]
        if not good:
            why = join_some([_explain(link, states.get(link.url)) for link in own], 3, separator="; ")
            evidence = [f"{link.url}: {_explain(link, states.get(link.url))}" for link in own]
            if any(_find_state(states.get(link.url)) is LinkState.UNKNOWN for link in own):
                return warned(f"The {engine} recipe could not be read: {why}.", evidence=evidence)
            return failed(f"The {engine} recipe is not merged or published: {why}.", evidence=evidence)
        shown += [Link(text=f"{engine} recipe", url=link.url) for link in good]
    evidence = [f"{link.url}: {_find_state(states.get(link.url))}" for link in links]
    return _compare(list(affected), facts, policy, shown, evidence)


def _compare(
    affected: list[ConfigChange], facts: SignoffFacts, policy: Policy, links: list[Link], evidence: list[str]
) -> CheckOutcome:
    masters = set(policy.master_configs)
    scripts = [file for file in find_serving_changes(facts, policy) if file.path not in masters]
    if all(change.adds_points_only for change in affected) and not scripts:
        text = "The recipe is linked. Only concurrencies change, which no recipe sets."
        return passed(text, *links, evidence=evidence)
    places = [
        f"{change.after.path}:{change.after.line}"
        for change in affected
        if change.after and not change.adds_points_only
    ]
    places += [f"{file.path}:{file.added[0].number}" if file.added else file.path for file in scripts]
    text = f"The recipe is linked. A person must compare its settings with {name_all(places)}."
    return warned(text, *links, evidence=[*evidence, *(f"compare {place}" for place in places)])


def _find_state(link: ResolvedLink | None) -> LinkState:
    return link.state if link else LinkState.UNKNOWN


def _is_good(link: RecipeLink, resolved: ResolvedLink | None, policy: SignoffPolicy) -> bool:
    if resolved is None:
        return False
    if link.number is None:
        return resolved.state is LinkState.PUBLISHED
    folders = {name.lower(): folder for name, folder in policy.sources[link.engine].repositories.items()}
    folder = folders[link.repository.lower()]
    touches = not folder or any(path.startswith(folder) for path in resolved.paths)
    return resolved.state is LinkState.MERGED and touches


def _explain(link: RecipeLink, resolved: ResolvedLink | None) -> str:
    state = _find_state(resolved)
    if state is LinkState.MERGED:
        return f"{code(link.url)} changes no recipe"
    return f"{code(link.url)} is {state}"


def _describe_sources(engine: str, policy: SignoffPolicy) -> str:
    source = policy.sources.get(engine)
    if source is None:
        return "a source that the policy names"
    repositories = [f"{name}/{folder}" if folder else name for name, folder in source.repositories.items()]
    return f"a merged pull request of {name_all(repositories)} or a page of {name_all(source.pages)}"
