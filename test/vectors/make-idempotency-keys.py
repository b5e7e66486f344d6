"""Makes idempotency-keys.json, the keys of payments, without code of this package.

python3 test/vectors/make-idempotency-keys.py > test/vectors/idempotency-keys.json
"""

import hashlib
import json
import uuid

PAYMENT = {"merchantPaymentReference": "order-1001", "amount": 2500, "currency": "EUR"}
CASES = {
    "a payment": PAYMENT,
    "another amount": {**PAYMENT, "amount": 10.5},
    "another reference": {**PAYMENT, "merchantPaymentReference": "order-1002"},
    "more fields": {
        **PAYMENT,
        "merchantPaymentReference": 'é–😀 "1"',
        "note": "a\nb",
        "lines": [{"b": 1, "a": [True, None]}, {}],
    },
}


def key_of(body):
    text = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    digest = bytearray(hashlib.sha256(text.encode()).digest()[:16])
    digest[6] = digest[6] & 0x0F | 0x80
    digest[8] = digest[8] & 0x3F | 0x80
    return str(uuid.UUID(bytes=bytes(digest)))


print(
    json.dumps(
        [{"name": name, "body": body, "key": key_of(body)} for name, body in CASES.items()],
        ensure_ascii=False,
        indent=2,
    )
)
