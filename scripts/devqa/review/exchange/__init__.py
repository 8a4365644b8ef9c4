"""Tasks and decisions in the JSON forms of Label Studio and of Argilla, for teams that use those."""
