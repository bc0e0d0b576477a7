"""The wheel and the source distribution: complete, and runnable without this repository."""

import re
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

import doppeltrace as dt

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Wheel and source distribution, made with the tools that are installed."""
    pytest.importorskip("build")
    pytest.importorskip("hatchling")
    out = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(ROOT)],
        check=True,
        capture_output=True,
    )
    (wheel,), (source,) = out.glob("*.whl"), out.glob("*.tar.gz")
    return wheel, source


def test_one_version():
    assert "version" in PROJECT["dynamic"]
    cited = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text("utf-8"), re.M)
    changes = re.search(r"^## (\d\S*)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)
    assert cited is not None and cited[1] == dt.__version__
    assert changes is not None and changes[1] == dt.__version__


def test_metadata():
    assert PROJECT["authors"][0]["name"] in (ROOT / "LICENSE").read_text("utf-8")
    assert any(re.match(r"numba>=[\d.]+,<[\d.]+$", line) for line in PROJECT["dependencies"])
    assert all(">=" in line for line in PROJECT["dependencies"])
    extras = PROJECT["optional-dependencies"]
    for extra in set(extras) - {"dev"}:
        assert set(extras[extra]) <= set(extras["dev"]), f"dev lacks what {extra} needs"


def test_the_workflow_knows_the_versions_of_python():
    workflow = (ROOT / ".github/workflows/ci.yml").read_text("utf-8")
    listed = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    quoted = ", ".join(f'"{version}"' for version in listed)
    assert f"python: [{quoted}]" in workflow
    assert "run: .ci/run" in workflow


def test_everything_is_in_the_wheel(built):
    wheel, source = built
    assert f"-{dt.__version__}-" in wheel.name and f"-{dt.__version__}." in source.name
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("doppel")}
    here = ROOT / "src"
    wanted = {
        str(path.relative_to(here))
        for path in (here / "doppeltrace").rglob("*")
        if path.is_file() and path.suffix in {".py", ".j2", ".css", ".js", ".typed", ""}
    }
    assert wanted <= packed and "doppeltrace/py.typed" in wanted
    with tarfile.open(source) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff"} <= names
    assert {f"src/{name}" for name in wanted} <= names


def test_the_wheel_runs_in_an_environment_of_its_own(built, tmp_path):
    """The package comes from the wheel; what it needs is lent by this environment."""
    venv.create(tmp_path / "venv", with_pip=False, symlinks=True)
    python = tmp_path / "venv" / "bin" / "python"
    (site,) = (tmp_path / "venv" / "lib").glob("python*/site-packages")
    with zipfile.ZipFile(built[0]) as wheel:
        wheel.extractall(site)
    lent = [path for path in sys.path if path.endswith("site-packages")]
    (site / "lent.pth").write_text("\n".join(lent), encoding="utf-8")
    program = (
        "import doppeltrace as dt, pathlib, sys\n"
        "assert pathlib.Path(dt.__file__).is_relative_to(sys.prefix), dt.__file__\n"
        "city = dt.simulate_city(40, 9, seed=1)\n"
        "run = dt.synthesize(city.traces, 'uniform', k=None, seed=1, out='run')\n"
        "print(len(run.traces))\n"
    )
    done = subprocess.run(
        [python, "-c", program], cwd=tmp_path, env={}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 0
    assert (tmp_path / "run/public/datasheet.html").is_file()
    help_page = subprocess.run(
        [python, "-m", "doppeltrace", "--version"], env={}, capture_output=True, text=True
    )
    assert help_page.stdout.strip() == dt.__version__
