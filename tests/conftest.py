"""Settings of all tests."""

from hypothesis import settings

# Machines are noisy: how long an example takes says nothing.
settings.register_profile("devqa", deadline=None)
settings.load_profile("devqa")
