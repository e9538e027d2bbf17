"""Drives a server with the client of the official Python SDK, version 2.
"modern" has it negotiate, as it does by default; "pinned" has it start in the
stateless era without asking."""

from __future__ import annotations

import warnings
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.exceptions import MCPDeprecationWarning
from mcp_types import (
    CallToolResult,
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequestParams,
    ElicitResult,
    ListRootsResult,
    PromptReference,
    Root,
    TextContent,
    TextResourceContents,
)

import steps

OPTIONS = steps.options(["legacy", "modern", "pinned"])
MODES = {"legacy": "legacy", "modern": "auto", "pinned": OPTIONS.version}


class Run:
    def __init__(self, client: Client) -> None:
        self.client = client

    async def connect(self) -> None:
        steps.equal("protocol version", self.client.protocol_version, OPTIONS.version)
        # Who starts without asking is not told the server's name either.
        info = self.client.server_info
        want = None if OPTIONS.mode == "pinned" else steps.SERVER
        steps.equal("server name", info and info.name, want)

    async def walk(self, list_method: Callable[..., Awaitable[Any]], entries: Callable[[Any], list[Any]]) -> list[Any]:
        async def fetch(cursor: str | None) -> Any:
            return await list_method(cursor=cursor)

        return await steps.walk(fetch, entries, lambda page: page.next_cursor)

    async def tools(self) -> None:
        tools = await self.walk(self.client.list_tools, lambda page: page.tools)
        steps.listed([tool.name for tool in tools], steps.TOOLS)

    async def resources(self) -> None:
        resources = await self.walk(self.client.list_resources, lambda page: page.resources)
        steps.listed([str(resource.uri) for resource in resources], [steps.BENCH_URI, steps.STATIC_URI])

    async def templates(self) -> None:
        templates = await self.walk(self.client.list_resource_templates, lambda page: page.resource_templates)
        steps.listed([template.uri_template for template in templates], [steps.TEMPLATE])

    async def prompts(self) -> None:
        prompts = await self.walk(self.client.list_prompts, lambda page: page.prompts)
        steps.listed([prompt.name for prompt in prompts], [steps.PROMPT])

    async def echo(self) -> None:
        result = await self.client.call_tool("echo", {"text": steps.ECHO_TEXT})
        texts = [block.text for block in result.content if isinstance(block, TextContent)]
        steps.echoed(texts, result.structured_content, result.is_error)

    async def call(self) -> None:
        await self.echo()
        result = await self.client.call_tool("add", {"a": 2, "b": 40})
        steps.equal("structured content of add", result.structured_content, {"sum": 42})

    async def text(self, uri: str) -> str:
        (contents,) = (await self.client.read_resource(uri)).contents
        assert isinstance(contents, TextResourceContents)
        steps.equal("uri", str(contents.uri), uri)
        return contents.text

    async def read(self) -> None:
        steps.equal(f"size of {steps.BENCH_URI}", len(await self.text(steps.BENCH_URI)), steps.BENCH_SIZE)
        steps.equal(f"text of {steps.STATIC_URI}", await self.text(steps.STATIC_URI), steps.STATIC_TEXT)

    async def prompt(self) -> None:
        result = await self.client.get_prompt(steps.PROMPT, steps.PROMPT_ARGUMENTS)
        steps.prompted([m.content.text for m in result.messages if isinstance(m.content, TextContent)])

    async def complete(self) -> None:
        ref = PromptReference(type="ref/prompt", name=steps.PROMPT)
        result = await self.client.complete(ref, steps.COMPLETE_ARGUMENT)
        steps.completed(result.completion.values)

    async def progress(self) -> None:
        progress = steps.Progress()
        await self.client.call_tool("progress", {"steps": steps.PROGRESS_STEPS}, progress_callback=progress)
        await progress.check()

    async def ping_and_echo(self) -> None:
        if OPTIONS.mode == "legacy":  # the modern era has no ping
            await self.client.send_ping()
        await self.echo()

    async def cancel(self) -> None:
        cancel = steps.Cancel()

        async def sleep() -> CallToolResult:
            return await self.client.call_tool("sleep", {"ms": steps.SLEEP_MS}, progress_callback=cancel.on_progress)

        await cancel.run(sleep, self.ping_and_echo)

    async def texts(self, tool: str) -> list[str]:
        result = await self.client.call_tool(tool)
        steps.equal("isError", result.is_error or False, False)
        return [block.text for block in result.content if isinstance(block, TextContent)]


class Answers:
    """The callbacks of the client."""

    def __init__(self) -> None:
        self.person = steps.Person()

    async def elicit(self, context: Any, params: ElicitRequestParams) -> ElicitResult:
        action, content = self.person.fill(params.message)
        return ElicitResult(action=action, content=content)

    async def sample(self, context: Any, params: CreateMessageRequestParams) -> CreateMessageResult:
        (message,) = params.messages
        assert isinstance(message.content, TextContent)
        content = TextContent(type="text", text=steps.COMPLETIONS[message.content.text])
        return CreateMessageResult(role="assistant", content=content, model="none", stop_reason="endTurn")

    async def roots(self, context: Any) -> ListRootsResult:
        return ListRootsResult(roots=[Root(uri=uri) for uri in steps.ROOTS])


@asynccontextmanager
async def server() -> AsyncIterator[Any]:
    """What Client takes as its server."""
    if not OPTIONS.url:
        yield StdioServerParameters(command=OPTIONS.command, args=OPTIONS.args)
        return
    async with create_mcp_http_client(headers=OPTIONS.headers) as http:
        yield streamable_http_client(OPTIONS.url, http_client=http)


async def main(report: steps.Report) -> None:
    answers = Answers()
    async with (
        report.session(),
        server() as peer,
        Client(
            peer,
            mode=MODES[OPTIONS.mode],
            elicitation_callback=answers.elicit,
            sampling_callback=answers.sample,
            list_roots_callback=answers.roots,
        ) as client,
    ):
        run = Run(client)
        if not await report.step("connect", run.connect):
            return
        await report.step("tools", run.tools)
        await report.step("resources", run.resources)
        await report.step("templates", run.templates)
        await report.step("prompts", run.prompts)
        await report.step("call", run.call)
        await report.step("read", run.read)
        await report.step("prompt", run.prompt)
        await report.step("complete", run.complete)
        await report.step("progress", run.progress)
        await report.step("cancel", run.cancel)
        await answers.person.interact(report, run.texts)


warnings.simplefilter("ignore", MCPDeprecationWarning)
REPORT = steps.Report(OPTIONS)
anyio.run(main, REPORT)
REPORT.exit()
