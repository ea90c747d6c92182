"""Is the command `pendingai` for the service at RETORT_URL with the token RETORT_TOKEN: its arguments are the command's.

The package knows three addresses, which no option and no variable sets, and takes a token from PENDINGAI_TOKEN or its cache only where
that has private claims of its operator's. So addresses and session are set here; the rest is the command as it is installed.
"""

import os
import runpy

from pendingai import config

for addresses in (config.PENDINGAI_BASE_URL, config.PENDINGAI_AUTH_URL):
    addresses.update({name: os.environ["RETORT_URL"] for name in addresses})

from pendingai.auth import AuthSession  # noqa: E402


class Token:
    access_token = os.environ["RETORT_TOKEN"]


AuthSession.token = Token()
runpy.run_module("pendingai", run_name="__main__")
