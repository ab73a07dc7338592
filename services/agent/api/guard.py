"""What holds for every request: security headers, no writes from other sites, and an answer whatever goes wrong."""

from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from services.agent.api.problems import as_rejected, respond
from shared.errors import Rejected

_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
}


class Guard:
    """ASGI middleware around the whole API. A header that an endpoint sets itself is left alone."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = False

        async def send_guarded(message: Message) -> None:
            nonlocal began
            if message["type"] == "http.response.start":
                began = True
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            refuse_cross_origin(scope["method"], Headers(scope=scope))
            await self._app(scope, receive, send_guarded)
        except ClientDisconnect:
            return  # nobody is left to answer
        except Exception as exc:
            rejected = as_rejected(exc)
            if began:
                raise  # half an answer is out: breaking the connection is the only way to say so
            answer = respond(rejected, Headers(scope=scope).get("accept-language", ""))
            await answer(scope, receive, send_guarded)


def refuse_cross_origin(method: str, headers: Headers) -> None:
    """`Rejected` for a write that a browser makes for a page of another site; programs send no Origin."""
    origin = headers.get("origin")
    if method in _SAFE_METHODS or origin is None:
        return
    if urlsplit(origin).netloc != headers.get("host"):
        raise Rejected("cross-origin", "the request comes from a page of another origin", status=403)
