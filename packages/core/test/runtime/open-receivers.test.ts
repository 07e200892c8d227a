import type { Receiver } from "@bridge/ports";
import { expect, test } from "vitest";
import { changeSlices } from "../../src/runtime/change-slices.ts";
import { openReceivers } from "../../src/runtime/open-receivers.ts";
import type { RuntimeParts } from "../../src/runtime/runtime-parts.ts";
import { BoundingClock } from "../support/bounding-clock.ts";
import { bound } from "../support/memory-bridge.ts";

type Open = NonNullable<Receiver["open"]>;

/** Receivers that open as a test says; those that are `undefined` have nothing to open. */
function opening(opens: readonly (Open | undefined)[], signal: AbortSignal) {
  const clock = new BoundingClock();
  const intakes = new Map(
    opens.map((open, nth) => [`receiver r${nth}`, { receiver: open === undefined ? {} : { open } }]),
  );
  const parts = { intakes } as unknown as Pick<RuntimeParts, "intakes">;
  return { clock, opened: openReceivers(parts, clock, changeSlices(clock), signal) };
}

test("receivers are opened one after another, and those that have nothing to open are passed over", async () => {
  const steps: string[] = [];
  const open =
    (name: string): Open =>
    async () => {
      steps.push(`${name} opens`);
      await Promise.resolve();
      steps.push(`${name} is open`);
    };
  await opening([open("a"), undefined, open("b")], bound()).opened;
  expect(steps).toEqual(["a opens", "a is open", "b opens", "b is open"]);
});

test("one that is not open after 30 s has failed, and is told so", async () => {
  let given: AbortSignal | undefined;
  const endless: Open = (signal) => {
    given = signal;
    return new Promise(() => {});
  };
  const { clock, opened } = opening([endless], bound());
  await clock.advance(29_999);
  expect(given?.aborted).toBe(false);
  await Promise.all([expect(opened).rejects.toThrow("a receiver was not open after 30000 ms"), clock.advance(1)]);
  expect(given?.aborted).toBe(true);
});

test("who has given it up opens nothing, also when nothing has to be opened", async () => {
  const gone = new Error("its caller has gone");
  let opens = 0;
  const count: Open = async () => void opens++;
  for (const open of [count, undefined])
    await expect(opening([open], AbortSignal.abort(gone)).opened).rejects.toBe(gone);
  expect(opens).toBe(0);
});

test("between two of them others have a turn once the slice is over, and not before", async () => {
  const turns: string[] = [];
  const clock = new BoundingClock();
  const intakes = new Map(["a", "b"].map((id) => [id, { receiver: { open: async () => void turns.push(id) } }]));
  const slices = { over: false, next: async () => void turns.push("others"), each: () => Promise.resolve() };
  const parts = { intakes } as unknown as Pick<RuntimeParts, "intakes">;
  await openReceivers(parts, clock, slices as never, bound());
  await openReceivers(parts, clock, { ...slices, over: true } as never, bound());
  expect(turns).toEqual(["a", "b", "a", "others", "b", "others"]);
});
