import { describe, expect, test } from "vitest";
import { noMosquitto } from "./support/mosquitto.ts";
import { courseOf, SEND_TIMEOUT_MS } from "./support/progress-causes.ts";

/** What the machine may add to it: the look at the route, and the question. */
const SLACK_MS = 1_500;

/** All causes: test-long/progress.test.ts. */
describe.concurrent("finding 8.3: a route in trouble says so within twice its send_timeout, and is well again afterwards", () => {
  test("a target that refuses everything", async () => {
    const { before, named, afterMs, finally: last } = await courseOf("a target that refuses everything");
    expect([before, named.progress]).toEqual(["moving", "failing"]);
    expect(named.reason).toContain("to-out");
    expect(afterMs).toBeLessThan(2 * SEND_TIMEOUT_MS + SLACK_MS);
    expect(last).toBe("moving");
  });

  test.skipIf(noMosquitto)("a frozen broker", async () => {
    const { before, named, afterMs, finally: last } = await courseOf("a frozen broker");
    expect([before, named.progress]).toEqual(["moving", "stalled"]);
    expect(named.reason).toContain("to-out");
    expect(afterMs).toBeLessThan(2 * SEND_TIMEOUT_MS + SLACK_MS);
    expect(["moving", "idle"]).toContain(last);
  });
});
