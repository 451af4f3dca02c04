"""The requests that the engine answers: `/v1/completions` and `/v1/chat/completions`, as a stream or at once."""

from __future__ import annotations

import json
import time
from typing import Any, NamedTuple

from answers import Completion, Prompt, make_answer, parse_messages, parse_prompt
from faults import Faults
from loop import Signal, wait_for
from sessions import Session, Sessions
from wire import STREAM_END, STREAM_HEAD, HttpConnection, render_error, render_event, render_json

CHAT = "/v1/chat/completions"
PATHS = ("/v1/completions", CHAT)


class CompletionOptions(NamedTuple):
    """What all requests share.

    Attributes:
        model: its name.
        max_length: tokens of a prompt and its answer.
        interval: tokens of one event of a stream.
        accuracy: share of questions with a right answer.
    """

    model: str
    max_length: int
    interval: int
    accuracy: float


class CompletionRequest(NamedTuple):
    """A request that can be answered.

    Attributes:
        is_stream: whether the answer is a stream; its last event has the usage if `has_usage`.
        is_remote: whether another engine has read the prompt.
        is_handed_over: whether another engine makes the further tokens.
    """

    is_chat: bool
    is_stream: bool
    has_usage: bool
    is_remote: bool
    is_handed_over: bool
    prompt: Prompt
    answer: Completion


def parse_completion(path: str, body: bytes, options: CompletionOptions) -> CompletionRequest:
    """Return a request. Raises ValueError for a request that cannot be answered, LookupError for an unknown model."""
    value = json.loads(body)
    if not isinstance(value, dict):
        raise ValueError("the body must be a JSON object")
    if value.get("model", options.model) != options.model:
        raise LookupError("The model " + repr(value["model"])[:100] + " does not exist.")
    is_chat = path == CHAT
    prompt = parse_messages(value.get("messages")) if is_chat else parse_prompt(value.get("prompt"))
    room = options.max_length - prompt.size
    if room < 1:
        message = "The prompt has {} tokens, and the model's length is {}."
        raise ValueError(message.format(prompt.size, options.max_length))
    most = _read_count(
        value, "max_completion_tokens", _read_count(value, "max_tokens", room if is_chat else 16)
    )
    if most < 1:
        raise ValueError("max_tokens must be 1 or more")
    least = _read_count(value, "min_tokens", 0)
    ignores_end = value.get("ignore_eos") is True
    stream_options = value.get("stream_options") or {}
    transfer = value.get("kv_transfer_params") or {}
    return CompletionRequest(
        is_chat=is_chat,
        is_stream=value.get("stream") is True,
        has_usage=bool(stream_options.get("include_usage")),
        is_remote=bool(transfer.get("do_remote_prefill")),
        is_handed_over=bool(transfer.get("do_remote_decode")),
        prompt=prompt,
        answer=make_answer(prompt, least, min(most, room), ignores_end, options.accuracy),
    )


def _read_count(value: dict[str, Any], name: str, default: int) -> int:
    count = value.get(name)
    if count is None:
        return default
    if isinstance(count, bool) or not isinstance(count, int) or count < 0:
        raise ValueError(name + " must be a number of tokens")
    return count


class Completer:
    """Answers requests, with the faults of the engine."""

    def __init__(self, options: CompletionOptions, sessions: Sessions, faults: Faults) -> None:
        self._options = options
        self._sessions = sessions
        self._faults = faults
        self._count = 0

    async def answer(self, path: str, body: bytes, connection: HttpConnection) -> None:
        """Answer a request."""
        try:
            request = parse_completion(path, body, self._options)
        except (ValueError, AttributeError, RecursionError) as error:
            await connection.send(render_error(400, str(error)))
            return
        except LookupError as error:
            await connection.send(render_error(404, str(error.args[0])))
            return
        if self._faults.hangs():
            await wait_for(Signal())
        session = await self._sessions.enter()
        try:
            if self._faults.begin_request(self._sessions.running):
                await connection.send(render_error(500, "The engine could not answer."))
                return
            writer = _Writer(request, self._options.model, self._next_number(), connection)
            cached = await session.prefill(request.prompt, request.is_remote)
            await self._write(request.answer.size, session, writer)
            await writer.finish(cached)
        finally:
            self._sessions.leave(session)
        self._faults.end_request()

    def _next_number(self) -> int:
        self._count += 1
        return self._count

    async def _write(self, size: int, session: Session, writer: _Writer) -> None:
        """Send the tokens of an answer when they are there. The first token comes alone, at the end of the prefill."""
        drop = self._faults.find_drop()
        sent = 0
        while sent < size:
            tokens = min(self._options.interval, size - sent) if sent else 1
            if sent:
                await session.decode(tokens)
            await writer.write(sent, sent + tokens)
            sent += tokens
            if drop is not None and sent >= drop:
                raise OSError("the stream was cut off, as --fail requires")


class _Writer:
    """Writes an answer in OpenAI's form."""

    def __init__(
        self, request: CompletionRequest, model: str, number: int, connection: HttpConnection
    ) -> None:
        self._request = request
        self._connection = connection
        self._has_head = False
        kind = "chat.completion" if request.is_chat else "text_completion"
        self._base = {
            "id": ("chatcmpl-" if request.is_chat else "cmpl-") + format(number, "08x"),
            "object": kind + (".chunk" if request.is_chat and request.is_stream else ""),
            "created": int(time.time()),
            "model": model,
        }

    async def write(self, start: int, end: int) -> None:
        """Send the event with some tokens, if the answer is a stream."""
        if not self._request.is_stream:
            return
        answer = self._request.answer
        content = answer.render(start, end)
        head = b"" if self._has_head else STREAM_HEAD
        self._has_head = True
        choice = self._make_choice({"delta": {"content": content}}, content, end >= answer.size)
        if not start and self._request.is_chat:
            choice["delta"]["role"] = "assistant"
        await self._connection.send(head + self._render({"choices": [choice]}))

    async def finish(self, cached: int) -> None:
        """Send the end of a stream, or the whole answer. cached: tokens of the prompt that were in the prefix cache."""
        size, prompt = self._request.answer.size, self._request.prompt.size
        usage = {
            "prompt_tokens": prompt,
            "completion_tokens": size,
            "total_tokens": prompt + size,
            "prompt_tokens_details": {"cached_tokens": cached},
        }
        if self._request.is_stream:
            last = self._render({"choices": [], "usage": usage}) if self._request.has_usage else b""
            head = b"" if self._has_head else STREAM_HEAD
            await self._connection.send(head + last + render_event(b"[DONE]") + STREAM_END)
            return
        content = self._request.answer.render(0, size)
        choice = self._make_choice({"message": {"role": "assistant", "content": content}}, content, True)
        transfer = {"kv_transfer_params": {"do_remote_prefill": True}} if self._request.is_handed_over else {}
        await self._connection.send(
            render_json(200, {**self._base, "choices": [choice], "usage": usage, **transfer})
        )

    def _make_choice(self, chat: dict[str, Any], content: str, is_last: bool) -> dict[str, Any]:
        reason = ("stop" if self._request.answer.is_whole else "length") if is_last else None
        text = chat if self._request.is_chat else {"text": content}
        return {"index": 0, **text, "logprobs": None, "finish_reason": reason}

    def _render(self, fields: dict[str, Any]) -> bytes:
        return render_event(json.dumps({**self._base, **fields}).encode())
