"""`verify`: how many steps agree, the first that does not, and files that are no vectors."""

import copy
import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner
from u256_bytes import VECTORS

from bookwarp.cli.app import app
from bookwarp.consensus import verify
from bookwarp.spec.errors import StoreError

STEPS = sum(len(vector["steps"]) for vector in VECTORS)


@pytest.fixture
def write(tmp_path):
    """The function that writes vectors, changed, to a file."""

    def write_changed(change=lambda vectors: None):
        vectors = copy.deepcopy(VECTORS)
        changed = change(vectors)
        path = tmp_path / "vectors.json"
        path.write_text(json.dumps({"vectors": vectors} if changed is None else changed))
        return path

    return write_changed


def flip_result(vectors):
    step = vectors[1]["steps"][2]
    step["out_exact"] = step["out_exact"][:126] + "07" + step["out_exact"][128:]


def test_vectors_agree_on_every_engine(engine, write):
    for path in (None, write()):
        found = verify(path, engine=engine)
        assert found.agrees
        assert (found.engine, found.first) == (engine, None)
        assert (found.steps, found.agreeing_steps) == (STEPS, STEPS)
        assert (found.books, found.agreeing_books) == (len(VECTORS), len(VECTORS))
        assert str(found) == f"{STEPS} of {STEPS} steps agree, 6 of 6 books; engine {engine}"


def test_first_step_that_differs_is_named(engine, write):
    found = verify(write(flip_result), engine=engine)
    assert not found.agrees
    assert found.agreeing_steps == STEPS - 1
    assert (found.first.vector, found.first.step) == ("public_go_self_3", 2)
    assert found.first.field == "average price"
    assert (found.first.expected, found.first.found) == ("0x7", "0xa")
    assert "vector 'public_go_self_3', step 2 (counted from 0): average price is 0xa" in str(found)


@pytest.mark.parametrize(
    "field, expected, message",
    [
        ("final_bids", [], "n_bids is 1, and should be 0"),
        ("final_asks", [["0xc", "0xa"], ["0x64", "0x5"]], r"ask_price\[1\] is 0x63.* 0x64"),
        ("final_asks", [["0xc", "0xb"], ["0x63", "0x5"]], r"ask_qty\[0\] is 0xa.* 0xb"),
    ],
)
def test_book_that_differs_in_the_end_is_named(write, field, expected, message):
    found = verify(write(lambda vectors: vectors[0].update({field: expected})))
    assert (found.agreeing_steps, found.agreeing_books) == (STEPS, 5)
    with pytest.raises(AssertionError, match=message):
        raise AssertionError(str(found.first))
    assert "the book in the end: " in str(found.first)


def test_file_need_not_say_how_books_end(write):
    def forget(vectors):
        for vector in vectors:
            del vector["final_bids"]

    found = verify(write(forget))
    assert found.agrees
    assert found.books == 0


def cut_calldata(vectors):
    vectors[0]["steps"][3]["calldata"] = "00" * 116


def spoil_digits(vectors):
    vectors[0]["steps"][3]["out_exact"] = "xy" * 68


def space_digits(vectors):
    vectors[0]["steps"][3]["out_exact"] = "00 " * 68


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda vectors: {"vector": []}, "the file has no vectors"),
        (lambda vectors: {"vectors": []}, "it holds no vectors"),
        (lambda vectors: {"vectors": 5}, "the file: vectors is int"),
        (lambda vectors: [1], "the file has no vectors"),
        (lambda vectors: vectors[2].pop("name") and None, "vector 2 has no name"),
        (lambda vectors: vectors[2].update(cap=0), "vector 'public_dexvm_5': cap = 0 is outside"),
        (lambda vectors: vectors[2].update(steps=None), "steps is NoneType"),
        (lambda vectors: vectors[0]["steps"][1].pop("out_exact") and None, "step 1 has no out_"),
        (cut_calldata, "'public_go_parity_9', step 3: calldata has 116 bytes, and needs 117"),
        (spoil_digits, "step 3: out_exact is not hexadecimal digits"),
        (space_digits, "step 3: out_exact is not hexadecimal digits"),
        (lambda vectors: vectors[0].update(final_bids=[["0x7"]]), r"final_bids\[0\] is not a"),
        (lambda vectors: vectors[0].update(final_bids=[["z", "1"]]), r"final_bids\[0\] is not a"),
        (lambda vectors: vectors[0].update(final_asks=[["1", "1" * 65]]), "does not fit in 256"),
    ],
)
def test_file_that_is_no_vectors_is_refused(write, change, message):
    with pytest.raises(StoreError, match=message):
        verify(write(change))


def test_file_that_cannot_be_read_is_refused(tmp_path):
    with pytest.raises(StoreError, match="there is no file"):
        verify(tmp_path / "absent.json")
    with pytest.raises(StoreError, match="cannot be read"):
        verify(tmp_path)
    (tmp_path / "text").write_text("{")
    with pytest.raises(StoreError, match="is not JSON"):
        verify(tmp_path / "text")
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    with pytest.raises(StoreError, match="is not JSON"):
        verify(tmp_path / "bytes")


def run(*words):
    return CliRunner().invoke(app, ["consensus", *map(str, words)])


def test_command_prints_what_agrees_and_ends_with_0(write, engine):
    done = run("verify", write(), "--engine", engine)
    assert (done.exit_code, done.stdout) == (
        0,
        f"{STEPS} of {STEPS} steps agree, 6 of 6 books; engine {engine}\n",
    )
    assert run("verify").exit_code == 0


def test_command_prints_the_first_difference_and_ends_with_1(write):
    done = run("verify", write(flip_result), "--engine", "cpu")
    assert done.exit_code == 1
    assert f"{STEPS - 1} of {STEPS} steps agree" in done.stdout
    assert "first difference: vector 'public_go_self_3', step 2" in done.stdout
    as_json = run("verify", write(flip_result), "--engine", "cpu", "--json")
    assert as_json.exit_code == 1
    found = json.loads(as_json.stdout)
    assert found["agrees"] is False
    assert found["first"]["step"] == 2


@pytest.mark.parametrize(
    "words, code, message",
    [
        (["verify", "absent.json"], 2, "there is no file absent.json"),
        (["verify", "--engine", "cpuu"], 2, "unknown engine 'cpuu'"),
        (["bench", "--books", "x"], 2, "books must be an integer"),
        (["bench", "--flow", "seeds"], 2, "unknown flow 'seeds': did you mean 'seed'?"),
        (["bench", "--flow", "x"], 2, "unknown flow 'x': it is one of seed, mixed, all."),
        (["bench", "--passes", "400", "--flow", "seed"], 2, "passes = 400 is outside"),
        (["bench", "--trials", "0", "--books", "4"], 2, "trials = 0 is outside"),
    ],
)
def test_wrong_use_ends_with_2_and_says_why(words, code, message, tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "bookwarp.consensus", *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == code, done.stderr
    assert message in done.stderr


def test_module_runs_as_the_command_does(write):
    command = [sys.executable, "-m", "bookwarp.consensus", "verify"]
    done = subprocess.run([*command, write()], capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"{STEPS} of {STEPS} steps agree, 6 of 6 books")
    done = subprocess.run([*command, write(flip_result)], capture_output=True, text=True)
    assert done.returncode == 1


def test_bench_prints_fills_beside_every_rate():
    done = run("bench", "--books", "50", "--passes", "2", "--trials", "1", "--engine", "reference")
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert len(lines) == 4
    assert all("M orders/s" in line and "fills an order" in line for line in lines)
    assert lines[0].startswith("seed, a call a pass (host to host; reference): ")
    assert "1.000 fills an order" in lines[0]
    words = ("--books", "50", "--flow", "seed", "--trials", "1", "--json", "--threads", "1")
    done = run("bench", *words, "--engine", "cpu")
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [each["fills_per_order"] for each in found] == [1.0, 1.0]
    assert found[0]["orders_per_s"]["median"] > 0


def test_bench_that_finds_other_fills_prints_no_rate(monkeypatch):
    from bookwarp.consensus import bench

    monkeypatch.setattr(bench, "count_fills", lambda results: results[0, :, 0] * 0)
    done = run("bench", "--books", "4", "--flow", "seed", "--engine", "reference")
    assert done.exit_code == 1
    assert "orders/s" not in done.stdout
