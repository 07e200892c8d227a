import { expect, test } from "vitest";
import { CAUSE_NAMES, type CauseName, courseOf, SEND_TIMEOUT_MS } from "../test/support/progress-causes.ts";

/** What the machine may add to it: the look at the route, and the question. */
const SLACK_MS = 1_500;

const NAMED: Readonly<Record<CauseName, { readonly progress: string; readonly reason: RegExp }>> = {
  "a frozen broker": { progress: "stalled", reason: /binding to-out/ },
  "a half-open connection": { progress: "stalled", reason: /binding to-out/ },
  "a silent target": { progress: "stalled", reason: /binding to-out/ },
  "a target that refuses everything": { progress: "failing", reason: /binding to-out/ },
  "a cancelled consumer": { progress: "waiting", reason: /session rabbit/ },
  "a hung store": { progress: "waiting", reason: /outbox store/ },
};

test.each(CAUSE_NAMES)(
  "finding 8.3: %s is named within twice the send_timeout, and forgotten afterwards",
  async (name) => {
    const { before, named, afterMs, finally: last } = await courseOf(name);
    console.log(`${name}: ${named.progress} after ${Math.round(afterMs)} ms (${named.reason ?? ""}), then ${last}`);
    expect(before).toBe("moving");
    expect(named.progress).toBe(NAMED[name].progress);
    expect(named.reason).toMatch(NAMED[name].reason);
    expect(afterMs).toBeLessThan(2 * SEND_TIMEOUT_MS + SLACK_MS);
    expect(["moving", "idle"]).toContain(last);
  },
);
