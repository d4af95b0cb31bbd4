# SPDX-License-Identifier: MIT
"""Run many commands at once on one thread: asyncio waits for their output and for their ends.

Usage: event_loop.py COUNT PROGRAM [ARGUMENT...]
"""
from __future__ import annotations

import asyncio
import os
import sys
from typing import List, Tuple

import rtrack


async def read_to_end(fd: int) -> bytes:
    """Read a pipe until the last writer has closed it."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()
    output = bytearray()

    def read() -> None:
        data = os.read(fd, 65536)
        output.extend(data)
        if not data:
            loop.remove_reader(fd)
            done.set_result(None)

    loop.add_reader(fd, read)
    await done
    return bytes(output)


async def wait_for(command: rtrack.Command) -> rtrack.Outcome:
    """Wait for the end of a command, and poll for its memory peaks meanwhile."""
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[None] = loop.create_future()

    def dispatch() -> None:
        if command.dispatch():
            loop.remove_reader(command)
            ended.set_result(None)

    loop.add_reader(command, dispatch)
    await ended
    return command.wait(0)


async def run(argv: List[str]) -> Tuple[bytes, rtrack.Outcome]:
    """Run a command to its end. Return its output and what it used."""
    reader, writer = os.pipe()
    try:
        fds = {1: writer, 2: writer}
        with rtrack.Command(argv, fds=fds, only_fds=True, kill_on_free=True) as command:
            os.close(writer)
            writer = -1
            output, outcome = await asyncio.gather(read_to_end(reader), wait_for(command))
    finally:
        os.close(reader)
        if writer >= 0:
            os.close(writer)
    return output, outcome


async def main(count: int, argv: List[str]) -> None:
    """Run this many commands at once, and print what they wrote and used."""
    results = await asyncio.gather(*(run(argv) for _ in range(count)))
    for number, (output, outcome) in enumerate(results):
        print(f"{number}: {output.decode(errors='replace')}", end="")
        seconds = (outcome.cpu_user_ns + outcome.cpu_system_ns) / 1e9
        print(f"{number}: exit code {outcome.exit_code}, {seconds:.6f} s of CPU time")


if __name__ == "__main__":
    if len(sys.argv) < 3 or not sys.argv[1].isdigit():
        sys.exit(__doc__)
    asyncio.run(main(int(sys.argv[1]), sys.argv[2:]))
