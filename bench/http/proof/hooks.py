"""Values that the document cannot rule out, and that the server refuses as it should."""

import re

import schemathesis

TAGS = re.compile(r'^(\*|(W/)?"[!#-~]*"( *, *(W/)?"[!#-~]*")*)$')


@schemathesis.hook
def filter_case(context, case):
    return not (is_foreign_cursor(case) or is_unpositive(case) or is_huge(case) or is_broken_tag(case))


def is_foreign_cursor(case):
    # A cursor is one that the same list has given out. No schema says which those are.
    return "cursor" in (case.query or {})


def is_unpositive(case):
    # That an amount is positive is a rule of the model, which refuses it with 400 in its own words.
    if not isinstance(case.body, dict):
        return False
    return any(is_number_below(case.body.get(name), least) for name, least in (("amount", 1e-9), ("initialBalance", 0)))


def is_huge(case):
    # That a sum fits its column depends on the balance: the document cannot say it of an amount.
    if not isinstance(case.body, dict):
        return False
    amounts = [case.body.get(name) for name in ("amount", "initialBalance")]
    return any(amount is not None and not is_number_below(amount, 1e12) for amount in amounts if is_number(amount))


def is_number(value):
    return is_number_below(value, float("inf"))


def is_number_below(value, least):
    try:
        return value is not None and not isinstance(value, bool) and float(value) < least
    except (TypeError, ValueError):
        return False


def is_broken_tag(case):
    # The coverage phase takes the pattern of If-Match for one that allows 0.
    tag = {name.lower(): value for name, value in (case.headers or {}).items()}.get("if-match")
    return isinstance(tag, str) and not TAGS.match(tag)
