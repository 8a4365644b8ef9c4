"""Copies of a repository for agents: each has one as it was made, whatever the one before has left."""

import pytest

from devqa.errors import UserError
from devqa.pull_requests.agents import copies
from patience import until
from processes import is_alive


def test_a_checkout_that_was_changed_is_made_anew(bench):
    command = bench.command(
        """
        log(json.dumps(sorted(str(path) for path in pathlib.Path().rglob("*"))))
        log(pathlib.Path("a.py").read_text() == "zebra = 7\\n")
        pathlib.Path("a.py").write_text("changed")
        pathlib.Path("new").mkdir()
        os.symlink("/etc", "src/away")
        pathlib.Path("src").chmod(0)
        print("Seven.")
        """
    )
    bench.rows(command, questions=3)
    assert bench.logged == ['["a.py", "src", "src/b.py"]', "True"] * 3


@pytest.mark.parametrize(
    "left",
    [
        "os.symlink(victim, folder)",
        "open(folder, 'w').close()",
        "os.mkfifo(folder)",
        "pass",
        "os.chmod(os.path.dirname(folder), 0)",
        "os.rmdir(os.path.dirname(folder)); os.symlink(victim, os.path.dirname(folder))",
    ],
)
def test_whatever_an_agent_puts_in_the_place_of_its_checkout_the_next_one_has_a_new_one(bench, left):
    victim = bench.folder / "victim"
    (victim / "sub").mkdir(parents=True)
    (victim / "sub").chmod(0o750)
    command = bench.command(
        f"""
        import shutil
        log(pathlib.Path("a.py").read_text() == "zebra = 7\\n")
        victim, folder = {str(victim)!r}, sys.argv[2]
        os.chdir("/")
        shutil.rmtree(folder)
        {left}
        print("Seven.")
        """,
        "{question} {checkout}",
    )
    assert [row["answer"] for row in bench.rows(command, questions=3)] == ["Seven."] * 3
    assert bench.logged == ["True"] * 3
    assert [(path.name, path.stat().st_mode & 0o777) for path in victim.rglob("*")] == [("sub", 0o750)]


def test_a_checkout_that_can_t_be_removed_stops_nothing(bench, monkeypatch):
    left = []
    remove = copies.remove
    monkeypatch.setattr(copies, "remove", left.append)
    command = bench.command("pathlib.Path('a.py').write_text('changed')\nprint('Seven.')")
    assert [row["answer"] for row in bench.rows(command, questions=3)] == ["Seven."] * 3
    for folder in left:
        remove(folder)


def test_a_checkout_that_was_left_as_it_was_is_used_again(bench, monkeypatch):
    made = []
    export = copies.export
    monkeypatch.setattr(copies, "export", lambda repository, folder: made.append(folder) or export(repository, folder))
    bench.rows(bench.command("print(pathlib.Path('a.py').read_text())"), questions=3)
    assert len(made) == 1


def test_so_many_run_at_once_each_in_a_checkout_of_its_own(bench):
    # Each waits until the other has begun: one after the other they would wait for ever.
    command = bench.command(
        f"""
        log(os.getcwd())
        while len(pathlib.Path({str(bench.log)!r}).read_text().splitlines()) < 2:
            time.sleep(0.01)
        print("Seven.")
        """,
        jobs=2,
    )
    rows = bench.rows(command, questions=2)
    assert [row["answer"] for row in rows] == ["Seven."] * 2
    assert len(set(bench.logged)) == 2


def test_a_checkout_that_can_t_be_made_ends_it(bench, monkeypatch):
    def full(repository, folder):
        raise UserError("the disk is full")

    monkeypatch.setattr(copies, "export", full)
    with pytest.raises(UserError, match="the disk is full"):
        bench.rows(bench.command(jobs=3), questions=6)


def test_a_cache_that_can_t_be_written_stops_the_others(bench, monkeypatch):
    def full(self, key, record):
        raise UserError("the disk is full")

    monkeypatch.setattr("devqa.llm.cache.Writer.write", full)
    command = bench.command(
        """
        log(os.getpid())
        if len(pathlib.Path(os.environ["DEVQA_LOG"]).read_text().splitlines()) > 1:
            time.sleep(600)
        print("Seven.")
        """,
        jobs=1,
    )
    monkeypatch.setenv("DEVQA_LOG", str(bench.log))
    with pytest.raises(UserError, match="the disk is full"):
        bench.rows(command, questions=3)
    assert not any(is_alive(int(line)) for line in bench.logged)


def test_where_a_copy_can_t_be_made_agents_under_way_end_and_are_kept_and_no_other_begins(bench, monkeypatch):
    export, asked, broken = copies.export, [], bench.folder / "broken"

    def second_fails(repository, folder):
        asked.append(folder)
        if len(asked) == 2:
            until(lambda: bench.logged)
            broken.touch()
            raise UserError("the disk is full")
        export(repository, folder)

    monkeypatch.setattr(copies, "export", second_fails)
    command = bench.command(
        f"""
        log("began")
        while not os.path.exists({str(broken)!r}):
            time.sleep(0.01)
        time.sleep(0.5)
        print("Seven.")
        """,
        jobs=2,
    )
    with pytest.raises(UserError, match="the disk is full"):
        bench.rows(command, questions=5)
    assert bench.logged == ["began"]
    assert [record["stdout"] for record in bench.kept] == ["Seven.\n"]
    monkeypatch.setattr(copies, "export", export)
    bench.rows(command, questions=5)
    assert len(bench.logged) == 5
