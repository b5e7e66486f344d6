"""Writes callback-keys.json: python3 test/vectors/make-callback-keys.py > test/vectors/callback-keys.json

The keys of status changes, by Python's datetime and hashlib, without a line of this package.
"""

import base64
import hashlib
import json
import sys
from datetime import datetime, timedelta, timezone
from decimal import Decimal

REFERENCE = "5a3f0e4c-9f0b-4e57-8a54-0d4f6c1b2a90"
NOON = datetime(2026, 1, 31, 12, 0, 5, tzinfo=timezone.utc)
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def readable(reference, status, micros):
    return f"{reference}.{status}.{micros}"


def digest(reference, status, micros):
    def units(text):
        return len(text.encode("utf-16-le")) // 2

    text = f"{units(reference)}.{units(status)}.{reference}{status}{micros}"
    sha = hashlib.sha256(text.encode()).digest()
    return "sha256." + base64.urlsafe_b64encode(sha).decode().rstrip("=")


def micros(instant):
    return (instant - EPOCH) // timedelta(microseconds=1)


CASES = []


def case(name, form, updated_at, instant, reference=REFERENCE, status="paid"):
    key = form(reference, status, instant if isinstance(instant, (int, Decimal)) else micros(instant))
    record = {"referenceNumber": reference, "status": status, "updatedAt": updated_at}
    CASES.append({"name": name, **record, "key": key})


for spelling in [
    "2026-01-31T12:00:05+00:00",
    "2026-01-31T12:00:05Z",
    "2026-01-31T01:30:05-10:30",
    "2026-01-31T12:00:05.000000000Z",
]:
    case(f"one instant, spelled {spelling}", readable, spelling, NOON)

case("without seconds", readable, "2026-01-31T12:00Z", NOON - timedelta(seconds=5))
case("to the millisecond", readable, "2026-01-31T12:00:05.123Z", NOON + timedelta(milliseconds=123))
case("to the microsecond", readable, "2026-01-31T12:00:05.123456Z", NOON + timedelta(microseconds=123456))
case("one microsecond", readable, "2026-01-31T12:00:05.000001Z", NOON + timedelta(microseconds=1))
case("the epoch", readable, "1970-01-01T00:00:00Z", EPOCH)
case("before 1970", readable, "1969-12-31T23:59:59.999999Z", EPOCH - timedelta(microseconds=1))
case("the year 1", readable, "0001-01-01T00:00:00Z", datetime(1, 1, 1, tzinfo=timezone.utc))
case("the year 0", readable, "0000-12-31T23:59:59.999999Z", micros(datetime(1, 1, 1, tzinfo=timezone.utc)) - 1)
case("the last year", readable, "9999-12-31T23:59:59.999999Z", datetime(9999, 12, 31, 23, 59, 59, 999999, timezone.utc))
case("after the last year", readable, "9999-12-31T23:59:59-01:00",
     micros(datetime(9999, 12, 31, 23, 59, 59, tzinfo=timezone.utc)) + 3_600_000_000)
case("every plain character", readable, "2026-01-31T12:00:05Z", NOON, "aZ09_-", "-_90Za")
case("128 characters", readable, "2026-01-31T12:00:05Z", NOON, "r" * 106)
case("129 characters", digest, "2026-01-31T12:00:05Z", NOON, "r" * 107)
case("a full stop in the reference", digest, "2026-01-31T12:00:05Z", NOON, "a.b")
case("a full stop in the status", digest, "2026-01-31T12:00:05Z", NOON, status="paid.")
case("a line break at the end", digest, "2026-01-31T12:00:05Z", NOON, "a\n")
case("a colon", digest, "2026-01-31T12:00:05Z", NOON, "a:b")
case("beyond ASCII", digest, "2026-01-31T14:00:05+02:00", NOON, "réf-\U0001f9fe", "payé")
case("finer than a microsecond", digest, "2026-01-31T12:00:05.123456789Z",
     Decimal(micros(NOON) + 123456) + Decimal("0.789"))
case("finer than a microsecond, in another spelling", digest, "2026-01-31T13:00:05,12345678900+01:00",
     Decimal(micros(NOON) + 123456) + Decimal("0.789"))

json.dump(CASES, sys.stdout, indent=2, ensure_ascii=True)
sys.stdout.write("\n")
