import assert from "node:assert/strict";
import type { OutboxHead } from "@bridge/ports";

/** Waits go by a clock that never jumps, and are told by the one on the wall. */
const CLOCKS_APART_MS = 10;

/** That a record is due in this stretch of time; epoch milliseconds. */
export function assertDue(head: Pick<OutboxHead, "dueAt"> | undefined, earliest: number, latest: number): void {
  const dueAt = head?.dueAt ?? 0;
  assert.ok(
    dueAt >= earliest - CLOCKS_APART_MS && dueAt <= latest + CLOCKS_APART_MS,
    `due at ${dueAt}, not from ${earliest} to ${latest}`,
  );
}
