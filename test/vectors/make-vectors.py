#!/usr/bin/env python3
"""Makes signatures.json: callback signatures computed without this package.

    python3 test/vectors/make-vectors.py > test/vectors/signatures.json

Every digest is computed twice, and the script stops when the two differ:

    printf '<timestamp>.<body>' | openssl dgst -sha256 -mac HMAC -macopt hexkey:<secretHex> -binary
    hmac.new(secret, timestamp + b'.' + body, hashlib.sha256).digest()

Nothing here is random, so that a second run gives the same file.
"""

import base64
import hashlib
import hmac
import json
import subprocess
import sys

RECORD = (
    '{"referenceNumber":"5a3f0e4c-9f0b-4e57-8a54-0d4f6c1b2a90",'
    '"merchantPaymentReference":"order-1001","providerReference":"prov-77",'
    '"status":"paid","createdAt":"2026-01-31T12:00:00.000+00:00",'
    '"updatedAt":"2026-01-31T12:00:05.000+00:00"}'
).encode()
PRETTY = json.dumps(json.loads(RECORD), indent=2).encode()
EMOJI = RECORD.replace(b"order-1001", "commande \U0001f9fe №1 é".encode())
SECRET = b"whsec_test_3f6c0a"
NOW = "1769860805"

CASES = [
    ("a status record", SECRET, NOW, RECORD),
    ("the same record pretty-printed", SECRET, NOW, PRETTY),
    ("the same record with another timestamp", SECRET, "1769860806", RECORD),
    ("an empty body", SECRET, NOW, b""),
    ("emoji and accents in UTF-8", SECRET, NOW, EMOJI),
    ("a byte order mark before the record", SECRET, NOW, b"\xef\xbb\xbf" + RECORD),
    ("bytes that are not UTF-8", SECRET, NOW, b'{"status":"\xff\xfe\xc3\x28\x80"}'),
    ("NUL bytes", SECRET, NOW, b"\x00\x00{}\x00"),
    ("CRLF line ends", SECRET, NOW, PRETTY.replace(b"\n", b"\r\n")),
    ("a trailing line feed", SECRET, NOW, RECORD + b"\n"),
    ("a body that begins with a full stop", SECRET, NOW, b"." + RECORD),
    ("a body of 64 KiB", SECRET, NOW, bytes((i * 31 + 7) % 256 for i in range(65536))),
    ("a secret of one byte", b"k", NOW, RECORD),
    ("a secret of 64 bytes, the block size", bytes(range(33, 97)), NOW, RECORD),
    ("a secret of 65 bytes, hashed first", bytes(range(33, 98)), NOW, RECORD),
    ("a secret of 200 bytes", b"long-secret-" * 16 + b"12345678", NOW, RECORD),
    ("a secret in UTF-8 beyond ASCII", "clé-sécrète-鍵-\U0001f511".encode(), NOW, RECORD),
    ("a secret of bytes that are no text", bytes([255, 0, 254, 128, 10, 13]), NOW, RECORD),
    ("timestamp 0", SECRET, "0", RECORD),
    ("a timestamp with leading zeros", SECRET, "0001769860805", RECORD),
    ("a timestamp in milliseconds", SECRET, "1769860805123", RECORD),
]


def openssl(secret: bytes, message: bytes) -> bytes:
    command = ["openssl", "dgst", "-sha256", "-mac", "HMAC", "-macopt", f"hexkey:{secret.hex()}", "-binary"]
    return subprocess.run(command, input=message, capture_output=True, check=True).stdout


def vector(name: str, secret: bytes, timestamp: str, body: bytes) -> dict:
    message = timestamp.encode() + b"." + body
    digest = openssl(secret, message)
    if digest != hmac.new(secret, message, hashlib.sha256).digest():
        sys.exit(f"openssl and Python differ on: {name}")
    return {
        "name": name,
        "secretHex": secret.hex(),
        "timestamp": timestamp,
        "bodyHex": body.hex(),
        "hex": digest.hex(),
        "base64": base64.b64encode(digest).decode(),
        "base64url": base64.urlsafe_b64encode(digest).decode().rstrip("="),
    }


json.dump([vector(*case) for case in CASES], sys.stdout, indent=2, ensure_ascii=True)
sys.stdout.write("\n")
