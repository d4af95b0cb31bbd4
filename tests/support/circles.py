# SPDX-License-Identifier: MIT
"""Circles in a graph. E.g.: of files that include, or call, one another."""
from typing import Dict, List, Set

Graph = Dict[str, Set[str]]


def circles(graph: Graph) -> List[List[str]]:
    """One shortest circle through each group of nodes that reach one another."""
    found: List[List[str]] = []
    seen: Set[str] = set()
    for node in sorted(graph):
        if node in seen:
            continue
        circle = shortest_circle(graph, node)
        if circle:
            found.append(circle)
            seen |= {other for other in reach(graph, node) if node in reach(graph, other)}
    return found


def reach(graph: Graph, node: str) -> Set[str]:
    known: Set[str] = set()
    waiting = [node]
    while waiting:
        more = graph.get(waiting.pop(), set()) - known
        known |= more
        waiting += more
    return known


def shortest_circle(graph: Graph, start: str) -> List[str]:
    paths = [[start]]
    seen: Set[str] = set()
    while paths:
        path = paths.pop(0)
        for node in sorted(graph.get(path[-1], set())):
            if node == start:
                return path + [start]
            if node not in seen:
                seen.add(node)
                paths.append(path + [node])
    return []
