"""The model server as a process: `python -m tests.support.model_server --port 0 --script FILE.toml`.

Prints `ready http://127.0.0.1:PORT/v1` once it listens; SIGTERM or SIGINT ends it.
"""

import argparse
import asyncio
import signal
from pathlib import Path

from tests.support.model_server.script import Script, load
from tests.support.model_server.server import ModelServer


async def serve(script: Script, port: int) -> None:
    """Serve until a signal comes."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with ModelServer(script, port=port) as server:
        print(f"ready {server.base_url}", flush=True)  # noqa: T201 - the promise to whoever started it
        await stop.wait()


def main() -> None:
    """Read the command line and serve."""
    parser = argparse.ArgumentParser(prog="python -m tests.support.model_server", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 takes a free port")
    parser.add_argument("--script", type=Path, help="a TOML file; without it every answer is an echo")
    arguments = parser.parse_args()
    asyncio.run(serve(load(arguments.script) if arguments.script else Script(), arguments.port))


if __name__ == "__main__":
    main()
