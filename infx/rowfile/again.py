"""Ask GitHub whether a row of a later attempt may still run, by the rules in the plan folder.

A partial re-run repeats neither the gate nor the plan, so their answers may be days old. What cannot be decided here
is refused: a full re-run asks the gate.
"""

from __future__ import annotations

import json
import os
import time
import urllib.error
import urllib.request
from typing import Any, Iterator

from .errors import RowError

PAUSES = (0.0, 2.0, 10.0)  # seconds before each try of a request; all of them only read
TIMEOUT = 30.0  # seconds without an answer
MAX_PAGES = 20  # of a commit's statuses, 100 each
_NOT_NOW = (429, 500, 502, 503, 504)


def check_again(rules_json: str) -> None:
    """Ask whether the row may run. Return if it may.

    rules_json: an object with `pull`, `head-sha` and `labels` (each starts a sweep); `publishers` (accounts whose statuses
    count), the contexts `approval` and `sweep`.

    Raises RowError: 1 if the row may not run, 3 if GitHub cannot be asked.
    """
    rules: dict[str, Any] = json.loads(rules_json)
    server = os.environ.get("GITHUB_API_URL", "https://api.github.com")
    base = server + "/repos/" + os.environ.get("GITHUB_REPOSITORY", "")
    pull, _ = _get(base + "/pulls/" + str(rules["pull"]))
    try:
        reason = _judge(pull, rules, base)
    except (LookupError, TypeError, AttributeError) as error:
        raise RowError("GitHub's answer about the pull request cannot be read: " + repr(error), 3) from None
    if reason is not None:
        raise RowError("This row may not run again: " + reason)


def _judge(pull: dict[str, Any], rules: dict[str, Any], base: str) -> str | None:
    """Return why the row may not run, as a sentence; None if it may."""
    head: str = pull["head"]["sha"]
    number = "pull request " + str(rules["pull"])
    if pull["state"] != "open":
        return number + " is closed."
    labels = {label["name"].lower() for label in pull["labels"]}
    counting = [name for name in rules["labels"] if name.lower() in labels]
    if len(counting) != 1:
        return number + " has " + str(len(counting)) + " labels that start a sweep; exactly one must be on."
    repository = pull["head"]["repo"]
    is_fork = repository is None or repository["id"] != pull["base"]["repo"]["id"]
    planned: str = rules["head-sha"]
    if head != planned and (is_fork or not _still_counts(head, rules, base)):
        return "its head is now " + head[:12] + ", and this row measures " + planned[:12] + "."
    if is_fork and not _is_approved(head, rules, base):
        return "no approval of the fork's head " + head[:12] + " is in force."
    return None


def _is_approved(head: str, rules: dict[str, Any], base: str) -> bool:
    status = _find_status(head, rules["approval"], rules, base)
    return status is not None and status["state"] == "success"


def _still_counts(head: str, rules: dict[str, Any], base: str) -> bool:
    """Return whether reconciling found that this run still counts for a newer head, and linked it there."""
    status = _find_status(head, rules["sweep"], rules, base)
    run = os.environ.get("GITHUB_RUN_ID", "")
    if status is None or not run:
        return False
    return (status["target_url"] or "").partition("?")[0].rstrip("/").endswith("/actions/runs/" + run)


def _find_status(head: str, context: str, rules: dict[str, Any], base: str) -> dict[str, Any] | None:
    """Return the newest status of a context if one of infx's own accounts set it.

    Only the newest status counts, as on GitHub: anyone with write access can set a status, and so withdraw infx's status.
    """
    for status in _list_statuses(base + "/commits/" + head + "/statuses?per_page=100"):
        if status["context"] == context:
            return status if _is_own(status["creator"], rules["publishers"]) else None
    return None


def _is_own(creator: dict[str, Any] | None, publishers: list[str]) -> bool:
    """Return whether an account is one of infx's: by login and by type, since only an app's login ends in `[bot]`."""
    if creator is None:
        return False
    login = creator["login"].lower()
    kind = "Bot" if login.endswith("[bot]") else "User"
    return creator["type"] == kind and login in [name.lower() for name in publishers]


def _list_statuses(url: str) -> Iterator[dict[str, Any]]:
    """Yield a commit's statuses, newest first. Raises RowError (3) if there are more pages than are read."""
    start = url.partition("?")[0]
    for _ in range(MAX_PAGES):
        page, following = _get(url)
        yield from page
        if following is None:
            return
        if not following.startswith(start):
            break  # the token goes to no other address
        url = following
    raise RowError("The statuses of the head cannot be read to their last page.", 3)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Refuses redirects, which would take the token to another address."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        """Return None: the answer stays a redirect, which is an error."""


def _get(url: str) -> tuple[Any, str | None]:
    """Return a JSON answer and the address of its next page. Raises RowError (3) without a usable answer."""
    headers = {
        "Accept": "application/vnd.github+json",
        "X-GitHub-Api-Version": "2022-11-28",
        "User-Agent": "infx",
    }
    if os.environ.get("GITHUB_TOKEN"):
        headers["Authorization"] = "Bearer " + os.environ["GITHUB_TOKEN"]
    request = urllib.request.Request(url, headers=headers)  # noqa: S310 - the API's address, as the runner gives it
    opener = urllib.request.build_opener(_NoRedirect)
    problem = ""
    for pause in PAUSES:
        time.sleep(pause)
        try:
            with opener.open(request, timeout=TIMEOUT) as answer:
                return json.load(answer), _find_next(answer.headers.get("Link", ""))
        except urllib.error.HTTPError as error:
            problem = "GitHub answers " + str(error.code) + _read_message(error)
            if error.code not in _NOT_NOW:
                break
        except (OSError, ValueError) as error:
            problem = "GitHub does not answer: " + str(error)
    raise RowError("Whether this row may run again is not known. " + problem + ".", 3)


def _read_message(error: urllib.error.HTTPError) -> str:
    try:
        return ": " + str(json.loads(error.read(10_000))["message"]).rstrip(".")
    except (OSError, ValueError, LookupError, TypeError):
        return ""


def _find_next(link: str) -> str | None:
    """Return the address that a Link header names as the next page."""
    for part in link.split(","):
        address, _, relation = part.partition(";")
        if relation.strip() == 'rel="next"':
            return address.strip().strip("<>")
    return None
