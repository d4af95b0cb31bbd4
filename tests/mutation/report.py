# SPDX-License-Identifier: MIT
"""The result of a run, as Markdown."""

from collections import Counter

VERDICTS = ("killed", "survived", "not run", "equivalent", "not built")


def describe(result):
    if result["verdict"] == "killed":
        return f"killed ({result['test']}: {result['how']})"
    if result["verdict"] != "survived":
        return result["verdict"]
    passed, left = len(result["passed"]), result["left"]
    return f"survived ({passed} tests passed" + (f", {left} not tried)" if left else ")")


def of(results, drawn, possible, seed):
    verdicts = Counter(result["verdict"] for result in results)
    judged = verdicts["killed"] + verdicts["survived"] + verdicts["not run"]
    share = 100 * verdicts["killed"] / judged if judged else 0
    lines = [f"{len(results)} mutants were tried, of {drawn} drawn from {possible} (seed {seed}). "
             f"{share:.1f} % of those that make a difference to the object code were killed.", "",
             "| Rule | " + " | ".join(VERDICTS) + " |",
             "|---|" + "---|" * len(VERDICTS)]
    for rule in sorted({result["rule"] for result in results}):
        of_rule = Counter(result["verdict"] for result in results if result["rule"] == rule)
        lines.append(f"| {rule} | " + " | ".join(str(of_rule[one]) for one in VERDICTS) + " |")
    lines += ["", "Survivors:", "", "| Where | Change | Tests |", "|---|---|---|"]
    for result in results:
        if result["verdict"] in ("survived", "not run"):
            change = " ".join(result["change"].split()).replace("|", "\\|")
            lines.append(f"| `{result['file']}:{result['line']}` | {result['rule']}: "
                         f"`{change}` | {describe(result)} |")
    return "\n".join(lines) + "\n"
