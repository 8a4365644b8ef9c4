"""Questions, their check, true answers, facts, and the benchmark that they make."""
