# SPDX-License-Identifier: MIT
"""Tests of the warm-up limits, of rows for the source (text or BPF) that this library used, of the
samples at an interval, and of what is left out for want of time."""
import argparse
import unittest
from typing import List, Sequence, Tuple
from unittest import mock

import paced
from bench import LATE, SAMPLES_END_S
from bench import Session as BenchSession

from commands import Commands, fork_share
from contenders import ALL, Cost, Session
from measure import QUICK, Bench, Measured, Use, WarmUp, warm_up
from report import Report
from scenarios import ACTIVE, COLD, ONE, SINCE, THREADS, Scenario
from subjects import NotStarted
from targets import ALL as ALL_RAN
from targets import Target

LIMITS = WarmUp(runs=4500, samples=800, cpu_ns=0.5e9)
TREE = ("tree", 1000)


class Costing(Session):
    """A contender that pays the same for each sample. Records the samples requested per turn."""

    def __init__(self, cpu_ns: float) -> None:
        self.cpu_ns = cpu_ns
        self.hot_turns: List[int] = []
        self.slow_turns: List[int] = []

    def hot(self, count: int) -> Cost:
        self.hot_turns.append(count)
        return Cost(self.cpu_ns, self.cpu_ns, 0, 0, "-")

    def slow(self, count: int, run: int, pause_ms: int) -> Cost:
        assert pause_ms == 0
        self.slow_turns.append(count)
        return Cost(self.cpu_ns, self.cpu_ns, 0, 0, "-")


def samples(scenario: Scenario, cpu_ns: float, restarts: bool = False) -> int:
    """Return the number of samples of one warm-up."""
    session = Costing(cpu_ns)
    session.restarts = restarts
    warm_up(session, scenario, LIMITS)
    return sum(session.hot_turns + session.slow_turns)


class WarmUps(unittest.TestCase):
    def test_warm_up_after_enough_runs_ends(self) -> None:
        self.assertEqual(samples(Scenario("", TREE, "tree", False, ACTIVE, 100), 1e3), 5)
        self.assertEqual(samples(Scenario("", TREE, "tree", False, ACTIVE, 5), 1e3), 89)
        self.assertEqual(samples(Scenario("", ("tree", 4000), "tree", False, ACTIVE, 100), 1e3), 2)

    def test_warm_up_after_sample_limit_ends(self) -> None:
        self.assertEqual(samples(Scenario("", TREE, "tree", False), 1e3), 800)
        for subject in (ONE, THREADS, ("memory", 1024)):
            self.assertEqual(samples(Scenario("", subject, "pid", False, ACTIVE, 100), 1e3), 800,
                             subject)

    def test_warm_up_after_cpu_time_limit_ends(self) -> None:
        self.assertEqual(samples(Scenario("", TREE, "tree", False), 10e6), 50)
        self.assertEqual(samples(Scenario("", TREE, "tree", False), 1e9), 2)

    def test_warm_up_of_cold_scenario_has_no_pause(self) -> None:
        self.assertEqual(samples(Scenario("", TREE, "tree", False, COLD, 5), 1e3), 89)

    def test_warm_up_of_restarted_contender_takes_two_samples(self) -> None:
        self.assertEqual(samples(Scenario("", TREE, "tree", False), 1e3, restarts=True), 2)

    def test_warm_ups_of_idle_since_all_ran_start_active(self) -> None:
        first, second = SINCE.warm_ups
        self.assertEqual((first.mode, first.percent, second), (ACTIVE, 100, SINCE))
        self.assertEqual(
            Scenario("", TREE, "tree", False).warm_ups, [Scenario("", TREE, "tree", False)])

    def test_warm_up_returns_cost_of_last_turn(self) -> None:
        session = Costing(5e6)
        self.assertEqual(warm_up(session, Scenario("", TREE, "tree", False), LIMITS).cpu_ns, 5e6)


def measured(sources: Sequence[str], name: str) -> Measured:
    found = Measured()
    for source in sources:
        found.add(Cost(1e6, 1e6, 0, 1000, f"pss:-,source:{source}"))
    found.error = ALL[name].wrong(found.sources)
    return found


class Sources(unittest.TestCase):
    def report(self, library: Sequence[str], text: Sequence[str] = ("proc", "proc")) -> Report:
        bench = Bench(QUICK, lambda *_: None)
        bench.results = {(ALL_RAN, "rtrack"): measured(library, "rtrack"),
                         (ALL_RAN, "rtrack text"): measured(text, "rtrack text"),
                         (ALL_RAN, "floor"): measured(("-", "-"), "floor")}
        return Report(bench, Commands(), [])

    def target(self, report: Report, what: str) -> Target:
        title = f"1000 processes, all ran, {what}: cost, times the floor"
        return next(one for one in report.targets.all() if one.what == title)

    def test_rows_with_expected_source_name_column_and_source(self) -> None:
        report = self.report(("bpf", "bpf"))
        bpf, text = self.target(report, "BPF"), self.target(report, "text")
        self.assertEqual((bpf.result, bpf.column, bpf.read_by), ("1.00", "this library", "BPF"))
        self.assertEqual((text.result, text.column, text.read_by),
                         ("1.00", "this library, text", "text"))

    def test_row_with_peer_compares_floor_with_same_peer(self) -> None:
        report = self.report(("bpf", "bpf"))
        peer, floor = measured((), "psutil"), report.bench.results[ALL_RAN, "floor"]
        peer.cpu_ns, floor.cpu_ns = [8e6, 8e6], [2e6, 2e6]
        report.bench.results[ALL_RAN, "psutil"] = peer
        got = next(one for one in report.targets.all()
                   if one.what.endswith("BPF: times faster than psutil"))
        self.assertEqual((got.result, got.floor), ("8.00", "4.00"))

    def test_row_with_other_source_has_no_result(self) -> None:
        for library, source in ((("proc", "proc"), "text"), (("proc", "bpf"), "text, then BPF")):
            bpf = self.target(self.report(library), "BPF")
            self.assertEqual((bpf.result, bpf.is_met), (f"the library read by {source}", None))
            self.assertIn(f"| 1.00 | {source} |", self.report(library).plain())

    def test_tree_with_gpus_is_compared_with_the_same_without(self) -> None:
        report = self.report(("bpf", "bpf"))
        title = "1000 processes, all ran, with GPUs: cost, times that without"
        for cpu_ns, verdict in ((1.01e6, "met"), (1.03e6, "missed")):
            report.bench.results[ALL_RAN, "rtrack gpu"] = measured(("bpf", "bpf"), "rtrack gpu")
            report.bench.results[ALL_RAN, "rtrack gpu"].cpu_ns = [cpu_ns, cpu_ns]
            got = next(one for one in report.targets.all() if one.what == title)
            self.assertEqual(got.verdict, verdict)

    def test_text_contender_that_used_bpf_is_error(self) -> None:
        report = self.report(("bpf", "bpf"), ("proc", "bpf"))
        text = self.target(report, "text")
        self.assertEqual((text.result, text.is_met), ("the library read by text, then BPF", None))
        self.assertIn("| 1.00 | BPF | error |", report.plain())
        self.assertIn("this library, text: read by bpf", str(report.json()))


class Waiting:
    """A contender that records its orders, and answers with a cost."""

    def __init__(self, name: str, orders: List[Tuple[str, str]]) -> None:
        self.name, self.orders = name, orders

    def ask(self, order: str) -> None:
        self.orders.append((self.name, order))

    def cost(self, count: int) -> Cost:
        assert len(self.orders) == 2, "it waits for an answer before all are asked"
        return Cost(1e3 * count, 1e3, 0, 0, "-")


class Paces(unittest.TestCase):
    scenario = paced.FULL[0]

    def test_contenders_take_samples_at_different_moments_of_one_interval(self) -> None:
        starts = []
        for turn in range(2):
            orders: List[Tuple[str, str]] = []
            both = {name: Waiting(name, orders) for name in ("a", "b")}
            found = dict(paced.take_round(both, self.scenario, paced.SLOW, turn))  # type: ignore
            self.assertEqual({name: one.cpu_ns for name, one in found.items()},
                             {"a": [1e3 * paced.SLOW.samples], "b": [1e3 * paced.SLOW.samples]})
            at = {name: int(order.split()[3]) for name, order in orders}
            self.assertEqual(abs(at["a"] - at["b"]), self.scenario.interval_ms * paced.MS // 2)
            starts.append(at["a"] < at["b"])
        self.assertEqual(starts, [True, False])

    def test_row_has_cost_share_of_core_and_ratio(self) -> None:
        bench = Bench(QUICK, lambda *_: None)
        for name, us in (("rtrack default", 120.0), ("floor default", 100.0)):
            one = Measured(cpu_ns=[us * 1e3, us * 1e3])
            bench.results[self.scenario.key, name] = one
        report = Report(bench, Commands(), [])
        self.assertEqual(report.paced_row(self.scenario)[1:6],
                         ["1 s", "120", "0.012 %", "-", "1.20"])
        got = next(one for one in report.targets.all() if one.what.startswith(self.scenario.title))
        self.assertEqual((got.result, got.verdict), ("1.20", "met"))

    def test_target_of_one_process_is_without_pss(self) -> None:
        one = next(one for one in paced.FULL if one.size == 1 and one.at_most)
        bench = Bench(QUICK, lambda *_: None)
        for name, us in (("rtrack default", 300.0), ("rtrack default without PSS", 110.0),
                         ("floor default", 100.0)):
            bench.results[one.key, name] = Measured(cpu_ns=[us * 1e3])
        report = Report(bench, Commands(), [])
        self.assertIn(one.compared, [contender.name for contender in one.contenders])
        self.assertEqual(report.paced_row(one)[5:7], ["3.00", "1.10"])
        got = next(target for target in report.targets.all() if target.what.startswith(one.title))
        self.assertEqual((got.result, got.verdict), ("1.10", "met"))

    def test_row_of_what_was_not_measured_is_empty(self) -> None:
        report = Report(Bench(QUICK, lambda *_: None), Commands(), [])
        self.assertEqual(set(report.paced_row(self.scenario)[2:]), {"-"})


class LargeTrees(unittest.TestCase):
    scenario = next(one for one in paced.FULL if one.size == paced.LARGE)

    def test_floor_reads_clocks_alone(self) -> None:
        self.assertEqual(self.scenario.floor.name, "floor clock")
        self.assertIn(self.scenario.floor, self.scenario.contenders)

    def test_share_of_a_cpu_is_that_without_pss(self) -> None:
        bench = Bench(QUICK, lambda *_: None)
        for name, us in (("rtrack default", 12e3), ("rtrack", 1.9e3)):
            bench.results[self.scenario.key, name] = Measured(cpu_ns=[us * 1e3])
        got = next(one for one in Report(bench, Commands(), []).targets.all()
                   if one.what.startswith(self.scenario.title))
        self.assertEqual((got.result, got.verdict), ("0.19 %", "met"))

    def test_tree_that_cannot_be_started_is_left_out(self) -> None:
        notes: List[Tuple[str, str, str]] = []
        bench = Bench(QUICK, lambda *note: notes.append(note))
        with mock.patch("paced.subject_of", side_effect=NotStarted("too many")):
            paced.run(bench, self.scenario)
            self.assertRaises(NotStarted, paced.run, bench, paced.FULL[0])
        self.assertEqual(notes, [(self.scenario.key, "all", paced.TOO_MANY)])


class FirstSamples(unittest.TestCase):
    def test_target_has_cpu_time_of_the_library_and_of_the_floor(self) -> None:
        bench = Bench(QUICK, lambda *_: None)
        for name, ms in (("rtrack", 14), ("floor", 11)):
            bench.uses["tree-tree-1000-pss-active-100", name] = Use(first_cpu_ns=[ms * 10**6])
        got = next(one for one in Report(bench, Commands(), []).targets.all()
                   if one.what.startswith("1000 processes, PSS: CPU time up to"))
        self.assertEqual((got.result, got.verdict, got.floor), ("14.0 ms", "met", "11.0 ms"))


class Memory(unittest.TestCase):
    def test_target_is_memory_above_that_of_an_empty_program(self) -> None:
        bench = Bench(QUICK, lambda *_: None)
        bench.results["system-plain-hot", "rtrack"] = Measured(cpu_ns=[1], rss_kib=3072,
                                                               empty_kib=1536)
        got = next(one for one in Report(bench, Commands(), []).targets.all()
                   if one.what.startswith("the system: resident memory"))
        self.assertEqual((got.result, got.verdict), ("1.50 MB", "met"))


class Starts(unittest.TestCase):
    def test_poll_may_add_what_gnu_time_adds(self) -> None:
        found = Commands({"bare": [1.0], "GNU time": [1.5], "poll": [1.4], "auto": [2.4]})
        targets = Report(Bench(QUICK, lambda *_: None), found, []).targets.all()
        got = {one.what.split()[3]: one for one in targets if one.what.startswith("`rtrack run")}
        self.assertEqual((got["poll"].target, got["poll"].result, got["poll"].verdict),
                         ("at most +0.50 ms", "+0.40 ms", "met"))
        self.assertEqual((got["auto"].target, got["auto"].result, got["auto"].verdict),
                         ("at most +1.20 ms", "+1.40 ms", "missed"))


class ForkStorms(unittest.TestCase):
    def test_target_is_for_the_methods_that_need_not_sample(self) -> None:
        found = Commands(fork_share={"poll": [4.0], "wait": [1.2, 3.0, 1.1], "bpf": [0.9]})
        targets = Report(Bench(QUICK, lambda *_: None), found, []).targets.all()
        got = {one.what.split("`")[1]: (one.target, one.result, one.verdict)
               for one in targets if one.what.startswith("5000 forks a second")}
        self.assertEqual(got, {"poll": ("-", "4.0 %", "-"),
                               "wait": ("under 1 %", "1.2 %", "missed"),
                               "bpf": ("under 1 %", "0.9 %", "met")})

    def test_share_is_without_the_storm_itself_and_a_start(self) -> None:
        start, storm = mock.Mock(ru_utime=0.02, ru_stime=0), mock.Mock(ru_utime=0.5, ru_stime=0.3)
        with mock.patch("commands.os.posix_spawn", return_value=1), \
                mock.patch("commands.os.wait4", side_effect=[(1, 0, start), (1, 0, storm)]), \
                mock.patch("commands.open", mock.mock_open(read_data="2000000000 700000000"),
                           create=True):
            self.assertAlmostEqual(fork_share([]), 4.0)


class Limits(unittest.TestCase):
    def test_scenario_without_time_is_named_as_left_out(self) -> None:
        session = BenchSession(argparse.Namespace(quick=False, only=""))
        self.assertFalse(session.leave_out("first"))
        session.start_s -= SAMPLES_END_S
        self.assertTrue(session.leave_out("second"))
        self.assertIn(("second", "all", LATE), session.skips)
        self.assertEqual(session.report().left_out(), [f"all: {LATE}: second"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
