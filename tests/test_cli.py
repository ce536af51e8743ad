"""The command line, as a person starts it: exit status, what is printed where, what is written."""

import csv
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from weft.backend import packet
from weft.cli import status_of

SMALL = """\
[topology]
kind = "star"
hosts = 4

[[workload]]
kind = "permutation"
size = "20 kB"
"""

ENDLESS = """\
[topology]
kind = "star"
hosts = 4

[[workload]]
kind = "permutation"

[sweep]
"backend.until" = ["1 ms", "5000 s"]
"""

SWEPT = """
[sweep]
"congestion.kind" = ["reno", "cubic"]
"""

SEARCHED = """
[objective]
metric = "goodput"

[space]
"topology.link.delay" = { from = "1 us", to = "9 us" }

[search]
trials = 2
"""


def weft(*arguments: object, cwd: Path, columns: int = 200) -> subprocess.CompletedProcess[str]:
    """Runs weft in a process of its own, as on a terminal of so many columns."""
    command = [sys.executable, "-m", "weft", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=cwd, env=environment(columns))


def environment(columns: int = 200) -> dict[str, str]:
    """The environment with an absolute search path, since tests start weft elsewhere."""
    path = os.pathsep.join(str(Path(place).resolve()) for place in sys.path if place)
    return os.environ | {"PYTHONPATH": path, "COLUMNS": str(columns)}


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A folder with a small experiment."""
    (tmp_path / "small.toml").write_text(SMALL)
    return tmp_path


def everything(folder: Path) -> list[str]:
    """All files and folders below."""
    return sorted(str(place.relative_to(folder)) for place in folder.rglob("*"))


def test_a_run_leaves_the_folder_that_the_design_describes(small: Path) -> None:
    done = weft("run", "small.toml", "--no-report", "--set", "sweep.repeats=2", cwd=small)
    assert done.returncode == 0, done.stderr
    out = small / "out" / "small"
    assert (out / "experiment.toml").read_text() == SMALL
    assert (out / "plan.parquet").is_file()
    runs = list((out / "runs").iterdir())
    assert len(runs) == 2
    for run in runs:
        assert {"flows.parquet", "links.parquet", "queues.parquet", "manifest.json"} <= {
            file.name for file in run.iterdir()
        }
        manifest = json.loads((run / "manifest.json").read_text())
        wanted = (
            "experiment seed version commit backend machine tools wall_s cpu_s simulated_ns events packet_hops "
            "peak_rss_bytes warnings fingerprint format"
        )
        assert set(wanted.split()) <= manifest.keys()
        assert manifest["experiment"]["topology"]["hosts"] == 4
    assert "goodput" in done.stdout
    assert "results: out/small" in done.stdout


def test_json_is_one_document_and_nothing_else(small: Path) -> None:
    done = weft("run", "small.toml", "--no-report", "--json", cwd=small)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert (document["planned"], document["resumed"], len(document["cells"])) == (1, 0, 1)
    assert document["cells"][0]["goodput"] > 0
    for command in (("check", "small.toml"), ("show", "out/small"), ("list", "queue"), ("doctor",)):
        json.loads(weft(*command, "--json", cwd=small).stdout)
    json.loads(weft("schema", cwd=small).stdout)


def test_a_second_run_does_only_what_is_lacking(small: Path) -> None:
    first = json.loads(weft("run", "small.toml", "--no-report", "--json", "--set", "sweep.repeats=2", cwd=small).stdout)
    runs = {place: place.stat().st_mtime_ns for place in (small / "out/small/runs").iterdir()}
    more = json.loads(weft("run", "small.toml", "--no-report", "--json", "--set", "sweep.repeats=3", cwd=small).stdout)
    assert (first["resumed"], more["resumed"], more["planned"]) == (0, 2, 3)
    assert runs == {place: place.stat().st_mtime_ns for place in runs}


def test_a_folder_of_another_experiment_is_refused_with_the_differing_keys(small: Path) -> None:
    assert weft("run", "small.toml", "--no-report", "--out", "o", cwd=small).returncode == 0
    before = everything(small)
    other = weft("run", "small.toml", "--out", "o", "--set", "topology.hosts=5", cwd=small)
    assert other.returncode == 2
    assert other.stderr == (
        "o: holds runs of another experiment; they differ in topology.hosts; "
        "give another folder with --out, or delete this one\n"
    )
    assert everything(small) == before


def test_a_folder_of_another_version_is_refused(small: Path) -> None:
    assert weft("run", "small.toml", "--no-report", "--out", "o", cwd=small).returncode == 0
    file = small / "o/manifest.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"version": "0.0.0"}))
    done = weft("run", "small.toml", "--out", "o", cwd=small)
    assert done.returncode == 2
    assert done.stderr.startswith("o: was written by weft 0.0.0; this is weft ")
    assert "give another folder with --out, or delete this one" in done.stderr


def test_a_folder_that_weft_did_not_write_is_left_alone(small: Path) -> None:
    done = weft("run", "small.toml", "--out", ".", cwd=small)
    assert done.returncode == 2
    assert done.stderr == ".: is not empty, and weft run did not write it; give another folder with --out\n"
    assert everything(small) == ["small.toml"]


def test_an_output_that_cannot_be_written_is_refused(small: Path) -> None:
    (small / "file").write_text("")
    for out in ("file", "file/below", "/proc/weft"):
        done = weft("run", "small.toml", "--out", out, cwd=small)
        assert done.returncode == 2, out
        assert done.stderr.startswith(f"{out}: ")
        assert done.stderr.count("\n") == 1
    assert everything(small) == ["file", "small.toml"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["run", "small.toml", "--set", "topology.hosts=two"],
            '--set: topology.hosts: "two" is text; expected a whole number',
        ),
        (["run", "small.toml", "--backend", "flows"], '--set: backend.kind: unknown "flows"; did you mean "flow"?'),
        (["run", "nowhere.toml"], "nowhere.toml: cannot be read: No such file or directory"),
        (
            ["check", "small.toml", "--set", "workload[0].size=1"],
            '--set: workload[0].size: 1 has no unit; a size looks like "64 KiB"',
        ),
        (["run", "."], ".: is a folder without quick.toml or study.toml; name a file in it (there are: small.toml)"),
        (["list", "quue"], 'unknown room "quue"; did you mean "queue"?'),
        (["show", "nowhere"], "nowhere: there is no such folder; give the one that weft run wrote"),
        (["report", "nowhere"], "nowhere: there is no such folder; give the one that `weft run` wrote"),
        (
            ["run", "-"],
            "-: is no file: an experiment is not read from standard input; write it into a file, or name a folder",
        ),
        (["show", "."], ".: no finished run in it; give the folder that weft run wrote"),
    ],
)
def test_wrong_input_is_one_sentence_and_status_2_and_nothing_is_written(
    small: Path, arguments: list[str], said: str
) -> None:
    done = weft(*arguments, cwd=small)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == said + "\n"
    assert everything(small) == ["small.toml"]


def test_faults_are_data_with_json(small: Path) -> None:
    done = weft("check", "small.toml", "--json", "--set", "congestion.kind=dctpc", cwd=small)
    assert done.returncode == 2
    (fault,) = json.loads(done.stdout)["faults"]
    assert (fault["key"], fault["value"], fault["nearest"]) == ("congestion.kind", "dctpc", "dctcp")


def test_check_prints_a_file_that_can_be_run(small: Path) -> None:
    done = weft("check", "small.toml", cwd=small)
    assert done.returncode == 0, done.stderr
    assert "# 1 cell x 1 repeat = 1 run" in done.stdout
    (small / "again.toml").write_text(done.stdout)
    assert weft("check", "again.toml", cwd=small).stdout == done.stdout


def test_a_folder_runs_its_quick_file(small: Path) -> None:
    study = small / "study"
    study.mkdir()
    (study / "quick.toml").write_text(SMALL)
    (study / "full.toml").write_text(SMALL)
    assert weft("run", "study", "--no-report", cwd=small).returncode == 0
    assert (small / "out/study/runs").is_dir()
    (study / "study.toml").write_text('files = ["quick.toml", "full.toml"]\n')
    done = weft("run", "study", "--no-report", "--json", "--out", "both", cwd=small)
    assert len(json.loads(done.stdout)["experiments"]) == 2
    assert sorted(place.name for place in (small / "both").iterdir()) == ["full", "quick"]


def test_a_study_has_settings_for_all_its_files(small: Path) -> None:
    study = small / "study"
    study.mkdir()
    (study / "one.toml").write_text(SMALL)
    (study / "two.toml").write_text(SMALL)
    (study / "full.toml").write_text('files = ["one.toml", "two.toml"]\n[set]\nseed = 5\n"sweep.repeats" = 2\n')
    done = weft("run", "study/full.toml", "--no-report", "--json", "--set", "seed=6", cwd=small)
    documents = json.loads(done.stdout)["experiments"]
    assert [(one["planned"], one["directory"]) for one in documents] == [
        (2, "out/study-full/one"),
        (2, "out/study-full/two"),
    ]
    manifest = json.loads((small / "out/study-full/one/manifest.json").read_text())
    assert manifest["experiment"]["seed"] == 6, "the command line has the last word"
    (study / "full.toml").write_text('files = []\nfile = "one.toml"\n')
    done = weft("check", "study/full.toml", cwd=small)
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        'study/full.toml:2: file: a study has no such key; did you mean "files"?',
        'study/full.toml:1: files: lists the experiment files: files = ["quick.toml"]',
    ]


def test_a_study_is_searched_where_it_says_so(small: Path) -> None:
    study = small / "study"
    study.mkdir()
    look = '[objective]\nmetric = "fct"\n[space]\n"workload[0].size" = ["10 kB", "20 kB"]\n[search]\ntrials = 2\n'
    (study / "one.toml").write_text(SMALL)
    (study / "look.toml").write_text(SMALL + look)
    (study / "quick.toml").write_text('files = ["one.toml"]\nsearches = ["look.toml"]\n[set]\nseed = 5\n')
    done = weft("run", "study", "--no-report", "--json", cwd=small)
    document = json.loads(done.stdout)
    assert [one["directory"] for one in document["experiments"]] == ["out/study/one"]
    (found,) = document["searches"]
    assert found["directory"] == "out/study/look" and found["best"]["values"] == {"workload[0].size": "10 kB"}
    assert json.loads((small / "out/study/one/manifest.json").read_text())["experiment"]["seed"] == 5
    # `weft search` of the study is the same search, which is there already.
    again = weft("search", "study", "--no-report", "--json", "--out", "out/study/look", cwd=small)
    assert json.loads(again.stdout)["best"] == found["best"]
    (study / "quick.toml").write_text('files = ["one.toml"]\nsearches = "look.toml"\n')
    done = weft("run", "study", cwd=small)
    assert done.stderr.splitlines() == [
        'study/quick.toml:2: searches: lists files with an [objective]: searches = ["search.toml"]'
    ]


def test_a_run_at_its_limit_is_whole_and_status_1(small: Path) -> None:
    done = weft("run", "small.toml", "--no-report", "--out", "o", "--set", "backend.limit=3 us", cwd=small)
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    assert lines[0] == "1 run"
    assert lines[1].startswith("warning: the limit of 3 us was reached before all flows were done; raise backend.limit")
    assert lines[2] == "warning: 4 of 4 flows did not finish: 4 x not finished before the end of the run"
    assert re.fullmatch(
        r"  run \w{16}: not finished before the end of the run: flow 0 h0>h\d, 1 h1>h\d, 2 h2>h\d, 3 h3>h\d", lines[3]
    )
    assert len(lines) == 4
    shown = weft("show", "o", cwd=small)
    assert shown.returncode == 0
    assert shown.stderr.splitlines() == lines[1:]


@pytest.mark.parametrize(
    ("setting", "reason"),
    [
        ('transport.receive_window="0 B"', "zero window: the receiver offers no room"),
        ('topology.overrides=[{ links = "h0>*", failed = true }]', "path down: no route to the destination"),
        ('topology.link={ loss = { kind = "random", p = 1.0 } }', "timeout back-off: too many timeouts in a row"),
    ],
)
def test_a_flow_that_can_never_finish_is_status_1_with_the_reason(small: Path, setting: str, reason: str) -> None:
    done = weft("run", "small.toml", "--no-report", "--set", "transport.retries=2", "--set", setting, cwd=small)
    assert done.returncode == 1
    assert f"x {reason}\n" in done.stderr
    assert f": {reason}: flow 0 h0>" in done.stderr
    assert "goodput" in done.stdout


def test_the_table_fits_eighty_columns_with_interval_and_unit(small: Path) -> None:
    settings = ('sweep."load_balance.kind"=["static", "ecmp"]', 'sweep."transport.profile"=["linux", "datacenter"]')
    arguments = [part for setting in (*settings, "sweep.repeats=2") for part in ("--set", setting)]
    done = weft("run", "small.toml", "--no-report", *arguments, cwd=small, columns=80)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].split() == ["load_balance.", "transport.", "goodput", "fct", "slowdown"]
    assert lines[1].split() == ["kind", "profile", "runs", "mean,", "Gb/s", "mean,", "µs", "mean"]
    cells = [line for line in lines if line.startswith(("static", "ecmp"))]
    assert len(cells) == 4
    assert all(re.search(r"  2  +[\d.]+ ± [\d.]+  +[\d.]+ ± [\d.]+  +[\d.]+ ± [\d.]+$", line) for line in cells)


def test_what_can_have_no_effect_is_warned_of(small: Path) -> None:
    text = "dctcp sees no marks: queue.kind drop_tail never marks"
    assert f"# warning: {text}\n" in weft("check", "small.toml", "--set", "congestion.kind=dctcp", cwd=small).stdout
    done = weft("run", "small.toml", "--set", "congestion.kind=dctcp", "--out", "o", cwd=small)
    assert done.returncode == 0
    assert f"warning: {text}\n" in done.stderr
    (manifest,) = (small / "o/runs").glob("*/manifest.json")
    assert json.loads(manifest.read_text())["warnings"] == [text]
    assert text in (small / "o/report.html").read_text()


def test_a_kind_is_listed_as_its_keys_stand_in_a_file(small: Path) -> None:
    said = weft("list", "queue.drop_tail", cwd=small, columns=80).stdout
    assert '  capacity = "100 packets"   # at least 1\n' in said
    # The name of a section is no markup.
    assert "In place of [transport], for these flows." in weft("list", "record.workload", cwd=small).stdout


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interruption_keeps_what_is_finished(tmp_path: Path, number: int, status: int) -> None:
    (tmp_path / "endless.toml").write_text(ENDLESS)
    command = [sys.executable, "-m", "weft.cli", "run", "endless.toml", "--no-report", "--out", "o"]
    process = subprocess.Popen(command, cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, text=True)
    runs = tmp_path / "o" / "runs"
    end = time.monotonic() + 60
    while time.monotonic() < end:
        names = [place.name for place in runs.glob("*")]
        if len(names) == 2 and any(name.startswith(".") for name in names):
            break
        time.sleep(0.02)
    time.sleep(0.3)
    process.send_signal(number)
    _, said = process.communicate(timeout=30)
    assert process.returncode == status, said
    assert "stopped by" in said
    assert "in run 2 of 2 at" in said
    assert "1 finished run is kept in o" in said
    (kept,) = runs.iterdir()
    assert (kept / "manifest.json").is_file()
    again = weft("show", "o", cwd=tmp_path)
    assert again.returncode == 0, again.stderr


def test_no_data_stack_is_loaded_while_runs_are_simulated(small: Path) -> None:
    code = (
        "import sys, pathlib, weft\n"
        "from weft.execute import execute\n"
        "from weft.progress import Silent\n"
        "class Watch(Silent):\n"
        "    def end(self, run, outcome):\n"
        "        heavy = {'polars', 'altair', 'scipy', 'numpy', 'pandas'} & set(sys.modules)\n"
        "        assert not heavy, heavy\n"
        "execute(weft.load('small.toml'), pathlib.Path('o'), Watch(), jobs=1)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=small, env=environment())


def test_help_names_every_command(tmp_path: Path) -> None:
    said = weft("--help", cwd=tmp_path).stdout
    for command in ("run", "check", "list", "show", "report", "schema", "doctor"):
        assert f" {command} " in said
    assert "[space]" in said
    assert weft("--version", cwd=tmp_path).stdout.startswith("weft ")


def test_the_report_says_the_commands_that_run_all_and_each_cell_again(small: Path) -> None:
    settings = ("--set", "topology.hosts=6", "--set", 'sweep."congestion.kind"=["reno", "cubic"]')
    axis = ("--set", 'sweep.transport=[{ kind = "tcp" }, { kind = "tcp", profile = "rfc" }]')
    first = weft("run", "small.toml", *settings, *axis, "--backend", "packet", cwd=small)
    assert first.returncode == 0, first.stderr
    html = (small / "out/small/report.html").read_text()
    (again,) = re.findall(r"<dt>Reproduce</dt><dd><code>(.*?)</code>", html)
    given = [*settings, *axis, "--set", 'backend.kind="packet"']
    whole = shlex.split(unescape(again))
    assert whole == ["weft", "run", "small/experiment.toml", *given, "--out", "small-again"]
    data = json.loads(re.findall(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)[0])
    cells = list(csv.DictReader(data["tables"]["results"].splitlines()))
    one = shlex.split(cells[3]["command"])
    assert one[-6:] == [
        "--set",
        'sweep."congestion.kind"=["cubic"]',
        "--set",
        'sweep.transport=[{ kind = "tcp", profile = "rfc" }]',
        "--out",
        "small-cell3",
    ]
    for command, cell_runs in ((whole, 4), (one, 1)):
        done = weft(*command[1:], "--no-report", cwd=small / "out")
        assert done.returncode == 0, done.stderr
        runs = {place.name for place in (small / "out" / command[-1] / "runs").iterdir()}
        # The same runs by name: the same experiment and seed.
        assert len(runs) == cell_runs
        assert runs <= {place.name for place in (small / "out/small/runs").iterdir()}


def test_manifests_record_the_settings_of_the_command_line(small: Path) -> None:
    done = weft("run", "small.toml", "--no-report", "--backend", "packet", "--set", "seed=3", "--out", "o", cwd=small)
    assert done.returncode == 0
    for file in (small / "o").rglob("manifest.json"):
        assert json.loads(file.read_text())["set"] == ["seed=3", 'backend.kind="packet"']


def test_failed_runs_are_told_by_every_command_that_shows_the_folder(
    small: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    simulate = packet.run

    def run(spec: dict[str, Any], directory: Path, watch: Any) -> Any:
        if spec["congestion"]["kind"] == "cubic":
            raise ValueError("the reason")
        return simulate(spec, directory, watch)

    monkeypatch.setattr(packet, "run", run)
    monkeypatch.chdir(small)
    (small / "swept.toml").write_text((small / "small.toml").read_text() + SWEPT)
    assert status_of(["run", "swept.toml", "--jobs", "1", "--out", "o", "--no-report"]) == 1
    assert "failed: the reason" in capsys.readouterr().err
    # What they were asked for they did; that a run is lacking is told, whatever goes to standard output.
    for command in (["show"], ["show", "--json"], ["report"], ["report", "--json"]):
        assert status_of([*command, "o"]) == 0
        said = capsys.readouterr()
        assert re.search(r"^run \w+ \(.*cubic.*\): failed: the reason$", said.err, re.MULTILINE), command
        if "--json" in command:
            json.loads(said.out)


@pytest.mark.parametrize("command", ["run", "search"])
def test_a_page_that_cannot_be_written_is_status_1_and_the_results_are_told(
    small: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    monkeypatch.chdir(small)
    (small / "searched.toml").write_text((small / "small.toml").read_text() + SEARCHED)
    arguments = [command, "searched.toml" if command == "search" else "small.toml", "--jobs", "1", "--out", "o"]
    assert status_of([*arguments, "--no-report"]) == 0
    (small / "o/report.html").mkdir()
    (small / "o/report.html/in the way").touch()
    capsys.readouterr()
    assert status_of(arguments) == 1
    said = capsys.readouterr()
    assert said.err.count("no report: ") == 1 and "results: o" in said.out
