import { type LogFields, silentLogger, systemClock } from "@bridge/ports";
import { expect, test } from "vitest";
import { watchDescriptors } from "../src/descriptor-watch.ts";

/** A process whose looks come when the test says so. */
function watched() {
  let now = 0;
  let tick = (): void => {};
  const clock = {
    ...systemClock,
    monotonic: () => now,
    every: (_: number, look: () => void) => ((tick = look), { [Symbol.dispose]: () => (tick = () => {}) }),
  };
  const told: [string, LogFields | undefined][] = [];
  const tell = (line: string, fields?: LogFields): void => void told.push([line, fields]);
  const state: { code: string | undefined } = { code: undefined };
  const take = (): void => {
    if (state.code !== undefined) throw Object.assign(new Error(state.code), { code: state.code });
  };
  const watch = watchDescriptors({ clock, logger: { ...silentLogger, error: tell, info: tell }, take });
  const after = (ms: number, code?: string): void => {
    now += ms;
    state.code = code;
    tick();
  };
  return { after, told, watch };
}

test.each([
  ["EMFILE", /^the process has no file descriptor left: .* allow more \(ulimit -n/],
  ["ENFILE", /^the machine has no file descriptor left: .* allow more/],
])("%s is told with what to do, once while it lasts, and when it is over", (code, line) => {
  const { after, told } = watched();
  after(1_000);
  for (let looks = 0; looks < 200; looks++) after(1_000, code);
  expect(told).toEqual([[expect.stringMatching(line), { code }]]);
  for (let looks = 0; looks < 5; looks++) after(1_000);
  expect(told.slice(1)).toEqual([["there are file descriptors again", undefined]]);
});

test("a process that has one now and then is told of once a minute", () => {
  const { after, told } = watched();
  for (let second = 0; second < 600; second++) after(1_000, second % 2 === 0 ? "EMFILE" : undefined);
  expect(told.filter(([line]) => line.includes("no file descriptor left")).length).toBeLessThanOrEqual(10);
  expect(told.length).toBeLessThanOrEqual(20);
});

test("what else is wrong says nothing, and after the end nobody looks", () => {
  const { after, told, watch } = watched();
  after(1_000, "EACCES");
  watch[Symbol.dispose]();
  after(1_000, "EMFILE");
  expect(told).toEqual([]);
});
