"""Pull requests from GitHub's REST API (https://docs.github.com/en/rest/pulls/pulls), kept on disk."""
