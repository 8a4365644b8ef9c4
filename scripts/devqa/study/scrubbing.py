"""What must never leave the machine: secrets and personal data in a text give way to marks such as `<SECRET>`.

    keys, tokens, passwords   <SECRET>    (`scrubbing_secrets`)
    e-mail addresses          <EMAIL>     (these, and all that follow: `scrubbing_personal`)
    bank accounts             <IBAN>
    card numbers              <CARD>
    telephone numbers         <PHONE>
    addresses of computers    <IP>
    names of users in paths   <NAME>

What stays, because code would be lost and nobody is known by it: hashes and UUIDs, version numbers, private and
documentation addresses, addresses at example.com and its like, placeholders such as `your_api_key`. What is not found:
names and postal addresses in prose, names of companies and hosts, and keys that nothing marks as such.

Both modules search in time that is linear in the text's length, whatever it holds, and look closer only where a cheap
test has found something to look at.
"""

from collections.abc import Callable

from devqa.study import scrubbing_personal as personal
from devqa.study.scrubbing_secrets import without_secrets

# In this order: what stands in an address of a database is no e-mail address, and a bank account no telephone number.
_PASSES: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("secret", without_secrets),
    ("email", personal.without_emails),
    ("iban", personal.without_ibans),
    ("card", personal.without_cards),
    ("phone", personal.without_phones),
    ("ip", personal.without_ips),
    ("name", personal.without_names),
)
# A mark in place of what stood there may bring something else to light. It rarely does, and hardly ever twice.
_ROUNDS = 4


def scrub(text: str) -> tuple[str, list[str]]:
    """`text` with marks in place of what must not leave the machine, and the kinds that were found, sorted.

    The kinds: card, email, iban, ip, name, phone, secret. Scrubbing a scrubbed text changes nothing.
    """
    found: set[str] = set()
    for _ in range(_ROUNDS):
        before = text
        for kind, without in _PASSES:
            clean = without(text)
            if clean != text:
                found.add(kind)
                text = clean
        if text == before:
            break
    return text, sorted(found)
