import { expect, test } from "vitest";
import { GaveWay, StopsWaiting } from "../../src/supervisor/stops-waiting.ts";

test("whoever asks gives way for as long as any stop waits", () => {
  const stops = new StopsWaiting();
  expect(stops.signal.aborted).toBe(false);
  stops.begin();
  stops.begin();
  expect(stops.signal.reason).toBeInstanceOf(GaveWay);
  stops.end();
  expect(stops.signal.aborted).toBe(true);
  stops.end();
  expect(stops.signal.aborted).toBe(false);
});
