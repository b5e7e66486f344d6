#!/usr/bin/env python3
"""Decides whether a callback is to be accepted, from the interface alone (sections 2.2, 4.2, 5.2).

Reads one JSON document a line, {"profiles": [...], "cases": [...]}, and answers each with one line: for
every case {"codes": [...], "secretIndex": n}. No codes mean "accept"; else each is right for the
first step at which the callback fails: body, headers, timestamp, signature's text, HMAC, record.

Only Python's standard library, and nothing of the package under test.
"""

import base64
import calendar
import hashlib
import hmac
import json
import re
import string
import sys

DIGITS = frozenset("0123456789")
LETTERS_AND_DIGITS = frozenset(string.ascii_letters + string.digits)
HEX = frozenset("0123456789abcdefABCDEF")
# From here on a number of seconds can only be milliseconds: the year 5138.
SECONDS_END = 100_000_000_000
LONGEST_TIMESTAMP = 15

DATE = r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
TIME = r"([01][0-9]|2[0-3]):[0-5][0-9](:([0-5][0-9]|60)([.,][0-9]+)?)?"
OFFSET = r"([Zz]|[+-]([01][0-9]|2[0-3])(:?[0-5][0-9])?)"
DATE_TIME = re.compile(f"{DATE}[Tt]{TIME}{OFFSET}")


def lower(name):
    """Of ASCII letters only: header names have no others."""
    return "".join(chr(ord(c) + 32) if "A" <= c <= "Z" else c for c in name)


def judge(profile, case):
    headers = read_headers(profile, case)
    header_codes = headers.get("codes", [])
    try:
        body = case["text"].encode("utf-8") if "text" in case else base64.b64decode(case["bytes"])
    except UnicodeEncodeError:
        return {"codes": ["RAW_BODY_REQUIRED"], "headerCodes": header_codes}
    if header_codes:
        return {"codes": header_codes, "headerCodes": header_codes}

    signed = headers["timestamp"].encode("ascii") + b"." + body
    for index, secret in enumerate(profile["keys"]):
        if hmac.compare_digest(hmac.new(secret, signed, hashlib.sha256).digest(), headers["digest"]):
            if is_record(body):
                return {"codes": [], "headerCodes": [], "secretIndex": index}
            return {"codes": ["INVALID_RECORD"], "headerCodes": []}
    return {"codes": ["SIGNATURE_MISMATCH"], "headerCodes": []}


def read_headers(profile, case):
    """What needs no body: the timestamp and the digest, or why there is none."""
    timestamps = [value for name, value in case["headers"] if lower(name) == "x-timestamp"]
    signatures = [value for name, value in case["headers"] if lower(name) == "x-signature"]
    faults = header_faults(timestamps, "TIMESTAMP") + header_faults(signatures, "SIGNATURE")
    if faults:
        return refuse(*faults)

    timestamp = timestamps[0]
    sent_at_ms = read_timestamp(timestamp, profile["timestampUnit"])
    if sent_at_ms is None:
        return refuse("INVALID_TIMESTAMP")
    skew = profile["nowMs"] // 1000 - sent_at_ms // 1000
    if abs(skew) > profile["toleranceSeconds"]:
        return refuse("TIMESTAMP_OUTSIDE_WINDOW")

    digest = read_digest(signatures[0], profile["signatureEncoding"])
    if digest is None:
        return refuse("INVALID_SIGNATURE")
    return {"timestamp": timestamp, "digest": digest}


def refuse(*codes):
    return {"codes": codes}


def header_faults(values, name):
    if len(values) > 1:
        return ["INVALID_" + name]
    return [] if values and values[0] != "" else ["MISSING_" + name]


def read_timestamp(text, unit):
    if len(text) > LONGEST_TIMESTAMP or not all(c in DIGITS for c in text):
        return None
    value = int(text)
    if unit == "milliseconds":
        return value if value >= SECONDS_END else None
    return value * 1000 if value < SECONDS_END else None


def read_digest(text, allowed):
    if allowed in ("auto", "hex") and len(text) == 64 and all(c in HEX for c in text):
        return bytes.fromhex(text)
    bare = text[:-1] if len(text) == 44 and text.endswith("=") else text
    for encoding, marks in (("base64", "+/"), ("base64url", "-_")):
        if allowed not in ("auto", encoding) or len(bare) != 43:
            continue
        if not all(c in LETTERS_AND_DIGITS or c in marks for c in bare):
            continue
        return base64.b64decode(bare.replace("-", "+").replace("_", "/") + "=")
    return None


class Number(str):
    """A number of JSON, kept apart from text without being computed."""


def is_record(body):
    try:
        record = json.loads(body.decode("utf-8"), parse_constant=reject, parse_int=Number, parse_float=Number)
    except ValueError:
        return False
    if not isinstance(record, dict):
        return False
    return (
        all(is_text(record.get(f)) and record[f] != "" for f in ("referenceNumber", "merchantPaymentReference", "status"))
        and is_text(record.get("updatedAt"))
        and is_date_time(record["updatedAt"])
    )


def is_date_time(text):
    if not DATE_TIME.fullmatch(text):
        return False
    year, month, day = (int(part) for part in text[:10].split("-"))
    return day <= calendar.monthrange(2000 + year % 400, month)[1]


def reject(constant):
    raise ValueError(constant)


def is_text(value):
    return type(value) is str


def main():
    for line in sys.stdin.buffer:
        batch = json.loads(line)
        profiles = batch["profiles"]
        for profile in profiles:
            profile["keys"] = [base64.b64decode(secret) for secret in profile["secrets"]]
        verdicts = [judge(profiles[case["profile"]], case) for case in batch["cases"]]
        sys.stdout.write(json.dumps(verdicts, separators=(",", ":")) + "\n")
        sys.stdout.flush()


main()
