"""Settings of all tests."""

import signal

from hypothesis import settings

# Machines are noisy: how long an example takes says nothing.
settings.register_profile("devqa", deadline=None)
settings.load_profile("devqa")

# Processes in the background ignore Ctrl-C and hand that down, but tests send it to their children.
signal.signal(signal.SIGINT, signal.default_int_handler)
