# SPDX-License-Identifier: MIT
"""Put a supervisor, a tracer and a plug-in where an attacker might, and see whether they are used.

Each of them makes a file of its own, a mark, when it runs."""
import errno
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest
from typing import Any, Callable, Set

from harness import BUILD, SUPERVISOR, TRACER
from rtrack_command import PATIENCE_S, Case

SHARED_USER, ARCHIVE_USER, PLUG_IN = (pathlib.Path(sys.argv.pop(1)) for _ in range(3))
PLUG_IN_NAME = "librtrack-bpf.so.0"
ALL = {SUPERVISOR, PLUG_IN_NAME, TRACER}
OTHER_USER, OTHER_GROUP = 61234, 61235
IS_ROOT = os.geteuid() == 0


class Planted(Case):
    """self.dir has a directory `lib` with the library and the planted files."""

    def setUp(self) -> None:
        super().setUp()
        self.dir.chmod(0o755)
        self.marks = self.dir / "marks"
        self.marks.mkdir()
        self.marks.chmod(0o777)
        self.lib = self.dir / "lib"
        self.lib.mkdir(mode=0o755)
        shutil.copy(BUILD / "lib/librtrack.so.0", self.lib)
        self.env = {**os.environ, "PLANTED_MARK": str(self.marks / PLUG_IN_NAME)}
        self.plant(self.lib)

    def plant(self, where: pathlib.Path) -> None:
        """Put files into a directory that is safe."""
        for name in (SUPERVISOR, TRACER):
            (where / name).write_text(f"#!{os.path.realpath(sys.executable)} "
                                      f"-copen('{self.marks / name}','w')\n")
            (where / name).chmod(0o755)
        shutil.copy(PLUG_IN, where / PLUG_IN_NAME)
        for path in [where, *where.iterdir()]:
            path.chmod(path.stat().st_mode & ~0o022)

    def use(self, *words: Any, **kwargs: Any) -> Set[str]:
        """Run a program that uses all three. Return the names of the planted files that ran."""
        done = subprocess.run(words or [SHARED_USER, self.lib / "librtrack.so.0"], env=self.env,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=PATIENCE_S, **kwargs)
        self.assertEqual((done.returncode, len(done.stdout.split())), (0, 3), done.stderr)
        self.results = [int(word) for word in done.stdout.split()]
        return {path.name for path in self.marks.iterdir()}


class BesideLibrary(Planted):
    """What lies beside the library runs only if none but root and the caller could put it there."""

    def each_file(self, change: Callable[[pathlib.Path], Any]) -> None:
        for name in ALL:
            change(self.lib / name)

    def test_files_in_a_safe_directory_run(self) -> None:
        """So the other tests can fail."""
        self.assertEqual(self.use(), ALL)

    def test_directory_that_others_may_write_to_is_not_used(self) -> None:
        for mode in (0o757, 0o777, 0o1777):
            self.lib.chmod(mode)
            self.assertEqual(self.use(), set(), oct(mode))

    def test_file_that_others_may_write_to_is_not_used(self) -> None:
        self.each_file(lambda path: path.chmod(0o757))
        self.assertEqual(self.use(), set())

    def test_symbolic_link_is_not_used(self) -> None:
        def link(path: pathlib.Path) -> None:
            path.rename(self.dir / path.name)
            path.symlink_to(self.dir / path.name)

        self.each_file(link)
        self.assertEqual(self.use(), set())

    def test_deleted_files_are_missing(self) -> None:
        self.each_file(lambda path: path.unlink())
        self.assertEqual(self.use(), set())

    def test_relative_library_is_not_relied_on(self) -> None:
        self.assertEqual(self.use(SHARED_USER, "./librtrack.so.0", cwd=self.lib), set())

    def test_installation_of_the_library_is_used_under_the_same_rules(self) -> None:
        """The library in PREFIX/LIBDIR, the others where an installation has them."""
        places = json.loads((BUILD / "meson-info/intro-installed.json").read_text()).values()
        lib, helpers = (self.dir / "moved" / next(p for p in places if p.endswith(end)).lstrip("/")
                        for end in ("/librtrack.so.0", f"/librtrack/{SUPERVISOR}"))
        lib.parent.mkdir(parents=True)
        helpers.parent.mkdir(parents=True)
        shutil.copy(BUILD / "lib/librtrack.so.0", lib)
        for mode, expected in ((0o777, set()), (0o755, ALL)):
            self.plant(helpers.parent)
            helpers.parent.chmod(mode)
            self.assertEqual(self.use(SHARED_USER, lib), expected, oct(mode))

    @unittest.skipUnless(IS_ROOT, "only root can give files away")
    def test_directory_or_file_of_another_user_is_not_used(self) -> None:
        os.chown(self.lib, OTHER_USER, 0)
        self.assertEqual(self.use(), set())
        os.chown(self.lib, 0, 0)
        self.each_file(lambda path: os.chown(path, OTHER_USER, 0))
        self.assertEqual(self.use(), set())

    @unittest.skipUnless(IS_ROOT, "only root can choose the group")
    def test_group_of_root_may_write_and_another_may_not(self) -> None:
        os.chown(self.lib, 0, OTHER_GROUP)
        self.lib.chmod(0o775)
        self.assertEqual(self.use(), set())
        os.chown(self.lib, 0, 0)
        self.assertEqual(self.use(), ALL)

    @unittest.skipUnless(IS_ROOT, "only root can become another user")
    def test_user_may_have_a_group_that_writes(self) -> None:
        """As with umask 002. A user has no rights for the plug-in, but it is opened."""
        for path in [self.lib, *self.lib.iterdir()]:
            os.chown(path, OTHER_USER, OTHER_GROUP)
            if path.name != "librtrack.so.0":
                path.chmod(path.stat().st_mode | 0o020)
        self.assertEqual(self.use(user=OTHER_USER, group=OTHER_USER, extra_groups=[]), set())
        self.assertEqual(self.use(user=OTHER_USER, group=OTHER_GROUP, extra_groups=[]), ALL)

    @unittest.skipUnless(IS_ROOT, "only root can give files away")
    def test_files_are_used_if_the_library_has_the_same_owner_or_group(self) -> None:
        """Users that may change them might have changed the library, which has been loaded."""
        for path in [self.lib, *self.lib.iterdir()]:
            os.chown(path, OTHER_USER, OTHER_GROUP)
        self.assertEqual(self.use(), ALL)
        self.clear_marks()
        for path in [self.lib, *self.lib.iterdir()]:
            path.chmod(path.stat().st_mode | 0o020)
        self.assertEqual(self.use(), ALL)
        self.clear_marks()
        os.chown(self.lib / "librtrack.so.0", OTHER_USER, OTHER_GROUP + 1)
        self.assertEqual(self.use(), set())

    def clear_marks(self) -> None:
        for path in self.marks.iterdir():
            path.unlink()


class ByName(Planted):
    """The name that a program is started by leads to no supervisor."""

    def copy_user(self, user: pathlib.Path, **owner: Any) -> pathlib.Path:
        """Copy a program into a directory of root where nothing is planted."""
        copy = self.dir / "bin" / user.name
        copy.parent.mkdir(exist_ok=True, mode=0o755)
        shutil.copy(user, copy)
        return copy

    def as_planted(self, program: pathlib.Path, **kwargs: Any) -> Set[str]:
        """Run a program under a name beside what was planted."""
        return self.use(self.lib / "x", self.lib / "librtrack.so.0", executable=program, **kwargs)

    def test_program_with_the_library_in_it_takes_nothing_beside_its_name(self) -> None:
        self.assertEqual(self.as_planted(ARCHIVE_USER), set())
        self.assertEqual(self.results, [0, -errno.EOPNOTSUPP, 0], "it has its own helpers")

    def test_program_with_the_library_in_it_takes_nothing_beside_itself(self) -> None:
        copy = self.copy_user(ARCHIVE_USER)
        self.plant(copy.parent)
        self.assertEqual(self.use(copy), set())

    def test_program_with_a_shared_library_takes_what_is_beside_that(self) -> None:
        empty = self.dir / "empty"
        empty.mkdir()
        self.assertEqual(self.use(empty / "x", self.lib / "librtrack.so.0", executable=SHARED_USER),
                         ALL)

    def check_set_user_id(self, user: pathlib.Path) -> None:
        """A program of a user, which another user starts."""
        copy = self.copy_user(user)
        os.chown(copy, OTHER_USER, OTHER_USER)
        copy.chmod(0o4755)
        if os.statvfs(copy).f_flag & os.ST_NOSUID:
            self.skipTest(f"{copy.parent} is mounted nosuid")
        no_new_privs = pathlib.Path("/proc/self/status").read_text().split("NoNewPrivs:")[1][:2]
        if no_new_privs.strip() != "0":
            self.skipTest("no_new_privs is set: no program gains rights")
        starter = OTHER_USER + 2
        self.assertEqual(self.as_planted(copy, user=starter, group=starter, extra_groups=[]), set())
        copy.chmod(0o755)
        self.is_plain_used = self.as_planted(copy, user=starter, group=starter, extra_groups=[])

    @unittest.skipUnless(IS_ROOT, "only root can give programs away")
    def test_set_user_id_program_takes_nothing_beside_its_library(self) -> None:
        self.check_set_user_id(SHARED_USER)
        self.assertEqual(self.is_plain_used, ALL)

    @unittest.skipUnless(IS_ROOT, "only root can give programs away")
    def test_set_user_id_program_with_the_library_in_it_takes_nothing(self) -> None:
        self.check_set_user_id(ARCHIVE_USER)
        self.assertEqual(self.is_plain_used, set())


if __name__ == "__main__":
    unittest.main(verbosity=2)
