import { openMemoryDlq } from "@bridge/dlq-memory";
import type { DlqStore } from "@bridge/ports";
import { expect, test } from "vitest";
import { FakeClock } from "../support/fake-clock.ts";
import { bound } from "../support/memory-bridge.ts";
import { begun, entryOf, fill, started, until } from "./job-bridge.ts";
import { seenDlq } from "./seen-dlq.ts";

const COUNT = 1_200;
const HOUR = 3_600_000;
const ANSWERS_MS = 2_000;

type Call = "restore" | "delete";

/** A store that does what it is asked for at once, and answers calls of one kind late, to whoever still listens. */
function slow() {
  const clock = new FakeClock();
  const inner = seenDlq(openMemoryDlq({ maxEntries: 10_000, clock }), () => {});
  const view = { slow: undefined as Call | undefined, asked: 0 };
  const late = async <Result>(call: Call, signal: AbortSignal, work: Promise<Result>): Promise<Result> => {
    const result = await work;
    if (view.slow !== call) return result;
    view.asked++;
    await clock.delay(ANSWERS_MS, signal);
    return result;
  };
  const { admin } = inner;
  const dlq: DlqStore = {
    ...inner,
    [Symbol.asyncDispose]: async () => {},
    admin: {
      ...admin,
      delete: (ids, signal, options) => late("delete", signal, admin.delete(ids, signal, options)),
      trash: {
        ...admin.trash,
        restore: (batch, limit, signal) => late("restore", signal, admin.trash.restore(batch, limit, signal)),
      },
    },
  };
  return { clock, inner, dlq, view };
}

async function ended(clock: FakeClock, work: Promise<unknown>): Promise<void> {
  let isDone = false;
  const done = work.finally(() => (isDone = true));
  await clock.until(() => isDone);
  await done;
}

test("spec 4.10.5: an undo that a shutdown comes between counts what it has been told: restored, and there again by then", async () => {
  const { clock, inner, dlq, view } = slow();
  const first = await started({ clock, dlq });
  await fill(dlq, COUNT);
  const { id } = await begun(first, { kind: "purge", undoWithinMs: HOUR });
  await until(first, id, "completed");
  for (let nth = 0; nth < 300; nth++) await dlq.put(entryOf(nth, { failedAt: clock.now() }), bound());
  view.slow = "restore";
  await first.supervisor.jobs().ask(id, { call: "undo" }, bound());
  await clock.until(() => view.asked === 1);
  await ended(clock, first.supervisor.shutdown());
  const next = await started({ clock, dlq: inner });
  const { counts } = await until(next, id, "undone");
  expect(counts).toMatchObject({ succeeded: COUNT, restored: COUNT - 300, present: 300 });
  await next.supervisor.shutdown();
});

test("spec 2.16: a purge that a shutdown comes between counts what it has erased at once", async () => {
  const { clock, inner, dlq, view } = slow();
  const first = await started({ clock, dlq });
  await fill(dlq, COUNT);
  view.slow = "delete";
  const { id } = await begun(first, { kind: "purge" });
  await clock.until(() => view.asked === 1);
  await ended(clock, first.supervisor.shutdown());
  const next = await started({ clock, dlq: inner });
  const { counts } = await until(next, id, "completed");
  expect(counts).toMatchObject({ succeeded: COUNT, skipped: 0 });
  await next.supervisor.shutdown();
});
