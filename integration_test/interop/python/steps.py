"""What the Python clients share: their command line, the fixtures they expect
of the server, and the report they print, one line per step."""

from __future__ import annotations

import importlib.metadata
import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, NoReturn

import anyio

# Time limits in seconds: of one step, and of what must be prompt, which is the
# end of a cancelled call and the first call after it.
LIMIT = 20
PROMPT_LIMIT = 1

VERSIONS = {"legacy": "2025-11-25", "modern": "2026-07-28", "pinned": "2026-07-28"}

# Fixtures of the server under test, which is started with -tools 1200. That is
# more than one page, so that a client must follow nextCursor.
SERVER = "everything"
TOOLS = ["echo", "add", "progress", "sleep", *(f"tool_{i:04}" for i in range(1, 1201))]
# Everything that careless escaping breaks.
ECHO_TEXT = 'quote " backslash \\ newline \n tab \t <b>&amp;</b> \u00e9 \u6f22 \U0001f642 \u2028 end'
BENCH_URI, BENCH_SIZE = "bench://text", 1024
STATIC_URI, STATIC_TEXT = "test://static-text", "This is the content of the static text resource."
TEMPLATE = "test://template/{id}/data"
PROMPT, PROMPT_ARGUMENTS = "test_prompt_with_arguments", {"arg1": "first value", "arg2": "second value"}
COMPLETE_ARGUMENT, COMPLETE_WANT = {"name": "arg1", "value": "te"}, "testValue1"
PROGRESS_STEPS = 5
SLEEP_MS = 20_000


# Steps in which a tool without arguments asks the client for something: what the
# user does with the form, and the text of the result. The tools are the same in
# both eras.
_PREFIX = "test_input_required_result_"
INTERACTIONS = [
    ("elicit-accept", _PREFIX + "elicitation", "accept", "Hello, Ada!"),
    ("elicit-decline", _PREFIX + "elicitation", "decline", "No name was given (decline)."),
    ("elicit-cancel", _PREFIX + "elicitation", "cancel", "No name was given (cancel)."),
    ("sample", _PREFIX + "sampling", "accept", "The model says: Paris"),
    ("roots", _PREFIX + "list_roots", "accept", "2 roots"),
    ("rounds", _PREFIX + "multi_round", "accept", "Ada likes green."),
    ("together", _PREFIX + "multiple_inputs", "accept", "Hello, Ada; 2 roots"),
]
FORMS = {"What is your name?": {"name": "Ada"}, "What is your favourite colour?": {"color": "green"}}
COMPLETIONS = {"What is the capital of France?": "Paris", "Write a greeting.": "Hello"}
ROOTS = ["file:///first", "file:///second"]


@dataclass(frozen=True)
class Options:
    mode: str
    version: str  # protocol version that the client must end up with
    command: str  # of the server, for the stdio transport
    args: list[str]
    url: str  # of the endpoint for HTTP, empty for stdio
    headers: dict[str, str]  # for HTTP


def options(modes: list[str]) -> Options:
    """Read "--mode MODE --stdio COMMAND [ARGUMENT...]", where the words after
    --stdio all belong to the server command, or "--mode MODE --url URL". The
    bearer token for HTTP, if any, is in the environment variable INTEROP_TOKEN."""
    words = sys.argv[1:]
    http = words[2:3] == ["--url"] and len(words) == 4
    if len(words) < 4 or words[0] != "--mode" or words[1] not in modes or not (http or words[2] == "--stdio"):
        print(f"usage: --mode {'|'.join(modes)} (--stdio COMMAND [ARGUMENT...] | --url URL)", file=sys.stderr)
        sys.exit(2)
    mode, token = words[1], os.environ.get("INTEROP_TOKEN")
    return Options(
        mode=mode,
        version=VERSIONS[mode],
        command="" if http else words[3],
        args=words[4:],
        url=words[3] if http else "",
        headers={"Authorization": f"Bearer {token}"} if token else {},
    )


class Report:
    """Prints one line per step and remembers whether all passed."""

    def __init__(self, opts: Options) -> None:
        self._label = f"python-{importlib.metadata.version('mcp')} {opts.mode}"
        self._ran = False
        self._failed = False

    async def step(self, name: str, run: Callable[[], Awaitable[None]]) -> bool:
        """Run one step within LIMIT and return whether it passed."""
        self._ran = True
        try:
            with anyio.fail_after(LIMIT):
                await run()
        except Exception as error:  # whatever an SDK raises is a failed step
            self._fail(name, error)
            return False
        self._pass(name)
        return True

    @asynccontextmanager
    async def session(self) -> AsyncIterator[None]:
        """Goes around the opening of a session, all its steps and its end. The
        end is the step "close"; when no step ran, it is "connect" that failed."""
        try:
            yield
        except Exception as error:
            self._fail("close" if self._ran else "connect", error)
        else:
            self._pass("close")

    def _pass(self, name: str) -> None:
        print(f"ok   {self._label}: {name}", flush=True)

    def _fail(self, name: str, error: BaseException) -> None:
        self._failed = True
        print(f"FAIL {self._label}: {name}: {json.dumps(repr(error))}", flush=True)

    def exit(self) -> NoReturn:
        sys.exit(1 if self._failed else 0)


def equal(what: str, got: Any, want: Any) -> None:
    if got != want:
        raise AssertionError(f"{what} is {got!r}, want {want!r}")


def listed(names: list[str], want: list[str]) -> None:
    """Raise unless the names are distinct and contain all wanted ones."""
    seen = set(names)
    equal("number of distinct entries", len(seen), len(names))
    for name in want:
        if name not in seen:
            raise AssertionError(f"{name!r} is missing among {len(names)} entries")


async def walk(
    fetch: Callable[[str | None], Awaitable[Any]],
    entries: Callable[[Any], list[Any]],
    next_cursor: Callable[[Any], str | None],
) -> list[Any]:
    """Collect the entries of all pages."""
    found: list[Any] = []
    cursor = None
    while True:
        page = await fetch(cursor)
        found += entries(page)
        if (cursor := next_cursor(page)) is None:
            return found


def echoed(texts: list[str], structured: Any, is_error: bool | None) -> None:
    equal("isError", is_error or False, False)
    equal("texts of echo", texts, [ECHO_TEXT])
    equal("structured content of echo", structured, {"text": ECHO_TEXT})


def prompted(texts: list[str]) -> None:
    if not any(all(value in text for value in PROMPT_ARGUMENTS.values()) for text in texts):
        raise AssertionError(f"none of the messages {texts!r} has both arguments")


def completed(values: list[str]) -> None:
    if COMPLETE_WANT not in values:
        raise AssertionError(f"completion is {values!r}, want {COMPLETE_WANT!r} among it")


class Person:
    """Answers what the server asks, which is not the client's own business: the
    user, the model and the file system behind the client."""

    def __init__(self) -> None:
        self._action = ""

    async def interact(self, report: Report, call: Callable[[str], Awaitable[list[str]]]) -> None:
        """Run all interactions as steps. call takes the name of a tool and
        returns the texts of its result."""
        for name, tool, action, want in INTERACTIONS:
            self._action = action

            async def run() -> None:
                equal(f"texts of {tool}", await call(tool), [want])

            await report.step(name, run)

    def fill(self, message: str) -> tuple[Any, dict[str, Any] | None]:
        """What the user does with a form, and its content when that is to accept it."""
        return self._action, FORMS[message] if self._action == "accept" else None


class Progress:
    """A progress callback that keeps what it is given."""

    def __init__(self) -> None:
        self.got: list[tuple[float, float | None]] = []

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        self.got.append((progress, total))

    async def check(self) -> None:
        """Raise unless exactly PROGRESS_STEPS notifications came. The SDK may
        deliver the last ones a little after the result, hence the wait; that the
        server wrote none after it is for wiretap to check."""
        with anyio.move_on_after(PROMPT_LIMIT):
            while len(self.got) < PROGRESS_STEPS:
                await anyio.sleep(0.01)
        equal("progress", self.got, [(i, PROGRESS_STEPS) for i in range(1, PROGRESS_STEPS + 1)])


class Cancel:
    """A call that runs long and is cancelled at its first progress."""

    def __init__(self) -> None:
        self._started = anyio.Event()
        self._ended = anyio.Event()
        self._outcome: object = None

    async def on_progress(self, progress: float, total: float | None, message: str | None) -> None:
        self._started.set()

    async def _call(self, call: Callable[[], Awaitable[object]]) -> None:
        try:
            self._outcome = await call()
        except Exception as error:
            self._outcome = error
        finally:
            self._ended.set()
            self._started.set()

    async def run(
        self,
        call: Callable[[], Awaitable[object]],
        after: Callable[[], Awaitable[None]],
        tell: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """Start the call, cancel it once the server is at work, and raise unless
        it ends promptly and after is done promptly. tell is for SDKs that do not
        tell the server by themselves."""
        async with anyio.create_task_group() as group:
            group.start_soon(self._call, call)
            await self._started.wait()
            if self._ended.is_set():
                raise AssertionError(f"the call ended before it was cancelled: {self._outcome!r}")
            group.cancel_scope.cancel()
            with anyio.fail_after(PROMPT_LIMIT, shield=True):
                await self._ended.wait()
        if self._outcome is not None:
            raise AssertionError(f"the cancelled call returned {self._outcome!r}")
        if tell is not None:
            await tell()
        with anyio.fail_after(PROMPT_LIMIT):
            await after()
