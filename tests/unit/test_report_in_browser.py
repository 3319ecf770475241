"""The page of a report in a real browser: nothing is fetched, nothing is cut off or invisible."""

import json
import re
import shutil
import subprocess

import pytest
from report_sweeps import two_axes

import bookwarp as bw

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking")
MEASURE = """
<script>
const boxes = [...document.querySelectorAll("figure svg")].map(s => s.getBoundingClientRect());
const ink = s => getComputedStyle(document.body)[s];
const said = JSON.stringify({
  figures: boxes.length,
  narrowest: Math.min(...boxes.map(b => b.width)),
  lowest: Math.min(...boxes.map(b => b.height)),
  fetched: performance.getEntriesByType("resource").map(e => e.name),
  outside: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  missing: [...document.querySelectorAll("use")].filter(
    u => !document.getElementById(u.getAttribute("href").slice(1))).length,
  ink: ink("color"), paper: ink("backgroundColor"),
  line: getComputedStyle(document.querySelector("figure svg text, figure svg g[id*=text] g")).fill,
});
parent.postMessage(said, "*");
</script>
"""
# A window cannot be as narrow as a phone, but a frame can.
FRAME = """<!DOCTYPE html><title></title>
<script>onmessage = event => { document.title = event.data; };</script>
<iframe src="report.html" style="width: WIDTHpx; height: 1200px; border: 0"></iframe>
"""


@pytest.fixture(scope="module")
def browser():
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip(f"no browser is installed: none of {', '.join(BROWSERS)} is on the path")
    return found


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    report = bw.report(two_axes())
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(report.html.replace("</body>", f"{MEASURE}</body>"), encoding="utf-8")
    return path, report


def look(browser, page, width, *flags):
    """Return what the page measures of itself when it is open."""
    profile = page.parent / f"profile-{width}-{len(flags)}"
    frame = page.parent / "frame.html"
    frame.write_text(FRAME.replace("WIDTH", str(width)), encoding="utf-8")
    words = [*FLAGS, f"--user-data-dir={profile}", "--window-size=1400,1400", *flags]
    done = subprocess.run(
        [browser, *words, "--dump-dom", frame.as_uri()], capture_output=True, text=True, timeout=120
    )
    found = re.search(r"<title>(.+?)</title>", done.stdout)
    assert found, done.stderr[-2000:]
    return json.loads(found[1])


@pytest.mark.parametrize("width", [1200, 390])
def test_page_opens_whole_at_the_width_of_a_desk_and_of_a_phone(browser, page, width):
    path, report = page
    seen = look(browser, path, width)
    assert seen["figures"] == len(report.figures)
    assert seen["fetched"] == []
    assert seen["outside"] <= 0
    assert seen["missing"] == 0
    assert seen["narrowest"] >= min(width - 60, 400)
    assert seen["lowest"] >= 150


def test_dark_pages_have_light_ink_in_their_figures_too(browser, page):
    light = look(browser, page[0], 800)
    dark = look(browser, page[0], 800, "--blink-settings=preferredColorScheme=0")
    assert light["paper"] == "rgb(255, 255, 255)"
    assert dark["paper"] == "rgb(22, 24, 27)"
    assert dark["ink"] == dark["line"] == "rgb(230, 230, 230)"
    assert light["ink"] == light["line"]
