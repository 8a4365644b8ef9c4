"""Taking dialogues in: which files (`sources`), reading them, normalising dialogues to one form, sharding (`run`)."""
