"""Files that appear whole or not at all."""

import errno
import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from devqa.errors import UserError
from devqa.files import replacing, unique_name


def names(folder):
    return [path.name for path in folder.iterdir()]


def test_the_file_appears_at_the_end_and_its_folder_with_it(tmp_path):
    path = tmp_path / "a" / "b" / "out.txt"
    with replacing(str(path)) as temporary:
        temporary.write_text("new")
        assert not path.exists()
        assert temporary.parent == path.parent
    assert path.read_text() == "new"
    assert names(path.parent) == ["out.txt"]


@pytest.mark.parametrize("fault", [ValueError, KeyboardInterrupt, SystemExit])
def test_a_fault_leaves_the_old_file_and_nothing_else(tmp_path, fault):
    path = tmp_path / "out.txt"
    path.write_text("old")
    with pytest.raises(fault), replacing(path) as temporary:
        temporary.write_text("half")
        raise fault
    assert path.read_text() == "old"
    assert names(tmp_path) == ["out.txt"]


def test_a_block_that_writes_nothing_is_a_fault_and_keeps_the_old_file(tmp_path):
    path = tmp_path / "out.txt"
    path.write_text("old")
    with pytest.raises(FileNotFoundError), replacing(path):
        pass
    assert path.read_text() == "old"


def test_several_writers_do_not_meet(tmp_path):
    path = tmp_path / "out.txt"

    def write(number):
        with replacing(path) as temporary:
            temporary.write_text(str(number) * 10_000)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(8)))
    text = path.read_text()
    assert text == text[0] * 10_000
    assert names(tmp_path) == ["out.txt"]


def test_names_are_not_given_twice():
    assert len({unique_name() for _ in range(1000)}) == 1000
    assert str(os.getpid()) in unique_name()


@pytest.mark.parametrize("fault", [errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_what_the_file_system_refuses_is_a_message_with_the_path(tmp_path, fault):
    with pytest.raises(UserError, match=r"out\.txt can't be written \(") as caught, replacing(tmp_path / "out.txt"):
        raise OSError(fault, os.strerror(fault))
    assert os.strerror(fault) in str(caught.value)
    assert not list(tmp_path.iterdir())
