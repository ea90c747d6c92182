"""The service at sys.argv[1] as the package `pendingai` sees it, and what its scripts have in common.

The package knows three addresses, which are configuration; nothing else of it is changed. Its session reads private claims
of its operator's tokens, which ours do not have, so that a session object with our token stands where its own would.
"""

import os
import sys
import time

from pendingai import config

for addresses in (config.PENDINGAI_BASE_URL, config.PENDINGAI_AUTH_URL):
    addresses.update({name: sys.argv[1] for name in addresses})

from pendingai import PendingAiClient  # noqa: E402


class Token:
    access_token = os.environ["RETORT_TOKEN"]


client = PendingAiClient()
client.session.token = Token()


def until(what, check):
    for _ in range(1200):
        found = check()
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError(f"never came true: {what}")


def refused(kind, call):
    try:
        call()
    except kind:
        return
    raise AssertionError(f"{kind} was to be raised")
