"""Listens to the server at the URL given, answers what it asks, and speaks its older revision, with `mcp`."""

import asyncio
import sys

from mcp import Client
from mcp.client.subscriptions import ResourceUpdated
from mcp_types import ElicitResult

URI = "bench://item/7"


async def fill_in(_context, params) -> ElicitResult:
    """Answers each of the two questions of a call."""
    known = {"name": "Ada", "color": "green"}
    fields = params.requested_schema["properties"]
    return ElicitResult(action="accept", content={field: known[field] for field in fields})


async def main(url: str) -> None:
    async with Client(url, mode="2026-07-28", elicitation_callback=fill_in) as client:
        assert client.protocol_version == "2026-07-28", client.protocol_version

        tools = (await client.list_tools()).tools
        assert any(tool.name == "publish" for tool in tools), "no tool `publish`"
        echoed = await client.call_tool("echo", {"text": "hello"})
        assert echoed.content[0].text == "hello", echoed

        async with client.listen(resource_subscriptions=[URI]) as subscription:
            assert subscription.honored.resource_subscriptions == [URI], subscription.honored
            print("acknowledged", end="", flush=True)

            await client.call_tool("publish", {"uri": URI, "times": 1})
            event = await anext(subscription)
            assert event == ResourceUpdated(uri=URI), event
            print(", updated", end="", flush=True)

        asked = await client.call_tool("test_input_required_result_multi_round", {})
        assert asked.content[0].text == "Ada likes green.", asked
        print(", answered", end="", flush=True)

    async with Client(url, mode="legacy") as client:
        assert client.protocol_version == "2025-11-25", client.protocol_version
        tools = (await client.list_tools()).tools
        assert any(tool.name == "echo" for tool in tools), "no tool `echo`"
        echoed = await client.call_tool("echo", {"text": "hello"})
        assert echoed.content[0].text == "hello", echoed
        print(", legacy", flush=True)


asyncio.run(main(sys.argv[1]))
