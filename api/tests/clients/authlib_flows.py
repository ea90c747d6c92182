"""A client library that is not ours, authlib, goes through every flow of a running service.

Started by a test, with what it needs as JSON on standard input: the service's address, an account, and the client ids
of applications that are registered. An assertion that fails ends it. Only what a person does in a browser is done by
hand, with requests and the forms of the pages.
"""

import base64
import hashlib
import json
import sys
from html.parser import HTMLParser
from urllib.parse import parse_qs, urljoin, urlsplit

import requests
from authlib.common.security import generate_token
from authlib.integrations.base_client import OAuthError
from authlib.integrations.requests_client import OAuth2Session
from authlib.jose import JsonWebKey, JsonWebToken
from authlib.oidc.core import CodeIDToken

DEVICE_CODE = "urn:ietf:params:oauth:grant-type:device_code"
SCOPE = "openid email profile offline_access generator_api.samples:read"


class Form(HTMLParser):
    """The hidden fields of a page's form, and where it leads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.action, self.fields = None, {}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list) -> None:
        attributes = dict(attrs)
        if tag == "form":
            self.action = attributes["action"]
        if tag == "input" and attributes.get("type") == "hidden":
            self.fields[attributes["name"]] = attributes["value"]


class Person:
    """Somebody with a browser and an account."""

    def __init__(self, base: str, email: str, password: str) -> None:
        self.base, self.email, self.password = base, email, password
        self.browser = requests.Session()

    def send(self, page: requests.Response, **fields: str) -> requests.Response:
        """Fills in the form of a page."""
        form = Form(page.text)
        answer = self.browser.post(
            urljoin(self.base, form.action), data=form.fields | fields, headers={"Origin": self.base}, allow_redirects=False
        )
        return self.follow(answer)

    def follow(self, answer: requests.Response) -> requests.Response:
        """Goes where the service sends the browser, as long as that is the service."""
        while answer.is_redirect and urljoin(self.base, answer.headers["Location"]).startswith(self.base):
            answer = self.browser.get(urljoin(self.base, answer.headers["Location"]), allow_redirects=False)
        return answer

    def open(self, url: str) -> requests.Response:
        """Opens an address, and logs in if it asks for that."""
        page = self.follow(self.browser.get(url, allow_redirects=False))
        if "<h1>Log in</h1>" in page.text:
            page = self.send(page, email=self.email, password=self.password)
        return page

    def allow(self, url: str) -> str:
        """Opens an address and allows what is asked; returns where the browser is sent."""
        page = self.open(url)
        if "<h1>Allow access</h1>" in page.text:
            page = self.send(page, decision="allow")
        assert page.is_redirect, page.text
        return page.headers["Location"]


class Flows:
    """The flows, each a method."""

    def __init__(self, given: dict) -> None:
        self.given, self.base = given, given["base"]
        self.person = Person(self.base, given["email"], given["password"])
        self.server = requests.get(f"{self.base}/auth/.well-known/openid-configuration").json()
        assert self.server["issuer"] == f"{self.base}/auth"

    def samples(self, session: OAuth2Session) -> int:
        """The status of an operation that needs a token."""
        return session.get(f"{self.base}/generator/v1/samples").status_code

    def refused(self, error: str, attempt: object) -> None:
        """Checks that an attempt ends with an error of OAuth."""
        try:
            attempt()
        except OAuthError as found:
            assert found.error == error, found
        else:
            raise AssertionError(f"{error} was expected")

    def check_id_token(self, token: dict, client_id: str, nonce: str) -> None:
        """Checks the ID token as OpenID Connect Core wants it done."""
        keys = JsonWebKey.import_key_set(requests.get(self.server["jwks_uri"]).json())
        claims = JsonWebToken(["EdDSA"]).decode(
            token["id_token"],
            keys,
            claims_cls=CodeIDToken,
            claims_options={"iss": {"essential": True, "value": self.server["issuer"]}, "aud": {"value": client_id}},
            # authlib knows at_hash for the RS, ES and PS families alone: it is checked below.
            claims_params={"nonce": nonce, "client_id": client_id},
        )
        claims.validate()
        # OpenID Connect Core, section 3.1.3.6; the hash of Ed25519 is SHA-512.
        left_half = hashlib.sha512(token["access_token"].encode()).digest()[:32]
        assert claims["at_hash"] == base64.urlsafe_b64encode(left_half).decode().rstrip("="), claims
        assert claims["email"] == self.given["email"] and claims["auth_time"] <= claims["iat"], claims

    def code(self, client_id: str, secret: str | None, method: str) -> OAuth2Session:
        """Authorization code with PKCE."""
        session = OAuth2Session(
            client_id,
            secret,
            scope=SCOPE,
            redirect_uri=self.given["redirect"],
            code_challenge_method="S256",
            token_endpoint_auth_method=method,
            revocation_endpoint_auth_method=method,
        )
        verifier, nonce = generate_token(48), generate_token(20)
        url, state = session.create_authorization_url(
            self.server["authorization_endpoint"], code_verifier=verifier, nonce=nonce
        )
        landed = self.person.allow(url)
        assert parse_qs(urlsplit(landed).query)["iss"] == [self.server["issuer"]]
        token = session.fetch_token(
            self.server["token_endpoint"], authorization_response=landed, code_verifier=verifier, state=state
        )
        assert set(token["scope"].split()) == set(SCOPE.split()), token
        self.check_id_token(token, client_id, nonce)
        assert self.samples(session) == 200
        person = session.get(self.server["userinfo_endpoint"]).json()
        assert person["email"] == self.given["email"] and person["name"] == "Demo", person
        # The same answer of the server once more: the code is spent, and what it bought with it.
        self.refused(
            "invalid_grant",
            lambda: OAuth2Session(
                client_id,
                secret,
                redirect_uri=self.given["redirect"],
                token_endpoint_auth_method=method,
            ).fetch_token(self.server["token_endpoint"], authorization_response=landed, code_verifier=verifier),
        )
        assert self.samples(session) == 401
        # And a second time from the start, with no form: the person is logged in and has agreed.
        url, state = session.create_authorization_url(
            self.server["authorization_endpoint"], code_verifier=verifier, nonce=nonce
        )
        session.token = None
        session.fetch_token(
            self.server["token_endpoint"],
            authorization_response=self.person.allow(url),
            code_verifier=verifier,
            state=state,
        )
        assert self.samples(session) == 200
        return session

    def without_pkce(self) -> None:
        """A client that has never heard of PKCE is told so at its redirect address."""
        session = OAuth2Session(self.given["public"], scope=SCOPE, redirect_uri=self.given["redirect"])
        url, _ = session.create_authorization_url(self.server["authorization_endpoint"])
        answer = parse_qs(urlsplit(self.person.follow(self.person.browser.get(url, allow_redirects=False)).headers["Location"]).query)
        assert answer["error"] == ["invalid_request"], answer

    def refresh(self, session: OAuth2Session) -> None:
        """Rotation, and what becomes of a family whose spent token comes back."""
        first = session.token["refresh_token"]
        session.refresh_token(self.server["token_endpoint"], refresh_token=first)
        assert session.token["refresh_token"] != first and self.samples(session) == 200
        last = session.token["refresh_token"]
        self.refused("invalid_grant", lambda: session.refresh_token(self.server["token_endpoint"], refresh_token=first))
        self.refused("invalid_grant", lambda: session.refresh_token(self.server["token_endpoint"], refresh_token=last))
        assert self.samples(session) == 401

    def revoke(self, session: OAuth2Session) -> None:
        """Introspection and revocation, by an application with a secret."""
        token = session.token["access_token"]
        told = session.introspect_token(self.server["introspection_endpoint"], token=token).json()
        assert told["active"] and told["client_id"] == session.client_id, told
        answer = session.revoke_token(self.server["revocation_endpoint"], token=session.token["refresh_token"])
        assert answer.status_code == 200, answer.text
        assert not session.introspect_token(self.server["introspection_endpoint"], token=token).json()["active"]
        assert self.samples(session) == 401

    def implicit(self) -> None:
        """The token in the redirect's fragment."""
        session = OAuth2Session(
            self.given["public"],
            scope="generator_api.samples:read",
            redirect_uri=self.given["redirect"],
            token_endpoint_auth_method="none",
        )
        url, state = session.create_authorization_url(self.server["authorization_endpoint"], response_type="token")
        token = session.fetch_token(authorization_response=self.person.allow(url), state=state)
        assert "refresh_token" not in token and self.samples(session) == 200, token

    def device(self) -> None:
        """A program without a browser."""
        client_id = self.given["device"]
        begun = requests.post(
            self.server["device_authorization_endpoint"], data={"client_id": client_id, "scope": SCOPE}
        ).json()
        session = OAuth2Session(client_id, token_endpoint_auth_method="none")

        def poll() -> dict:
            return session.fetch_token(
                self.server["token_endpoint"], grant_type=DEVICE_CODE, device_code=begun["device_code"]
            )

        self.refused("authorization_pending", poll)
        question = self.person.open(begun["verification_uri_complete"])
        allow = self.person.send(question, user_code=begun["user_code"])
        assert self.given["email"] in allow.text, allow.text
        assert "let in" in self.person.send(allow, decision="allow").text
        token = poll()
        assert token["refresh_token"] and self.samples(session) == 200
        self.refused("invalid_grant", poll)

    def log_out(self) -> None:
        """Without a session the login page comes again."""
        page = self.person.browser.get(f"{self.base}/auth/logout")
        assert "logged out" in self.person.send(page).text
        session = OAuth2Session(self.given["public"], redirect_uri=self.given["redirect"], code_challenge_method="S256")
        url, _ = session.create_authorization_url(
            self.server["authorization_endpoint"], code_verifier=generate_token(48), prompt="none"
        )
        landed = self.person.browser.get(url, allow_redirects=False).headers["Location"]
        assert parse_qs(urlsplit(landed).query)["error"] == ["login_required"], landed


def main() -> None:
    """Goes through the flows, and says which."""
    given = json.load(sys.stdin)
    flows = Flows(given)
    flows.without_pkce()
    flows.refresh(flows.code(given["public"], None, "none"))
    for method in ("client_secret_basic", "client_secret_post"):
        flows.revoke(flows.code(given["confidential"], given["secret"], method))
    flows.implicit()
    flows.device()
    flows.log_out()
    print("code, refresh, revoke, introspect, implicit, device, logout")


if __name__ == "__main__":
    main()
