"""What a run would do now, and what has changed that makes it do so."""
