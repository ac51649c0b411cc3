"""What the replies of a batch interface mean: the state of a batch, the lines of its files, the response in a line."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from creativemath_utils.backends.endpoint import with_wait
from creativemath_utils.backends.replies import (
    Permanent,
    Transient,
    classify,
    error_in,
    inner_error,
    read_json,
    read_reply,
    token_counts,
)
from creativemath_utils.records import Request, Response
from creativemath_utils.spending import Charge

ENDED = ("completed", "failed", "expired", "cancelled")


@dataclass(frozen=True)
class BatchState:
    """How it stands with a batch: its status, the files of answers and of errors, and the faults of the whole file."""

    id: str
    status: str
    answers: str | None = None
    errors: str | None = None
    least: int = 1  # lines that the file of answers holds, as far as the endpoint says
    faults: tuple[dict[str, Any], ...] = ()

    @classmethod
    def read(cls, body: dict[str, Any]) -> BatchState:
        """From the JSON of a batch. Raises Transient where that has no status."""
        if not isinstance(body.get("status"), str):
            raise Transient("reply without the batch's status")
        counts = body["request_counts"] if isinstance(body.get("request_counts"), dict) else {}
        done, failed = counts.get("completed"), counts.get("failed")
        errors = body["errors"].get("data") if isinstance(body.get("errors"), dict) else None
        if body["status"] == "completed" and not (body.get("output_file_id") or body.get("error_file_id")):
            raise Transient("a batch that is completed has no file")
        return cls(
            id=id_in(body),
            status=body["status"],
            answers=_name(body.get("output_file_id")),
            errors=_name(body.get("error_file_id")),
            least=done if isinstance(done, int) and (failed == 0 or done == 0) else 1,
            faults=tuple(fault for fault in errors if isinstance(fault, dict)) if isinstance(errors, list) else (),
        )


def object_in(reply: Any) -> dict[str, Any]:
    """The JSON object in a reply of status 200. Raises Transient where there is none, or what the error in it means."""
    body = read_json(reply.http_response)
    if not isinstance(body, dict):
        raise Transient(f"reply is no JSON object: {str(body)[:80]!r}")
    if body.get("error") and not body.get("id"):
        raise with_wait(inner_error(body["error"]), reply.http_response)
    return body


def id_in(body: dict[str, Any]) -> str:
    if (name := _name(body.get("id"))) is None:
        raise Transient("reply without an id")
    return name


def _name(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def rows_in(content: bytes) -> list[dict[str, Any]]:
    """The lines of a file of answers or errors. Raises Transient where one is cut off or something else altogether."""
    rows = []
    for line in filter(bytes.strip, content.split(b"\n")):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if isinstance(row, dict) and isinstance(row.get("custom_id"), str):
            rows.append(row)
        elif isinstance(row, dict) and row.get("error"):
            raise inner_error(row["error"])
        else:
            raise Transient(f"a file of answers with a line that is none: {line[:80]!r}")
    return rows


def read_row(
    request: Request, row: dict[str, Any] | None, state: BatchState | None, settings: dict[str, Any], charge: Charge
) -> Response:
    """The response in a line of a batch's files. Raises Transient or Permanent where there is none.

    As with a call of its own, what the endpoint refused is free; a reply that cannot be read may have been paid.
    """
    reply = (row or {}).get("response")
    if isinstance(reply, dict) and isinstance(reply.get("status_code"), int):
        body = reply.get("body")
        if reply["status_code"] != 200:
            charge.free()
            raise classify(reply["status_code"], body)
        if (fault := error_in(body)) is not None:
            if isinstance(body, dict) and body.get("error"):
                charge.free()
            elif isinstance(body, dict):
                charge.paid(token_counts(body.get("usage")))
            raise fault
        return read_reply(request, body, settings)
    error = (row or {}).get("error")
    if error or (state is not None and state.status != "completed"):  # the batch did not get to this call
        charge.free()
    if state is not None and state.status == "cancelled":
        raise Permanent("the batch was cancelled at the endpoint; run again to ask the rest")
    if state is not None and state.status == "failed":  # the file was not taken; it would not be the next time either
        about = state.faults[0] if state.faults else {}
        fault = classify(400, {"error": about}, "the endpoint did not take the batch")
        raise fault if isinstance(fault, Permanent) else Permanent(str(fault))
    reason = (error.get("message") or error.get("code")) if isinstance(error, dict) else None
    raise Transient(str(reason or "the batch ended without an answer to this call"))
