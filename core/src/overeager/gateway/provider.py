"""Passes requests on to a real API and its answers back, byte for byte; the key is added here and nowhere else."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress

import httpx

from overeager.errors import OvereagerError
from overeager.gateway.prices import PriceTable, load_prices
from overeager.gateway.redaction import StreamRedactor, redact
from overeager.gateway.upstream import Asked, Inquiry
from overeager.gateway.wire import Answer, Cut, Headers, Refusal, Relay

_HOP = frozenset({
    "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer",
    "transfer-encoding", "upgrade", "content-length",
})  # fmt: skip

_OURS = _HOP | {"host", "accept-encoding", "expect", "cookie", "x-api-key", "authorization"}
"""Request headers that are not handed on: the connection's own, and what would carry a key."""

_THEIRS = _HOP | {"content-encoding", "set-cookie", "anthropic-organization-id", "alt-svc", "date"}
"""Answer headers that are not handed back: the connection's own, and what names the account."""


class Provider:
    """The real API at `base_url`. Redirects are not followed: they would carry the key elsewhere."""

    remote = True

    def __init__(self, base_url: str, key: str, prices: PriceTable | None = None, seconds: float = 600) -> None:
        """`seconds` is how long the API may stay silent; raises GTW002 or GTW003 for a key or address of no use."""
        if not base_url.startswith(("http://", "https://")):
            raise OvereagerError(
                "GTW003",
                f"'{base_url}' is no address of an API",
                cure="give one that begins with https:// (or http:// for a server of your own)",
            )
        if not key or not key.isascii() or not key.isprintable() or " " in key:
            raise OvereagerError(
                "GTW002",
                "the provider's key is empty or holds characters that no header can carry",
                cure="set the environment variable that the agent's adapter names to the key alone",
            )
        self.secrets: tuple[str, ...] = (key,)
        self.prices = load_prices() if prices is None else prices
        self._base = base_url.rstrip("/")
        self._key = key
        self._timeout = httpx.Timeout(seconds, connect=30)
        self._client: httpx.AsyncClient | None = None

    async def answer(self, asked: Asked) -> Answer:
        """The API's own answer, or 502 when it cannot be reached."""
        return await self._pass_on(asked.inquiry)

    async def look_up(self, inquiry: Inquiry) -> Answer | None:
        """The API's own answer."""
        return await self._pass_on(inquiry)

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.aclose()

    async def _pass_on(self, inquiry: Inquiry) -> Answer:
        try:
            request = self._connected().build_request(
                inquiry.method,
                self._base + inquiry.path,
                headers=[*keyed_headers(inquiry.headers, self._key), ("accept-encoding", "identity")],
                content=inquiry.body,
            )
            response = await self._connected().send(request, stream=True)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return Refusal(502, self._told(error))
        headers = ((name.decode("latin-1"), value.decode("latin-1")) for name, value in response.headers.raw)
        return Relay(
            response.status_code,
            tuple((name, self._clean(value)) for name, value in headers if name.lower() not in _THEIRS),
            self._chunks(response),
        )

    def _connected(self) -> httpx.AsyncClient:
        # Made at the first request, on the gateway's own event loop: its TLS context takes some 40 ms.
        if self._client is None:
            unbounded = httpx.Limits(max_connections=None, max_keepalive_connections=20)
            self._client = httpx.AsyncClient(timeout=self._timeout, limits=unbounded, follow_redirects=False)
            self._client.headers.clear()
        return self._client

    async def _chunks(self, response: httpx.Response) -> AsyncIterator[bytes]:
        redactor = StreamRedactor(self._key)
        try:
            async for chunk in response.aiter_bytes():
                if passed := redactor.feed(chunk):
                    yield passed
            if rest := redactor.flush():
                yield rest
        except httpx.HTTPError as error:
            raise Cut(self._told(error)) from None
        finally:
            with suppress(httpx.HTTPError):
                await response.aclose()

    def _told(self, error: Exception) -> str:
        return self._clean(f"{type(error).__name__}: {error}")

    def _clean(self, text: str) -> str:
        return redact(text.encode("latin-1", "replace"), self.secrets).decode("latin-1")


def keyed_headers(headers: Headers, key: str) -> Headers:
    """`headers` for the API: the client's placeholder key replaced where it stood, x-api-key when there was none."""
    names = {name.lower() for name, _ in headers}
    kept = tuple((name, value) for name, value in headers if name.lower() not in _OURS)
    keys: list[tuple[str, str]] = []
    if "authorization" in names:
        keys.append(("authorization", f"Bearer {key}"))
    if "x-api-key" in names or not keys:
        keys.append(("x-api-key", key))
    return kept + tuple(keys)
