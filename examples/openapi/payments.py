"""Creates payments and verifies callbacks, as openapi.json alone describes them."""

import base64
import hashlib
import hmac
import json
import re
import time
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import urlsplit


class NotSent(Exception):
    """There was no connection, so no payment was created: try again later."""


class Rejected(Exception):
    """The service refused. This request created no payment."""

    def __init__(self, status, error):
        super().__init__(f"{status} {error.get('code')}: {error.get('message')}")
        self.status, self.code = status, error.get("code")
        self.request_id = error.get("requestId")


class Unknown(Exception):
    """The payment may exist. Do not create it again: wait for its callback."""


def create_payment(base_url, api_key, api_secret, payment, timeout=30):
    """Returns what the service answers, which may be anything: the payment exists."""
    url = urlsplit(base_url)
    connection_type = HTTPSConnection if url.scheme == "https" else HTTPConnection
    connection = connection_type(url.netloc, timeout=timeout)
    credentials = base64.b64encode(f"{api_key}:{api_secret}".encode()).decode()
    headers = {"Authorization": f"Basic {credentials}", "Content-Type": "application/json"}
    try:
        try:
            connection.connect()
        except OSError as error:
            raise NotSent(str(error)) from None
        try:
            path = url.path.rstrip("/") + "/api/payments"
            connection.request("POST", path, json.dumps(payment), headers)
            answer = connection.getresponse()
        except (OSError, HTTPException) as error:
            raise Unknown(repr(error)) from None
        body = read_json(answer)
    finally:
        connection.close()
    if 200 <= answer.status < 300:
        return body
    # 408 and 499 may come from a proxy while the service goes on.
    if 400 <= answer.status < 500 and answer.status not in (408, 499):
        raise Rejected(answer.status, body if isinstance(body, dict) else {})
    raise Unknown(f"answered with {answer.status}")


def read_json(answer):
    """A body that breaks off or is not JSON changes nothing about the payment."""
    try:
        return json.loads(answer.read(1_048_576))
    except (OSError, HTTPException, ValueError):
        return None


def is_genuine(headers, raw_body: bytes, signing_secret: str) -> bool:
    """Whether the service sent a callback. Parse its body only then."""
    timestamp = headers.get("X-Timestamp", "")
    if not re.fullmatch(r"[0-9]{1,12}", timestamp):
        return False
    if abs(time.time() - int(timestamp)) > 300:
        return False
    signed = timestamp.encode() + b"." + raw_body
    expected = hmac.new(signing_secret.encode(), signed, hashlib.sha256).hexdigest()
    received = headers.get("X-Signature", "").lower()
    return hmac.compare_digest(expected.encode(), received.encode("utf-8", "replace"))
