"""Listens to a resource of the server at the URL given, with `mcp`."""

import asyncio
import sys

from mcp import Client
from mcp.client.subscriptions import ResourceUpdated

URI = "bench://item/7"


async def main(url: str) -> None:
    async with Client(url, mode="2026-07-28") as client:
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
            print(", updated", flush=True)


asyncio.run(main(sys.argv[1]))
