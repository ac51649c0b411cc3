"""The calls through the kit's engine, as a process of its own: python task_kit.py URL FOLDER CALLS CONCURRENCY

Prints the wall and CPU seconds from the first request to the last answer on disk, as JSON.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from workload import MAX_NEW_TOKENS, MODEL, prompts

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from creativemath_utils.engine import Engine
from creativemath_utils.ledger import Ledgers
from creativemath_utils.models import read_model
from creativemath_utils.records import Request, user_message


def main(url: str, folder: Path, calls: int, concurrency: int) -> None:
    model = read_model(MODEL, {"backend": "api", "id": MODEL, "base_url": url}, "bench")
    decoding = {"max_new_tokens": MAX_NEW_TOKENS, "temperature": 0}
    requests = [
        Request(MODEL, model.identity(), user_message(prompt), decoding, ledger="bench") for prompt in prompts(calls)
    ]
    with Engine({MODEL: model}, Ledgers(folder), concurrency=concurrency) as engine:
        engine.check([MODEL])  # the client's import and the preflight: part of the process, not of the calls
        wall, cpu = time.perf_counter(), time.process_time()
        responses = engine.complete(requests)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    assert all(response.status == "ok" for response in responses), responses[0]
    print(json.dumps({"wall": wall, "cpu": cpu}))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
