"""OAuth authorization servers and the MCP servers that they protect, part of `http_server.py`.

Each path /as/OPTIONS is a separate authorization server. It protects the MCP server /guarded/OPTIONS/mcp or
…/sse. OPTIONS is `default`, any other word, or a list of these, separated by commas:

    expires=SECONDS          the lifetime that token answers name; 3600 by default
    no-refresh               no refresh tokens
    no-registration          clients cannot register
    no-resource-metadata     the MCP server has no metadata that names its authorization server
    no-issuer                the redirect does not name the issuer
    wrong-issuer             the redirect names another issuer
    wrong-state              the redirect has another state
    denied                   the user refuses
    exact-redirect           the port of a loopback redirect must be the registered one
    post, basic, none        how clients may authenticate themselves; by default in all three ways
    step-up                  calling a tool needs the scope `call`, which the first token does not have
                             (protocol 2026-07-28 only)
    open-handshake           connecting needs no token, listing and calling do (protocol 2026-07-28 only)
    modern                   the MCP server refuses requests of protocols before 2026-07-28
    no-pkce, plain-pkce      the metadata announces no PKCE, or only the method "plain"
    long-answer              the metadata has more than 1 MB
    long-token               tokens have 70,000 characters
    dead-token               tokens are refused at once
    KEY@HOST:PORT            the address under this key of the metadata, or `resource_metadata`, is there

/authorize redirects at once with a code. All servers know the client PREREGISTERED, which may use client
credentials. POST /as/OPTIONS/expire makes every access token of this server invalid and keeps the refresh
tokens; POST /as/OPTIONS/expire?all makes both invalid.
"""

from __future__ import annotations

import base64
import hashlib
import re
import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Mount, Route

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import ASGIApp, Receive, Scope, Send

PREREGISTERED = ("known-client", "known-secret")
SCOPES = ["read", "call"]


class OAuthError(Exception):
    """Answers a request to the authorization server with an error."""

    def __init__(self, error: str, description: str, status: int = 400) -> None:
        super().__init__(description)
        self.response = JSONResponse({"error": error, "error_description": description}, status_code=status)


@dataclass(slots=True)
class Grant:
    """What a code or a token grants, and to which client."""

    client_id: str
    scope: str
    resource: str
    redirect_uri: str = ""
    challenge: str = ""


@dataclass(slots=True)
class AuthorizationServer:
    """The clients, codes and tokens of one authorization server."""

    options: str
    clients: dict[str, dict[str, Any]] = field(default_factory=dict)
    codes: dict[str, Grant] = field(default_factory=dict)
    access: dict[str, Grant] = field(default_factory=dict)
    refresh: dict[str, Grant] = field(default_factory=dict)

    def __post_init__(self) -> None:
        client_id, secret = PREREGISTERED
        self.clients[client_id] = {"client_id": client_id, "client_secret": secret}

    def has(self, option: str) -> bool:
        """Return True if an option is set."""
        return option in self.options.split(",")

    @property
    def lifetime(self) -> int:
        """The seconds that token answers name."""
        values = [
            option.partition("=")[2] for option in self.options.split(",") if option.startswith("expires=")
        ]
        return int(values[0]) if values else 3600

    @property
    def authentication_methods(self) -> list[str]:
        """How clients may authenticate themselves at the token endpoint."""
        names = {"post": "client_secret_post", "basic": "client_secret_basic", "none": "none"}
        return [name for option, name in names.items() if self.has(option)] or list(names.values())

    # ---------------------------------------------------------------- endpoints

    def metadata(self, base: str) -> dict[str, Any]:
        """Return the metadata of the authorization server (RFC 8414)."""
        issuer = f"{base}/as/{self.options}"
        facts: dict[str, Any] = {
            "issuer": issuer,
            "authorization_endpoint": f"{issuer}/authorize",
            "token_endpoint": f"{issuer}/token",
            "revocation_endpoint": f"{issuer}/revoke",
            "registration_endpoint": f"{issuer}/register",
            "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code", "refresh_token", "client_credentials"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": self.authentication_methods,
            "scopes_supported": SCOPES,
            "authorization_response_iss_parameter_supported": not self.has("no-issuer"),
        }
        if self.has("no-registration"):
            del facts["registration_endpoint"]
        if self.has("no-pkce"):
            del facts["code_challenge_methods_supported"]
        elif self.has("plain-pkce"):
            facts["code_challenge_methods_supported"] = ["plain"]
        if self.has("long-answer"):
            facts["padding"] = "x" * 1_100_000
        return {
            key: self.moved(key, value) if isinstance(value, str) else value for key, value in facts.items()
        }

    def moved(self, key: str, url: str) -> str:
        """Return a URL with the host and port that an option names for its key."""
        for option in self.options.split(","):
            name, _, target = option.partition("@")
            if target and name == key:
                return urlsplit(url)._replace(netloc=target).geturl()
        return url

    def register(self, asked: dict[str, Any]) -> Response:
        """Register a client (RFC 7591)."""
        if self.has("no-registration"):
            raise OAuthError("access_denied", "registration is switched off", 403)
        method = asked.get("token_endpoint_auth_method") or "client_secret_basic"
        if method not in self.authentication_methods:
            method = self.authentication_methods[0]
        client_id = "client-" + secrets.token_hex(4)
        client = {**asked, "client_id": client_id, "token_endpoint_auth_method": method}
        if method != "none":
            client["client_secret"] = "secret-" + secrets.token_hex(8)
        self.clients[client_id] = client
        return JSONResponse(client, status_code=201)

    def authorize(self, query: dict[str, str], base: str) -> Response:
        """Redirect to the client with a code."""
        client = self.clients.get(query.get("client_id", ""))
        if client is None:
            raise OAuthError("invalid_request", "unknown client")
        target = query["redirect_uri"]
        registered = client.get("redirect_uris", [target])
        if not self.has("exact-redirect"):
            registered = [*registered, *map(_without_port, registered)]
        if target not in registered and _without_port(target) not in registered:
            raise OAuthError("invalid_request", "this redirect URI is not registered")
        answer = {"state": "another" if self.has("wrong-state") else query.get("state", "")}
        if not self.has("no-issuer"):
            issuer = f"{base}/as/{self.options}"
            answer["iss"] = "https://attacker.example" if self.has("wrong-issuer") else issuer
        if self.has("denied"):
            answer |= {"error": "access_denied", "error_description": "The user said no"}
        elif query.get("code_challenge_method") != "S256" or not query.get("code_challenge"):
            answer |= {"error": "invalid_request", "error_description": "PKCE is required"}
        else:
            code = answer["code"] = secrets.token_urlsafe(16)
            grant = Grant(query["client_id"], query.get("scope", ""), query.get("resource", ""), target)
            grant.challenge = query["code_challenge"]
            self.codes[code] = grant
        return RedirectResponse(f"{target}?{urlencode(answer)}", status_code=302)

    def token(self, form: dict[str, str], authorization: str) -> Response:
        """Return tokens for a code, a refresh token or client credentials."""
        client_id = self._authenticate(form, authorization)
        match form.get("grant_type"):
            case "authorization_code":
                grant = self.codes.pop(form.get("code", ""), None)
                verifier = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
                challenge = base64.urlsafe_b64encode(verifier).rstrip(b"=").decode()
                if (
                    grant is None
                    or grant.challenge != challenge
                    or grant.redirect_uri != form["redirect_uri"]
                ):
                    raise OAuthError("invalid_grant", "the code is not valid")
            case "refresh_token":
                grant = self.refresh.pop(form.get("refresh_token", ""), None)
                if grant is None:
                    raise OAuthError("invalid_grant", "the refresh token is not valid")
            case "client_credentials" if "client_secret" in self.clients[client_id]:
                grant = Grant(client_id, form.get("scope", ""), form.get("resource", ""))
            case _:
                raise OAuthError("unsupported_grant_type", "this grant is not supported")
        if grant.client_id != client_id:
            raise OAuthError("invalid_grant", "this was issued to another client")
        return self._issue(grant, may_refresh=form["grant_type"] != "client_credentials")

    def _authenticate(self, form: dict[str, str], authorization: str) -> str:
        client_id, secret, method = form.get("client_id", ""), form.get("client_secret"), "client_secret_post"
        if authorization.startswith("Basic "):
            words = base64.b64decode(authorization.removeprefix("Basic ")).decode().partition(":")
            client_id, secret, method = unquote(words[0]), unquote(words[2]), "client_secret_basic"
        elif secret is None:
            method = "none"
        client = self.clients.get(client_id)
        if (
            client is None
            or method not in self.authentication_methods
            or client.get("client_secret") != secret
        ):
            raise OAuthError("invalid_client", f"client authentication with {method} failed", 401)
        return client_id

    def _issue(self, grant: Grant, *, may_refresh: bool) -> Response:
        token = "access-" + ("x" * 70_000 if self.has("long-token") else secrets.token_urlsafe(16))
        if not self.has("dead-token"):
            self.access[token] = grant
        answer: dict[str, Any] = {"access_token": token, "token_type": "Bearer", "expires_in": self.lifetime}
        if grant.scope:
            answer["scope"] = grant.scope
        if may_refresh and not self.has("no-refresh"):
            answer["refresh_token"] = "refresh-" + secrets.token_urlsafe(16)
            self.refresh[answer["refresh_token"]] = grant
        return JSONResponse(answer, headers={"Cache-Control": "no-store"})

    def revoke(self, form: dict[str, str], authorization: str) -> Response:
        """Make one token invalid (RFC 7009)."""
        self._authenticate(form, authorization)
        self.access.pop(form.get("token", ""), None)
        self.refresh.pop(form.get("token", ""), None)
        return Response()

    def expire(self, *, everything: bool) -> Response:
        """Make the access tokens invalid, or all tokens."""
        self.access.clear()
        if everything:
            self.refresh.clear()
        return Response()


class AuthorizationServers:
    """The authorization servers by their options, and the MCP servers that they protect."""

    def __init__(self, mcp: ASGIApp, sse: ASGIApp, record: Callable[[str, Any], None]) -> None:
        self._mcp = mcp
        self._sse = sse
        self._record = record
        self._servers: dict[str, AuthorizationServer] = {}

    def routes(self) -> list[Route | Mount]:
        """Return the routes of all authorization servers and protected MCP servers."""
        well_known = "/.well-known/oauth-"
        return [
            Route(well_known + "protected-resource/guarded/{options}/{name}", self._resource_metadata),
            Route(well_known + "authorization-server/as/{options}", self._metadata),
            Route("/as/{options}/{endpoint}", self._endpoint, methods=["GET", "POST"]),
            Mount("/guarded/{options}", self._guarded),
        ]

    def _server(self, options: str) -> AuthorizationServer:
        return self._servers.setdefault(options, AuthorizationServer(options))

    async def _resource_metadata(self, request: Request) -> Response:
        options, base = request.path_params["options"], _base(request)
        if self._server(options).has("no-resource-metadata"):
            return Response(status_code=404)
        facts = {
            "resource": f"{base}/guarded/{options}/{request.path_params['name']}",
            "authorization_servers": [
                self._server(options).moved("authorization_servers", f"{base}/as/{options}")
            ],
        }
        return JSONResponse({**facts, "scopes_supported": ["read"], "bearer_methods_supported": ["header"]})

    async def _metadata(self, request: Request) -> Response:
        return JSONResponse(self._server(request.path_params["options"]).metadata(_base(request)))

    async def _endpoint(self, request: Request) -> Response:
        server, endpoint = self._server(request.path_params["options"]), request.path_params["endpoint"]
        authorization = request.headers.get("authorization", "")
        asked: dict[str, Any] = dict(request.query_params)
        if request.method == "POST":
            body = (await request.body()).decode()
            asked = await request.json() if endpoint == "register" else {**asked, **dict(parse_qsl(body))}
        self._record(f"oauth/{endpoint}", asked)
        try:
            match endpoint:
                case "register":
                    return server.register(asked)
                case "authorize":
                    return server.authorize(asked, _base(request))
                case "token":
                    return server.token(asked, authorization)
                case "revoke":
                    return server.revoke(asked, authorization)
                case "expire":
                    return server.expire(everything="all" in request.url.query)
        except OAuthError as error:
            return error.response
        return Response(status_code=404)

    async def _guarded(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on to the MCP server if it has a valid token."""
        options = scope["path_params"]["options"]
        server, request = self._server(options), Request(scope, receive)
        path = request.url.path.removeprefix(f"/guarded/{options}")
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        grant = server.access.get(token)
        method = request.headers.get("mcp-method")  # of protocol 2026-07-28
        if grant is None and not (server.has("open-handshake") and method == "server/discover"):
            status, challenge = 401, 'error="invalid_token"' if token else 'scope="read"'
        elif grant and server.has("step-up") and method == "tools/call" and "call" not in grant.scope.split():
            status, challenge = 403, 'error="insufficient_scope", scope="read call"'
        elif server.has("modern") and method is None:
            status, challenge = 400, ""
        else:
            app = self._mcp if path == "/mcp" else self._sse
            await app({**scope, "path": path, "raw_path": path.encode()}, receive, send)
            return
        if not server.has("no-resource-metadata"):
            url = f"{_base(request)}/.well-known/oauth-protected-resource/guarded/{options}{path}"
            challenge += f', resource_metadata="{server.moved("resource_metadata", url)}"'
        answer = Response(status_code=status, headers={"WWW-Authenticate": f"Bearer {challenge}"})
        await answer(scope, receive, send)


def _base(request: Request) -> str:
    return f"{request.url.scheme}://{request.url.netloc}"


def _without_port(url: str) -> str:
    """Return a loopback URL without its port, which may differ from the registered one (RFC 8252, 7.3)."""
    return re.sub(r"^(http://(?:127\.0\.0\.1|localhost)):\d+", r"\1", url)
