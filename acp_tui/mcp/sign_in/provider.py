"""The SDK's OAuth client with stored tokens that several processes share.

The SDK's own provider signs in again where renewing the token is enough, and sends each request only after
the previous one has been answered. It stores neither the expiry time of a token nor the address for renewing
the token. `SignInProvider` sends requests with the stored token, renews the token under the lock of the
token store, and runs the SDK's flow only if the server still refuses the request.
"""

from __future__ import annotations

import asyncio
import json
import logging
import shlex
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import httpx2
from mcp.client.auth import OAuthClientProvider, OAuthFlowError, OAuthRegistrationError
from mcp.client.auth.utils import extract_field_from_www_auth, union_scopes
from mcp.shared._request_clock import waiting_on_a_person
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from pydantic import AnyUrl, BaseModel, ValidationError

from acp_tui import __version__
from acp_tui.mcp.sign_in.browser_round_trip import BrowserRoundTrip, shown_error
from acp_tui.mcp.sign_in.interaction import SignInCancelled, SignInError, SignInInteraction, SignInRequired
from acp_tui.mcp.sign_in.request_guard import RequestGuard, limited
from acp_tui.mcp.sign_in.token_store import StoredSignIn, TokenStore
from acp_tui.session.safe_text import escape_line
from acp_tui.web_browser import is_safe_scheme

if TYPE_CHECKING:
    from acp_tui.config.mcp import SignInSettings


ModelT = TypeVar("ModelT", bound=BaseModel)

EXPIRY_LEEWAY_SECONDS = 10.0
"""How long before its expiry a token is renewed, so that it does not expire while a request is sent."""
AUTHORIZATION_SECONDS = 30.0
"""The timeout for each step of a request to an authorization server.

It is short because a renewal holds the lock of the token store, for which other processes wait.
"""
MAX_TOKEN_CHARACTERS = 64_000
"""The maximum length of an access token or refresh token."""

# The SDK logs answers of the token endpoint, which contain tokens. The raised errors say enough.
_sdk_log = logging.getLogger("mcp.client.auth")
_sdk_log.addHandler(logging.NullHandler())
_sdk_log.propagate = False


class SignInProvider(OAuthClientProvider):
    """Adds a valid token, if any, to each request to one server. If necessary, renews the token or signs in.

    Requests that `httpx2` sends with this authentication can raise `SignInError`.
    """

    def __init__(
        self, name: str, url: str, settings: SignInSettings, interaction: SignInInteraction | None
    ) -> None:
        without_user = settings.grant == "client_credentials"
        metadata = OAuthClientMetadata(
            redirect_uris=None,
            client_name=f"acp-tui {__version__}",
            grant_types=["client_credentials"] if without_user else ["authorization_code", "refresh_token"],
            scope=settings.scope or None,
        )
        super().__init__(
            url,
            metadata,
            NoStorage(),
            redirect_handler=self._keep_url,
            callback_handler=self._wait_for_code,
            client_metadata_url=settings.client_metadata_url or None,
        )
        self.store = TokenStore(url)
        self._name = escape_line(name)
        self._settings = settings
        self._interaction = interaction
        self._stamp: tuple[int, int] | None = None
        self._sign_in_turn = asyncio.Lock()
        self._round_trip: BrowserRoundTrip | None = None
        self._authorization_url = ""
        self._guard = RequestGuard(url, [settings.issuer], self._ask_for_address)
        self.limit: asyncio.Timeout | None = None
        """The time limit for connecting to the server. It does not run while the user signs in."""
        self._more_scope = False  # whether the server requires a permission that the token lacks

    # ----------------------------------------------------------------- requests

    async def _auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        if not self._initialized:
            await self._initialize()
        rejected: str | None = None
        for _ in range(2):  # at most one retry: the server may also refuse the renewed token
            is_new = False
            self._load_if_changed()
            if self._must_renew(rejected):
                async with self.store.lock():
                    self._load_if_changed()
                    if self._must_renew(rejected):
                        answer = yield await self._checked(await self._refresh_token())
                        is_new = await self._handle_refresh_response(answer)
            token = self._token(even_if_expired=is_new)  # a new token may expire within the leeway
            if token is not None and token == rejected:
                break
            self._set_header(request, token)
            response = yield request
            if not _is_refused(response):
                return
            if token is None or response.status_code == 403:
                break
            rejected = token
        async with self._sign_in_turn:
            self._load_if_changed()
            if (newer := self._token()) not in (None, token):  # another request has just signed in
                self._set_header(request, newer)
                yield request
                return
            flow = self._sign_in(request, response)
            try:
                outgoing = await anext(flow)
                while True:
                    outgoing = await flow.asend((yield outgoing))
            except StopAsyncIteration:
                return
            finally:
                await flow.aclose()

    async def _sign_in(
        self, request: httpx2.Request, refusal: httpx2.Response
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """Run the SDK's sign-in flow, beginning with the server's refusal of the request."""
        self._more_scope = refusal.status_code == 403
        self.context.token_expiry_time = None  # the SDK would try to renew an expired token
        async with self._round_trip_if_needed():
            flow = super()._auth_flow(request)
            is_first = True
            try:
                outgoing = await anext(flow)
                while True:
                    if outgoing is request and is_first:
                        is_first = False
                        response = refusal
                    elif outgoing is not request:
                        response = yield await self._checked(outgoing)
                    else:
                        response = yield outgoing
                        if response.status_code == 401:
                            await self._forget_token()
                            raise SignInError(
                                f"{self._name} refused the token from the new sign-in; it was deleted."
                            )
                    outgoing = await flow.asend(response)
            except StopAsyncIteration:
                return
            except OAuthRegistrationError as error:
                self._check_issuer()
                raise registration_refused(self._name, error) from None
            except OAuthFlowError as error:
                raise SignInError(
                    f"The sign-in for {self._name} failed: {shown_error(str(error))}."
                ) from None
            finally:
                await flow.aclose()

    @asynccontextmanager
    async def _round_trip_if_needed(self) -> AsyncIterator[None]:
        """Listen for the browser's redirect, unless the configured grant needs no user.

        Raises `SignInRequired` if there is no way to ask the user.
        """
        if self._settings.grant == "client_credentials":
            yield
            return
        if self._interaction is None:
            raise SignInRequired(self._required_sentence())
        with self.store.sign_in_lock():
            self._round_trip = self._listen(self._interaction)
            self.context.client_metadata.redirect_uris = [AnyUrl(self._round_trip.redirect_uri)]
            try:
                yield
            finally:
                self._round_trip.close()
                self._round_trip = None

    def _listen(self, interaction: SignInInteraction) -> BrowserRoundTrip:
        """Listen on the configured port; if none is configured, on the registered port or else any free port.

        Raises `SignInError` if the configured port cannot be used.
        """
        if port := self._settings.redirect_port:
            try:
                return BrowserRoundTrip(self._name, interaction, port)
            except OSError as error:
                sentence = f"Could not listen on port {port} (redirect_port): {error.strerror}."
                raise SignInError(sentence) from None
        registered = self.context.client_info.redirect_uris if self.context.client_info else None
        try:
            return BrowserRoundTrip(self._name, interaction, (registered[0].port or 0) if registered else 0)
        except OSError:  # the registered port is in use: register again
            self.context.client_info = configured_client(self._settings)
            return BrowserRoundTrip(self._name, interaction, 0)

    async def _checked(self, request: httpx2.Request) -> httpx2.Request:
        """Return a request to an authorization server with a timeout, which the SDK does not set.

        Raises `SignInError` if its address must not be used. A redirect is followed only to the same host.
        """
        await self._guard.check(request.url)
        request.extensions["timeout"] = httpx2.Timeout(AUTHORIZATION_SECONDS).as_dict()
        return limited(request)

    async def _ask_for_address(self, origin: str, place: str) -> None:
        """Raise `SignInError` unless the user allows the sign-in to use an address that is not public."""
        origin = escape_line(origin)
        what = f"{self._name} asks acp-tui to sign in at {origin}, another service {place}"
        if self._interaction is None:
            if self._settings.grant == "client_credentials":
                raise SignInError(f'{what}. If you trust it, set sign_in.issuer = "{origin}".')
            raise SignInRequired(f"{what}: run `acp-tui mcp sign-in {shlex.quote(self._name)}`.")
        with self._limit_suspended(), waiting_on_a_person():
            allowed = await self._interaction.confirm_address(f"{what}.")
        if not allowed:
            raise SignInCancelled(
                f'{what}, which you did not allow. If you trust it, set sign_in.issuer = "{origin}".'
            )

    async def _keep_url(self, url: str) -> None:
        self._authorization_url = url

    async def _wait_for_code(self) -> AuthorizationCodeResult:
        assert self._round_trip is not None
        metadata = self.context.oauth_metadata
        needs_issuer = metadata is not None and metadata.authorization_response_iss_parameter_supported
        with self._limit_suspended():
            answer = await self._round_trip.answer(
                self._authorization_url, issuer_required=bool(needs_issuer)
            )
        return AuthorizationCodeResult(code=answer.code, state=answer.state, iss=answer.issuer)

    @contextmanager
    def _limit_suspended(self) -> Iterator[None]:
        """Suspend `limit` in the `with` block. Afterwards, `limit` continues with the time that remained."""
        limit, now = self.limit, asyncio.get_running_loop().time
        rest = None
        if limit is not None and (end := limit.when()) is not None:
            rest = end - now()
            limit.reschedule(None)
        try:
            yield
        finally:
            if limit is not None and rest is not None and limit is self.limit:
                limit.reschedule(now() + rest)

    async def _perform_authorization(self) -> httpx2.Request:
        """Let the user sign in if the grant needs a user, and return the request for a token."""
        settings, context = self._settings, self.context
        if settings.scope:
            wanted = context.client_metadata.scope if self._more_scope else None
            context.client_metadata.scope = union_scopes(settings.scope, wanted)
        self._check_issuer()
        if settings.client_id and context.client_info is not None:
            method = authentication_method(settings, context.oauth_metadata)
            context.client_info.token_endpoint_auth_method = method
        if settings.grant == "client_credentials":
            return self._client_credentials_request()
        if not settings.allow_missing_pkce:
            self._require_pkce()
        return await super()._perform_authorization()

    def _require_pkce(self) -> None:
        """Raise `SignInError` unless the authorization server announces PKCE with S256, as MCP requires.

        Without PKCE, a code that leaks from the browser is enough to get a token.
        """
        metadata = self.context.oauth_metadata
        methods = metadata.code_challenge_methods_supported if metadata is not None else None
        if "S256" not in (methods or []):
            raise SignInError(
                f"The authorization server of {self._name} does not announce PKCE with S256, which protects "
                "the sign-in. If you trust it nevertheless, set sign_in.allow_missing_pkce = true."
            )

    def _client_credentials_request(self) -> httpx2.Request:
        """Return the token request of the grant `client_credentials`, which needs no user.

        The SDK's `ClientCredentialsOAuthProvider` builds the same request, but has to know the authentication
        method before the server's metadata is known.
        """
        context = self.context
        data, headers = context.prepare_token_auth(
            {"grant_type": "client_credentials"}, {"Content-Type": "application/x-www-form-urlencoded"}
        )
        if context.should_include_resource_param(context.protocol_version):
            data["resource"] = context.get_resource_url()
        if context.client_metadata.scope:
            data["scope"] = context.client_metadata.scope
        return httpx2.Request("POST", self._get_token_endpoint(), data=data, headers=headers)

    def _get_token_endpoint(self) -> str:
        url = super()._get_token_endpoint()
        if not is_safe_scheme(url):
            raise SignInError(
                f"{self._name} asks to exchange tokens at {url}, which is not encrypted (http)."
            )
        return url

    def _check_issuer(self) -> None:
        """Raise `SignInError` if the server does not use the configured client's authorization server."""
        client, wanted = self.context.client_info, self._settings.client_id
        if wanted and (client is None or client.client_id != wanted):
            raise SignInError(
                f"{self._name} uses the authorization server {self._expected_issuer()}, "
                "but the configured client_id belongs to another authorization server; check sign_in.issuer."
            )

    # ----------------------------------------------------------------- answers of the token endpoint

    async def _handle_token_response(self, response: httpx2.Response) -> None:
        if response.status_code not in (200, 201):
            raise await token_refused(self._name, response)
        try:
            await super()._handle_token_response(response)
        except (OAuthFlowError, ValueError):  # their messages quote the answer, which may contain a token
            raise SignInError(
                f"The authorization server {response.request.url.host} sent no valid token."
            ) from None
        self._require_short_token(response)
        async with self.store.lock():
            self._save(time.time())

    async def _handle_refresh_response(self, response: httpx2.Response) -> bool:
        if response.status_code not in (200, 400, 401):
            raise renewal_failed(self._name, response)
        stored = self.store.read()
        renewed = await super()._handle_refresh_response(response)
        if renewed:
            self._require_short_token(response)
            self._save(stored.signed_in_at if stored is not None else time.time())
        else:
            self.store.delete()  # the refresh token is no longer valid
            self._load()
        return renewed

    def _require_short_token(self, response: httpx2.Response) -> None:
        """Raise `SignInError` if a new token is too long to be sent with each request."""
        tokens = self.context.current_tokens
        if tokens is None:
            return
        if max(len(tokens.access_token), len(tokens.refresh_token or "")) > MAX_TOKEN_CHARACTERS:
            self._load()
            raise SignInError(
                f"The authorization server {response.request.url.host} sent a token of more than "
                f"{MAX_TOKEN_CHARACTERS // 1000} kB; it was not stored."
            )

    async def _forget_token(self) -> None:
        """Delete the stored token and registration."""
        async with self.store.lock():
            self.store.delete()
            self._load()

    def _required_sentence(self) -> str:
        what = "needs more permissions than your sign-in has" if self._more_scope else "needs a sign-in"
        return f"{self._name} {what}: run `acp-tui mcp sign-in {shlex.quote(self._name)}`."

    # ----------------------------------------------------------------- stored tokens

    async def _initialize(self) -> None:
        self._load()
        self._initialized = True

    def _load_if_changed(self) -> None:
        if self.store.stamp() != self._stamp:
            self._load()

    def _load(self) -> None:
        """Load the stored sign-in, unless it belongs to a client other than the configured one."""
        context = self.context
        self._stamp = self.store.stamp()
        stored = self.store.read()
        configured = configured_client(self._settings)
        context.client_info = configured
        context.clear_tokens()
        if stored is None:
            return
        self._guard.allow(stored.private_addresses)
        client = from_stored(OAuthClientInformationFull, stored.client)
        if client is None or (configured is not None and configured.client_id != client.client_id):
            return
        if configured is None:
            context.client_info = client
        else:
            configured.token_endpoint_auth_method = client.token_endpoint_auth_method
            configured.issuer = configured.issuer or client.issuer
        context.oauth_metadata = from_stored(OAuthMetadata, stored.server_metadata)
        context.protected_resource_metadata = from_stored(ProtectedResourceMetadata, stored.resource_metadata)
        if context.protected_resource_metadata is not None:
            context.auth_server_url = str(context.protected_resource_metadata.authorization_servers[0])
        context.current_tokens = OAuthToken(
            access_token=stored.access_token, refresh_token=stored.refresh_token, scope=stored.scope
        )
        if stored.expires_at is not None:
            context.token_expiry_time = stored.expires_at - EXPIRY_LEEWAY_SECONDS

    def _save(self, signed_in_at: float) -> None:
        """Store the new token and the data for renewing it. The caller holds the lock."""
        context = self.context
        assert context.current_tokens is not None
        client = {} if context.client_info is None else to_stored(context.client_info)
        if self._settings.client_id:
            client.pop("client_secret", None)  # the secret stays in the user's settings only
            if context.oauth_metadata is not None:  # from now on, the secret is sent to this server only
                client["issuer"] = str(context.oauth_metadata.issuer)
        self.store.write(
            StoredSignIn(
                url=self.store.url,
                access_token=context.current_tokens.access_token,
                refresh_token=context.current_tokens.refresh_token,
                scope=context.current_tokens.scope,
                expires_at=context.token_expiry_time,
                signed_in_at=signed_in_at,
                client=client,
                server_metadata=to_stored(context.oauth_metadata),
                resource_metadata=to_stored(context.protected_resource_metadata),
                private_addresses=self._private_addresses(),
            )
        )
        self._load()

    def _private_addresses(self) -> list[str]:
        """Return the addresses that the user has allowed for this sign-in, now and before."""
        stored = self.store.read()
        return sorted({*self._guard.accepted, *(stored.private_addresses if stored is not None else ())})

    def _must_renew(self, rejected: str | None) -> bool:
        """Return whether the access token must be renewed, and can be renewed with the refresh token.

        `rejected` is the token that the server has refused; None if no token was refused.
        """
        tokens = self.context.current_tokens
        if tokens is None or not self.context.can_refresh_token():
            return False
        return not self.context.is_token_valid() or tokens.access_token == rejected

    def _token(self, *, even_if_expired: bool = False) -> str | None:
        tokens = self.context.current_tokens
        if tokens is None or not (even_if_expired or self.context.is_token_valid()):
            return None
        return tokens.access_token

    @staticmethod
    def _set_header(request: httpx2.Request, token: str | None) -> None:
        if token is not None:
            request.headers["Authorization"] = f"Bearer {token}"


def _is_refused(response: httpx2.Response) -> bool:
    if response.status_code == 403:
        return extract_field_from_www_auth(response, "error") == "insufficient_scope"
    return response.status_code == 401


# --------------------------------------------------------------------------- the client and its storage


def configured_client(settings: SignInSettings) -> OAuthClientInformationFull | None:
    """Return the client in the server's settings; None if the settings name no client."""
    if not settings.client_id:
        return None
    return OAuthClientInformationFull(
        client_id=settings.client_id,
        client_secret=settings.client_secret or None,
        issuer=settings.issuer or None,
    )


def authentication_method(
    settings: SignInSettings, metadata: OAuthMetadata | None
) -> Literal["none", "client_secret_post", "client_secret_basic"]:
    """Return the method by which the configured client authenticates at the token endpoint."""
    if not settings.client_secret:
        return "none"
    offered = metadata.token_endpoint_auth_methods_supported if metadata is not None else None
    if offered and "client_secret_basic" not in offered and "client_secret_post" in offered:
        return "client_secret_post"
    return "client_secret_basic"  # the default of RFC 8414


class NoStorage:
    """A token storage for the SDK that does nothing, because `SignInProvider` saves the tokens."""

    async def get_tokens(self) -> OAuthToken | None:
        return None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Save nothing."""

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Save nothing."""


def from_stored(kind: type[ModelT], data: dict[str, Any]) -> ModelT | None:
    """Return the model of a stored object; None if the object is empty or damaged."""
    try:
        return kind.model_validate(data)
    except ValidationError:
        return None


def to_stored(model: BaseModel | None) -> dict[str, Any]:
    """Return a model as an object to be stored."""
    return {} if model is None else model.model_dump(mode="json", exclude_none=True)


# --------------------------------------------------------------------------- refused requests


async def token_refused(name: str, response: httpx2.Response) -> SignInError:
    """Return the error for a token endpoint that refused to issue a token for the server `name`."""
    code, text = await _error_of(response)
    words = f"{code}: {text.rstrip('.')}" if text else code
    if code == "invalid_grant":
        return SignInError(
            f"The authorization code for {name} has expired or was used before ({words}); sign in again."
        )
    if code == "invalid_client":
        return SignInError(
            f"The authorization server of {name} does not accept acp-tui's client credentials ({words}); "
            "check sign_in.client_id and sign_in.client_secret."
        )
    return SignInError(f"The authorization server refused to issue a token for {name} ({words}).")


def registration_refused(name: str, error: Exception) -> SignInError:
    """Return the error for an authorization server that refused to register acp-tui."""
    reason = shown_error(str(error)).rstrip(". ")
    return SignInError(
        f"The authorization server of {name} does not let acp-tui register itself ({reason}); "
        "ask the server's provider for a client id and set sign_in.client_id."
    )


def renewal_failed(name: str, response: httpx2.Response) -> SignInError:
    """Return the error for a renewal that failed but can be tried again later."""
    host = response.request.url.host
    return SignInError(
        f"The authorization server {host} could not renew the sign-in for {name} "
        f"(HTTP {response.status_code}); try again later."
    )


async def _error_of(response: httpx2.Response) -> tuple[str, str]:
    """Return an answer's error code and the server's description of the error, both safe to display."""
    try:
        body: Any = json.loads(await response.aread())
        code, text = body.get("error"), body.get("error_description", "")
    except (ValueError, AttributeError, RecursionError):
        code, text = None, ""
    return shown_error(str(code or f"HTTP {response.status_code}")), shown_error(str(text or ""))
