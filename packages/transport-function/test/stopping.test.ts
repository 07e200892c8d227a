import { defineBridge } from "@bridge/core";
import { describe, expect, it, vi } from "vitest";
import { PATIENCE } from "@bridge/tooling/patience";
import { handler, source } from "../src/index.ts";

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate);
}

describe("spec 3.3.3: a stop lets handlers end that began while it waited for others", () => {
  it.each(["stop", "shutdown"] as const)("%s", async (how) => {
    const gates: PromiseWithResolvers<void>[] = [];
    const aborted: string[] = [];
    const settled = new Map<string, string>();
    const endless = async function* () {
      for (let n = 0; ; n++) {
        const id = String(n);
        yield { id, payload: id, settled: (outcome: string) => void settled.set(id, outcome) };
        await turns(1);
      }
    };
    const bridge = await defineBridge({
      id: "busy",
      routes: {
        only: {
          from: source(endless()),
          to: handler(async (message, { signal }) => {
            signal.addEventListener("abort", () => aborted.push(message.id));
            const gate = Promise.withResolvers<void>();
            gates.push(gate);
            await gate.promise;
          }),
          policy: { max_in_flight: 2, on_permanent_failure: "drop", on_expired: "drop" },
        },
      },
    }).start();
    const begun = (count: number) => vi.waitFor(() => expect(gates.length).toBeGreaterThanOrEqual(count), PATIENCE);
    await begun(2);
    const stopped = bridge[how]();
    gates[0]?.resolve();
    await begun(3);
    gates[1]?.resolve();
    await turns(200);
    expect(aborted).toEqual([]);
    let open = gates.length;
    for (const gate of gates) gate.resolve();
    await stopped;
    // None of them began after the others had ended.
    expect(gates.length - open).toBeLessThanOrEqual(2);
    open = gates.length;
    await turns(50);
    expect([aborted, gates.length]).toEqual([[], open]);
    expect([...settled.values()]).toEqual(Array.from({ length: open }, () => "delivered"));
    await bridge.shutdown();
  });

  it("also beside a handler of another route that does not end in time", async () => {
    const aborted: string[] = [];
    const begun: PromiseWithResolvers<void>[] = [];
    const held = handler(async (message, { signal }) => {
      const gate = Promise.withResolvers<void>();
      begun.push(gate);
      signal.addEventListener("abort", () => {
        aborted.push(message.id);
        gate.resolve();
      });
      await gate.promise;
    });
    const policy = { on_permanent_failure: "drop", on_expired: "drop", max_in_flight: 1 } as const;
    const numbered = async function* () {
      for (let n = 0; ; n++) yield { id: String(n), payload: "" };
    };
    const never = async function* () {
      yield { id: "stuck", payload: "" };
      await new Promise(() => {});
    };
    const bridge = await defineBridge({
      id: "busy",
      bridge: { quiesce_timeout: "3s" },
      routes: {
        stuck: { from: source(never()), to: handler((_, { signal }) => aborts(signal)), policy },
        busy: { from: source(numbered()), to: held, policy },
      },
    }).start();
    await vi.waitFor(() => expect(begun).toHaveLength(1), PATIENCE);
    const stopped = bridge.stop();
    // Those that come while sources are pulled, and the last one, which came before that was over.
    for (let answered = 0; ; answered++) {
      begun[answered]?.resolve();
      const next = vi.waitFor(() => expect(begun.length).toBeGreaterThan(answered + 1), PATIENCE).then(() => "another");
      next.catch(() => {});
      if ((await Promise.race([next, stopped.then(() => "stopped")])) === "stopped") break;
    }
    expect(aborted).toEqual([]);
    await bridge.shutdown();
  });
});

function aborts(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
}
