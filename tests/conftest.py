"""Settings of all tests."""

from hypothesis import settings

# How long an example takes says something about the machine's other work, not about weft.
settings.register_profile("weft", deadline=None, print_blob=True)
settings.load_profile("weft")
