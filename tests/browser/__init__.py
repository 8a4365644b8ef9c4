"""Opening pages in headless Chromium, without any network."""
