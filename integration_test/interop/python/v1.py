"""Drives a server with the client of the official Python SDK, version 1, which
knows the handshake era only."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from pydantic import AnyUrl, FileUrl

import steps

OPTIONS = steps.options(["legacy"])


class Run:
    def __init__(self) -> None:
        self.session: ClientSession  # set before the first step
        self.latest_token: types.ProgressToken | None = None
        self.person = steps.Person()

    async def connect(self) -> None:
        result = await self.session.initialize()
        steps.equal("protocol version", result.protocolVersion, OPTIONS.version)
        steps.equal("server name", result.serverInfo.name, steps.SERVER)

    async def on_message(self, message: object) -> None:
        if isinstance(message, types.ServerNotification) and isinstance(message.root, types.ProgressNotification):
            self.latest_token = message.root.params.progressToken

    async def walk(self, list_method: Callable[..., Awaitable[Any]], entries: Callable[[Any], list[Any]]) -> list[Any]:
        async def fetch(cursor: str | None) -> Any:
            return await list_method(params=types.PaginatedRequestParams(cursor=cursor))

        return await steps.walk(fetch, entries, lambda page: page.nextCursor)

    async def tools(self) -> None:
        tools = await self.walk(self.session.list_tools, lambda page: page.tools)
        steps.listed([tool.name for tool in tools], steps.TOOLS)

    async def resources(self) -> None:
        resources = await self.walk(self.session.list_resources, lambda page: page.resources)
        steps.listed([str(resource.uri) for resource in resources], [steps.BENCH_URI, steps.STATIC_URI])

    async def templates(self) -> None:
        templates = await self.walk(self.session.list_resource_templates, lambda page: page.resourceTemplates)
        steps.listed([template.uriTemplate for template in templates], [steps.TEMPLATE])

    async def prompts(self) -> None:
        prompts = await self.walk(self.session.list_prompts, lambda page: page.prompts)
        steps.listed([prompt.name for prompt in prompts], [steps.PROMPT])

    async def echo(self) -> None:
        result = await self.session.call_tool("echo", {"text": steps.ECHO_TEXT})
        texts = [block.text for block in result.content if isinstance(block, types.TextContent)]
        steps.echoed(texts, result.structuredContent, result.isError)

    async def call(self) -> None:
        await self.echo()
        result = await self.session.call_tool("add", {"a": 2, "b": 40})
        steps.equal("structured content of add", result.structuredContent, {"sum": 42})

    async def text(self, uri: str) -> str:
        (contents,) = (await self.session.read_resource(AnyUrl(uri))).contents
        assert isinstance(contents, types.TextResourceContents)
        steps.equal("uri", str(contents.uri), uri)
        return contents.text

    async def read(self) -> None:
        steps.equal(f"size of {steps.BENCH_URI}", len(await self.text(steps.BENCH_URI)), steps.BENCH_SIZE)
        steps.equal(f"text of {steps.STATIC_URI}", await self.text(steps.STATIC_URI), steps.STATIC_TEXT)

    async def prompt(self) -> None:
        result = await self.session.get_prompt(steps.PROMPT, steps.PROMPT_ARGUMENTS)
        steps.prompted([m.content.text for m in result.messages if isinstance(m.content, types.TextContent)])

    async def complete(self) -> None:
        ref = types.PromptReference(type="ref/prompt", name=steps.PROMPT)
        result = await self.session.complete(ref, steps.COMPLETE_ARGUMENT)
        steps.completed(result.completion.values)

    async def progress(self) -> None:
        progress = steps.Progress()
        await self.session.call_tool("progress", {"steps": steps.PROGRESS_STEPS}, progress_callback=progress)
        await progress.check()

    async def cancel(self) -> None:
        cancel = steps.Cancel()

        async def sleep() -> types.CallToolResult:
            return await self.session.call_tool("sleep", {"ms": steps.SLEEP_MS}, progress_callback=cancel.on_progress)

        # This SDK leaves telling the server to its user. It uses the request id
        # as progress token, so the latest token names the request to cancel.
        async def tell() -> None:
            assert self.latest_token is not None
            params = types.CancelledNotificationParams(requestId=self.latest_token, reason="cancelled by the test")
            notification = types.CancelledNotification(method="notifications/cancelled", params=params)
            await self.session.send_notification(types.ClientNotification(notification))

        async def ping_and_echo() -> None:
            await self.session.send_ping()
            await self.echo()

        await cancel.run(sleep, ping_and_echo, tell)

    async def texts(self, tool: str) -> list[str]:
        result = await self.session.call_tool(tool)
        steps.equal("isError", result.isError, False)
        return [block.text for block in result.content if isinstance(block, types.TextContent)]

    async def elicit(self, context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        action, content = self.person.fill(params.message)
        return types.ElicitResult(action=action, content=content)

    async def sample(self, context: Any, params: types.CreateMessageRequestParams) -> types.CreateMessageResult:
        (message,) = params.messages
        assert isinstance(message.content, types.TextContent)
        content = types.TextContent(type="text", text=steps.COMPLETIONS[message.content.text])
        return types.CreateMessageResult(role="assistant", content=content, model="none", stopReason="endTurn")

    async def roots(self, context: Any) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root(uri=FileUrl(uri)) for uri in steps.ROOTS])


@asynccontextmanager
async def streams() -> AsyncIterator[tuple[Any, Any]]:
    """The two streams of messages to and from the server."""
    if not OPTIONS.url:
        async with stdio_client(StdioServerParameters(command=OPTIONS.command, args=OPTIONS.args)) as (read, write):
            yield read, write
        return
    async with (
        create_mcp_http_client(headers=OPTIONS.headers) as http,
        streamable_http_client(OPTIONS.url, http_client=http) as (read, write, _),
    ):
        yield read, write


async def main(report: steps.Report) -> None:
    run = Run()
    async with report.session(), streams() as (read, write):
        async with ClientSession(
            read,
            write,
            message_handler=run.on_message,
            elicitation_callback=run.elicit,
            sampling_callback=run.sample,
            list_roots_callback=run.roots,
        ) as run.session:
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
            await run.person.interact(report, run.texts)


REPORT = steps.Report(OPTIONS)
anyio.run(main, REPORT)
REPORT.exit()
