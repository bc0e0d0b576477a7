"""The pictures of docs/tutorial.md, from the simulated city of `doppeltrace demo`.

    python experiments/pictures.py [--out docs/pictures]      (or: make pictures)

draws plots with `dt.plot_*` and takes pictures of both pages with a headless Chromium; where there
is none, the pictures of the pages are left as they are.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image, ImageChops

import doppeltrace as dt
from doppeltrace.cli.demo import SEED
from doppeltrace.plots import save_plot
from doppeltrace.utility.visit_fractions import fraction_counts

PAGES = {
    "report": ("report.html", None, 900),
    "report_map": ("report.html", "map", 900),
    "report_clusters": ("report.html", "clusters", 1310),
    "datasheet": ("datasheet.html", None, 900),
}
"""Picture → page, the one section to show, and its height in pixels."""

WIDTH = 1100
MAX_BYTES = 200 * 1024
QUIET = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


def draw_plots(out: Path) -> None:
    """Draw what the tutorial's last section draws, of the demo's city and model."""
    train, test = dt.simulate_city(users=1000, places=200, seed=SEED).split()
    model = dt.Doppel(seed=SEED).fit(train)
    synthetic = model.sample(traces_per_user=2, seed=SEED)
    verdict = dt.deniability_test(model, synthetic, k=10, eta=1.0, seed=SEED)
    released = synthetic.select(verdict.passed)
    most_visited = int(fraction_counts(test).sum(axis=1).argmax())
    figures = {
        "population": dt.plot_population(test, released, slot=3),
        "factors": dt.plot_factors(model, 0),
        "visit_fractions": dt.plot_visit_fractions(most_visited, test, released),
        "pass_rate": dt.plot_pass_rate(verdict),
    }
    for name, figure in figures.items():
        save_plot(figure, out / f"{name}.svg")
        print(out / f"{name}.svg")


def take_pictures(out: Path) -> None:
    """Run the demo and take pictures of its pages."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
    if browser is None:
        print("no Chromium here: the pictures of the pages stay as they are", file=sys.stderr)
        return
    with tempfile.TemporaryDirectory() as scratch:
        run = Path(scratch) / "demo-out"
        command = [sys.executable, "-m", "doppeltrace", "demo", "--out", run]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for name, (page, section, height) in PAGES.items():
            text = (run / page).read_text(encoding="utf-8")
            if section is not None:
                others = f"header, footer, main > section:not(#{section}) {{ display: none }}"
                text = text.replace("</head>", f"<style>{others}</style></head>", 1)
            shown, shot = Path(scratch) / f"{name}.html", Path(scratch) / f"{name}.png"
            shown.write_text(text, encoding="utf-8")
            subprocess.run(
                [browser, *QUIET, f"--user-data-dir={scratch}/profile",
                 f"--window-size={WIDTH},{height}", "--virtual-time-budget=5000",
                 f"--screenshot={shot}", shown.as_uri()],
                check=True, capture_output=True,
            )  # fmt: skip
            save_small(shot, out / f"{name}.png")
            print(out / f"{name}.png")


def save_small(shot: Path, path: Path) -> None:
    """Cut off what is empty below, and save with as many colours as text and maps need."""
    with Image.open(shot) as file:
        picture = file.convert("RGB")
    empty = Image.new("RGB", picture.size, picture.getpixel((0, picture.height - 1)))
    box = ImageChops.difference(picture, empty).getbbox()
    bottom = picture.height if box is None else min(box[3] + 24, picture.height)
    small = picture.crop((0, 0, picture.width, bottom)).quantize(128)
    small.save(path, optimize=True)


def main() -> None:
    """Make all pictures, and check that none is too large for a repository."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("docs/pictures"))
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    draw_plots(out)
    take_pictures(out)
    large = [p.name for p in out.iterdir() if p.stat().st_size > MAX_BYTES]
    if large:
        sys.exit(f"larger than {MAX_BYTES:,} bytes: {', '.join(large)}")


if __name__ == "__main__":
    main()
