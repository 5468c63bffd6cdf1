"""Small pieces of ASGI that the endpoint is made of."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Iterable
from typing import TypeVar

from starlette.requests import ClientDisconnect, Request
from starlette.types import Receive

from overeager.gateway.upstream import Inquiry

T = TypeVar("T")


def read_inquiry(request: Request) -> Inquiry:
    """Method, path with query, and headers as they came; the body is yet to be read."""
    raw_path, query = request.scope["raw_path"], request.scope["query_string"]
    path = raw_path + (b"?" + query if query else b"")
    return Inquiry(request.method, path.decode("latin-1"), tuple(request.headers.items()), b"")


async def each(chunks: Iterable[bytes]) -> AsyncIterator[bytes]:
    """`chunks`, one at a time."""
    for chunk in chunks:
        yield chunk


async def close_chunks(chunks: AsyncIterator[bytes]) -> None:
    """Let go of what stands behind `chunks`, read to the end or not."""
    if isinstance(chunks, AsyncGenerator):
        await chunks.aclose()


async def while_connected(work: Awaitable[T], receive: Receive) -> T:
    """The result of `work`; raises ClientDisconnect, and ends `work`, as soon as the client is gone."""
    task, gone = asyncio.ensure_future(work), asyncio.ensure_future(_disconnect(receive))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise ClientDisconnect
        return task.result()
    finally:
        task.cancel()
        gone.cancel()
        await asyncio.gather(task, gone, return_exceptions=True)


async def _disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
