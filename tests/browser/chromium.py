"""One page, opened once: what its DOM is after its scripts ran."""

import shutil
import subprocess
from pathlib import Path

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--allow-file-access-from-files",
)

# The page under test stands in a frame, so that its own security policy stays as it is.
_DRIVER = """<!DOCTYPE html><meta charset="utf-8"><pre id="said"></pre><iframe src="{page}"></iframe><script>
document.querySelector("iframe").addEventListener("load", (event) => {{
  const page = event.target.contentDocument, said = [];
  {steps}
  document.getElementById("said").textContent = JSON.stringify(said);
}});
</script>"""


def dom(page: Path, profile: Path) -> str:
    """The page's HTML after its scripts ran; `profile` is a folder for the browser's own files."""
    once = ("--virtual-time-budget=10000", "--dump-dom", page.as_uri())
    command = [CHROMIUM, *FLAGS, f"--user-data-dir={profile}", *once]
    return subprocess.run(command, capture_output=True, check=True, timeout=120, encoding="utf-8").stdout


def driven(page: Path, profile: Path, steps: str) -> str:
    """JSON of what JavaScript `steps` pushed to `said` while they worked on document `page`."""
    from bs4 import BeautifulSoup

    driver = page.with_name("driver.html")
    driver.write_text(_DRIVER.format(page=page.name, steps=steps), encoding="utf-8")
    return BeautifulSoup(dom(driver, profile), "lxml").find(id="said").text
