import type { BridgeConfig } from "@bridge/config";
import {
  BridgeError,
  type Logger,
  type Receiver,
  type ReceiverContext,
  silentLogger,
  type TransportPlugin,
} from "@bridge/ports";
import fc from "fast-check";
import { expect, test } from "vitest";
import { mayFollow } from "../../src/supervisor/transitions.ts";
import type { SupervisorState } from "../../src/supervisor/contract.ts";
import { turn } from "../support/fake-clock.ts";
import { bound, memoryBridge } from "../support/memory-bridge.ts";

/** One request at a bridge, and how long until the next: none waits for the one before. */
const request = fc.record({
  do: fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom("start" as const, "stop" as const) },
    { weight: 6, arbitrary: fc.constantFrom("apply" as const, "moved" as const) },
    { weight: 2, arbitrary: fc.constantFrom("unbuildable" as const, "unopenable" as const, "aborted" as const) },
    { weight: 1, arbitrary: fc.constantFrom("unclosable" as const, "shutdown" as const) },
  ),
  turns: fc.nat(6),
});

test("whatever is asked in whatever order: one receiver of an identity, the newest configuration, states by the table", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 25 }), async (requests) => {
      let open = 0;
      let mostOpen = 0;
      let failClose = false;
      const states: SupervisorState["kind"][] = ["unwired"];
      const { hub, supervisor, config } = memoryBridge({
        quiesceTimeoutMs: 1,
        config: (plain) => ({
          ...plain,
          receivers: plain.receivers.map((part) => ({ ...part, transport: "counted" })),
        }),
        transports: (memory) => [
          {
            type: "counted",
            receiver: {
              needsSession: false,
              topics: "refused",
              redelivers: "always",
              options: memory.sender.options,
              create: (options, context) => {
                const inner = receiverOf(memory, options, context);
                let isOpen = false;
                return {
                  open: async (signal) => {
                    await inner.open?.(signal);
                    isOpen = true;
                    mostOpen = Math.max(mostOpen, ++open);
                  },
                  receive: (signal) => inner.receive(signal),
                  [Symbol.asyncDispose]: async () => {
                    await inner[Symbol.asyncDispose]();
                    if (failClose && isOpen) throw new Error("will not close");
                    if (isOpen) open--;
                    isOpen = false;
                  },
                };
              },
            },
          },
        ],
        logger: watching((to) => states.push(to)),
      });
      let version = config.configVersion;
      /** Those that were asked for and may be in force, newest last. */
      const asked: BridgeConfig[] = [config];
      const answers: Promise<unknown>[] = [];
      /** Those that were answered with `applied` or `accepted`, by when they were asked for. */
      const taken = new Map<number, BridgeConfig>();
      const apply = (next: BridgeConfig, signal: AbortSignal): void => {
        const taking = supervisor.apply(next, signal).then(() => taken.set(next.configVersion, next));
        answers.push(taking.catch(() => {}));
      };
      for (const { do: what, turns } of requests) {
        const next = variant(config, ++version, what);
        switch (what) {
          case "start":
            answers.push(supervisor.start(bound()).catch(() => {}));
            break;
          case "stop":
            answers.push(supervisor.stop(bound()).catch(() => {}));
            break;
          case "shutdown":
            answers.push(supervisor.shutdown().catch(() => {}));
            break;
          case "unclosable":
            failClose = true;
            break;
          case "aborted": {
            const impatient = new AbortController();
            apply(next, impatient.signal);
            impatient.abort(new Error("no patience"));
            break;
          }
          case "unopenable":
            hub.channel("shut").opens.failNext(1, new BridgeError("UNAVAILABLE", "taken"));
            apply(next, bound());
            break;
          case "unbuildable":
          case "apply":
          case "moved":
            apply(next, bound());
            break;
        }
        if (what !== "start" && what !== "stop" && what !== "shutdown" && what !== "unclosable") asked.push(next);
        for (let i = 0; i < turns; i++) await turn();
        expect(mostOpen).toBeLessThanOrEqual(1);
        expect(asked).toContain(supervisor.config());
      }
      await Promise.all(answers);
      for (let i = 0; i < 50; i++) await turn();
      if (supervisor.state().kind !== "terminal" && supervisor.view().refusedChange === undefined) {
        const newest = taken.get(Math.max(...taken.keys()));
        expect(supervisor.config()).toBe(newest ?? config);
      }
      // One that nobody interferes with is the newest, and settles whatever was left.
      hub.channel("shut").opens.clear();
      const last = variant(config, ++version, "apply");
      const answer = await supervisor.apply(last, bound()).catch(() => "refused");
      const { kind } = supervisor.state();
      if (kind === "running") expect(answer).toBe("applied");
      if (kind === "paused" || kind === "unwired" || kind === "shutting_down") expect(answer).toBe("accepted");
      if (kind === "terminal") expect(answer).toBe("refused");
      else expect(supervisor.config()).toBe(last);
      expect(["running", "paused", "unwired", "shutting_down", "terminal"]).toContain(kind);
      if (!failClose) expect(open).toBe(kind === "running" ? 1 : 0);
      expect(supervisor.stats().unaccounted).toBe(0);
      for (const [index, to] of states.slice(1).entries()) expect(mayFollow(states[index] ?? "unwired", to)).toBe(true);
      await supervisor.shutdown().catch(() => {});
      if (!failClose) expect(open).toBe(0);
    }),
    { numRuns: 150 },
  );
}, 120_000);

function variant(config: BridgeConfig, configVersion: number, what: string): BridgeConfig {
  const channel = what === "unopenable" ? "shut" : what === "moved" ? "moved" : "in";
  return {
    ...config,
    configVersion,
    senders: what === "unbuildable" ? [] : config.senders,
    receivers: config.receivers.map((part) => ({ ...part, options: { ...(part.options as object), channel } })),
    bindings: config.bindings.map((binding) => ({ ...binding, address: `out-${configVersion}` })),
  };
}

function receiverOf(memory: TransportPlugin, options: unknown, context: ReceiverContext): Receiver {
  if (memory.receiver === undefined) throw new Error("the memory transport has receivers");
  return memory.receiver.create(options, context);
}

/** Hears of each change of state. */
function watching(entered: (to: SupervisorState["kind"]) => void): Logger {
  const logger: Logger = {
    ...silentLogger,
    child: () => logger,
    info: (message, fields) => {
      if (message === "bridge state") entered(fields?.["to"] as SupervisorState["kind"]);
    },
  };
  return logger;
}
