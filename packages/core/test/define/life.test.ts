import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import {
  type DlqStoreDefinition,
  type DlqStorePlugin,
  type Logger,
  type TransportMaker,
  BridgeError,
  silentLogger,
} from "@bridge/ports";
import { orAborted } from "@bridge/ports/internal";
import { openMemoryDlq } from "@bridge/dlq-memory";
import { memoryOutbox } from "@bridge/memory";
import { memory } from "@bridge/transport-memory";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { type BridgeDefinition, defineBridge } from "../../src/index.ts";
import { bound, dlq } from "./support.ts";

/** A store that says when it is opened and closed, and hangs until it is let go. */
function slowDlq(log: string[], open: Promise<void>, stuck?: Error): DlqStoreDefinition {
  const plugin: DlqStorePlugin = {
    type: "slow",
    reach: "instance",
    options: v.strictObject({}),
    create: () => async (signal) => {
      log.push("opening");
      await Promise.race([
        open,
        new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
      ]);
      const store = openMemoryDlq({ maxEntries: 10 });
      return Object.assign(store, {
        [Symbol.asyncDispose]: async () => {
          if (stuck !== undefined) throw stuck;
          log.push("closed");
        },
      });
    },
  };
  return { kind: "store", plugin, options: {} };
}

function copying(definition: Partial<BridgeDefinition> = {}) {
  const inside = memory();
  const routes = { copy: { from: inside.channel("in"), to: inside.at("out") } };
  return { inside, bridge: defineBridge({ id: "copy", stores: { dlq }, routes, ...definition }) };
}

describe("the start of a bridge in code", () => {
  test("a second start gives the same supervisor, also while the first is under way", async () => {
    const { bridge } = copying();
    const [first, second] = await Promise.all([bridge.start(), bridge.start()]);
    expect(second).toBe(first);
    expect(await bridge.start()).toBe(first);
    await first.shutdown();
  });

  test("after a shutdown it starts anew", async () => {
    const { bridge, inside } = copying();
    const first = await bridge.start();
    const over = first.shutdown();
    const second = await bridge.start({ signal: bound() });
    await over;
    expect(second).not.toBe(first);
    inside.hub.publish("in", { payload: "again" });
    await inside.hub.channel("out").waitForMessages(1, bound());
    await second.shutdown();
  });

  test("a supervisor that is disposed is shut down", async () => {
    const { bridge } = copying();
    const supervisor = await bridge.start();
    await supervisor[Symbol.asyncDispose]();
    expect(supervisor.state().kind).toBe("shutting_down");
  });

  test("no call of a supervisor needs a signal", async () => {
    const { bridge } = copying({ stores: { dlq, outbox: memoryOutbox({ acknowledge_volatile: true }) } });
    const supervisor = await bridge.start();
    expect(await supervisor.redrive([])).toMatchObject({ redriven: 0 });
    expect(await supervisor.deadLetterRecords([])).toMatchObject({ moved: 0 });
    expect(await supervisor.stranding(bridge.config)).toBeUndefined();
    expect(await supervisor.apply(bridge.config)).toBe("applied");
    await supervisor.stop();
    await supervisor.start();
    await supervisor.shutdown();
  });

  test("a signal that has aborted begins nothing", async () => {
    const log: string[] = [];
    const { bridge } = copying({ stores: { dlq: slowDlq(log, Promise.resolve()) } });
    const gone = new Error("gone");
    await expect(bridge.start({ signal: AbortSignal.abort(gone) })).rejects.toBe(gone);
    expect(log).toEqual([]);
  });

  test("a signal that aborts ends the start, and what it opened is closed before the caller is told", async () => {
    const inside = memory();
    const log: string[] = [];
    const caller = new AbortController();
    const gone = new Error("gone");
    const hanging: TransportMaker = {
      type: "hanging",
      plugin: () => ({
        type: "hanging",
        sender: {
          needsSession: false,
          options: v.strictObject({}),
          create: () => ({ send: () => Promise.resolve(), [Symbol.asyncDispose]: async () => void log.push("sender") }),
        },
        receiver: {
          needsSession: false,
          topics: "refused",
          redelivers: "always",
          options: v.strictObject({}),
          create: () => ({
            open: (signal: AbortSignal) =>
              new Promise<void>((_, reject) => {
                log.push("receiver opening");
                signal.addEventListener("abort", () => reject(signal.reason as Error));
                caller.abort(gone);
              }),
            // oxlint-disable-next-line require-yield
            receive: async function* () {},
            [Symbol.asyncDispose]: async () => void log.push("receiver closed"),
          }),
        },
      }),
    };
    const bridge = defineBridge({
      id: "b",
      stores: { dlq: slowDlq(log, Promise.resolve()) },
      routes: { r: { from: { kind: "receiver", transport: hanging, options: {} }, to: inside.at("out") } },
    });
    await expect(bridge.start({ signal: caller.signal })).rejects.toBe(gone);
    expect(log).toContain("closed");
    expect(log).toContain("receiver closed");
  });

  test("a start whose first caller has no patience is begun anew for the second", async () => {
    const log: string[] = [];
    const opens = Promise.withResolvers<void>();
    const { bridge } = copying({ stores: { dlq: slowDlq(log, opens.promise) } });
    const [caller, gone] = [new AbortController(), new Error("gone")];
    const first = bridge.start({ signal: caller.signal });
    const second = bridge.start({ signal: bound() });
    await expect.poll(() => log).toEqual(["opening"]);
    caller.abort(gone);
    await expect(first).rejects.toBe(gone);
    opens.resolve();
    const supervisor = await second;
    expect(supervisor.state().kind).toBe("running");
    await supervisor.shutdown();
    expect(log).toEqual(["opening", "opening", "closed"]);
  });

  test("a second caller who gives up takes the start away from nobody", async () => {
    const opens = Promise.withResolvers<void>();
    const { bridge } = copying({ stores: { dlq: slowDlq([], opens.promise) } });
    const [caller, gone] = [new AbortController(), new Error("gone")];
    const first = bridge.start();
    const second = bridge.start({ signal: caller.signal });
    caller.abort(gone);
    await expect(second).rejects.toBe(gone);
    opens.resolve();
    await (await first).shutdown();
  });

  test("what did not close is not started a second time beside itself", async () => {
    const { bridge } = copying({ stores: { dlq: slowDlq([], Promise.resolve(), new Error("stuck")) } });
    const supervisor = await bridge.start();
    await expect(supervisor.shutdown()).rejects.toThrow("stuck");
    await expect(bridge.start()).rejects.toThrow("the bridge cannot start anew: it did not close before: ");
  });

  test("a start that fails and cannot close what it opened tells both", async () => {
    const store = slowDlq([], Promise.resolve(), new Error("stuck"));
    const { inside, bridge } = copying({ stores: { dlq: store } });
    inside.hub.channel("in").opens.failNext(1, new BridgeError("UNAVAILABLE", "no"));
    const failure = (await bridge.start().catch((error: unknown) => error)) as AggregateError;
    expect(failure.errors.map(String)).toEqual([
      expect.stringContaining("the bridge cannot start: no"),
      expect.stringContaining("stuck"),
    ]);
  });

  test("a start that fails closes what it opened, and can be tried again", async () => {
    const log: string[] = [];
    const { inside, bridge } = copying({ stores: { dlq: slowDlq(log, Promise.resolve()) } });
    inside.hub.channel("in").opens.failNext(1, new BridgeError("UNAVAILABLE", "no"));
    await expect(bridge.start()).rejects.toThrow("the bridge cannot start: ");
    expect(log).toEqual(["opening", "closed"]);
    await (await bridge.start()).shutdown();
  });
});

describe("embedding: what is called last wins", () => {
  for (const prior of ["running", "stopped"] as const)
    test.each([0, 1, 2, 3, 4, 6])(
      `shutdown ends a run that a ${prior} bridge has begun %i microtasks before`,
      async (n) => {
        const { bridge, inside } = copying();
        const supervisor = await bridge.start();
        if (prior === "stopped") await supervisor.stop();
        const ran = bridge.run();
        for (let i = 0; i < n; i++) await Promise.resolve();
        await supervisor.shutdown();
        await orAborted(ran, bound());
        inside.hub.publish("in", { payload: "late" });
        expect(inside.hub.channel("in").unsettled).toBe(0);
      },
    );

  test.each([0, 1, 2, 3, 4, 6])("shutdown refuses a start that was called %i microtasks before", async (n) => {
    const { bridge } = copying();
    const supervisor = await bridge.start();
    await supervisor.stop();
    const started = bridge.start().catch((error: unknown) => error);
    for (let i = 0; i < n; i++) await Promise.resolve();
    await supervisor.shutdown();
    expect(await started).toMatchObject({ name: "OperationError", message: "the bridge is shutting down" });
  });

  test("a start right after the end of a run begins anew, and that end is none of its own", async () => {
    const { bridge } = copying();
    const end = new AbortController();
    const first = await bridge.start();
    const ran = bridge.run({ signal: end.signal });
    end.abort();
    const second = await bridge.start({ signal: bound() });
    await ran;
    expect(second).not.toBe(first);
    expect(second.state().kind).toBe("running");
    await second.shutdown();
  });

  test("the signal of a run ends what that run was bound to, and nothing that was begun after it", async () => {
    const { bridge } = copying();
    const end = new AbortController();
    const first = await bridge.start();
    const ran = bridge.run({ signal: end.signal });
    const over = first.shutdown();
    const second = bridge.start({ signal: bound() });
    end.abort();
    await Promise.all([ran, over]);
    expect((await second).state().kind).toBe("running");
    await (await second).shutdown();
  });

  test("a start does not start again what was stopped after it", async () => {
    const { bridge } = copying();
    const first = bridge.start();
    const second = bridge.start();
    await first.then((supervisor) => supervisor.stop());
    expect((await second).state().kind).toBe("paused");
    await (await second).shutdown();
  });
});

describe("run", () => {
  test("ends with a clean stop when its signal aborts", async () => {
    const { bridge, inside } = copying();
    const end = new AbortController();
    const ran = bridge.run({ signal: end.signal });
    inside.hub.publish("in", { payload: "x" });
    await inside.hub.channel("out").waitForMessages(1, bound());
    end.abort();
    await ran;
    expect(inside.hub.channel("in").unsettled).toBe(0);
  });

  test.each(["SIGTERM", "SIGINT"] as const)(
    "ends with a clean stop at %s, and takes its handlers away",
    async (signal) => {
      const { bridge } = copying();
      const before = process.listenerCount(signal);
      const states: unknown[] = [];
      const ran = bridge.run({ logger: stateLogger(states) });
      await expect.poll(() => states).toContain("running");
      process.emit(signal);
      expect(process.listenerCount(signal)).toBe(before);
      await ran;
      expect(states.at(-1)).toBe("shutting_down");
    },
  );

  test("keeps a process alive until SIGTERM, and lets it end by itself then", async () => {
    const program = new URL("running-program.ts", import.meta.url);
    const child = spawn(process.execPath, ["--conditions=@bridge/source", fileURLToPath(program)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const closed = once(child, "close");
    const lines: string[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      lines.push(line);
      if (line === "running") child.kill("SIGTERM");
    }
    expect(lines).toEqual(["running", "over"]);
    expect(await closed).toEqual([0, null]);
  });

  test("ends when the program has shut the supervisor down, and takes its handlers away", async () => {
    const log: string[] = [];
    const { bridge } = copying({ stores: { dlq: slowDlq(log, Promise.resolve()) } });
    const before = process.listenerCount("SIGTERM");
    const ran = bridge.run();
    const supervisor = await bridge.start({ signal: bound() });
    await supervisor.shutdown();
    await orAborted(ran, bound());
    expect(log).toEqual(["opening", "closed"]);
    expect(process.listenerCount("SIGTERM")).toBe(before);
  });

  test("its end is that of a start that another call has begun", async () => {
    const log: string[] = [];
    const { bridge } = copying({ stores: { dlq: slowDlq(log, new Promise(() => {})) } });
    const [over, reason] = [new AbortController(), new Error("enough")];
    const first = bridge.start();
    const ran = bridge.run({ signal: over.signal });
    over.abort(reason);
    await expect(first).rejects.toBe(reason);
    await ran;
    await expect(bridge.start({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });

  test("its end is that of a bridge which it was starting again", async () => {
    const { bridge, inside } = copying();
    const supervisor = await bridge.start();
    await supervisor.stop();
    const over = new AbortController();
    const ran = bridge.run({ signal: over.signal });
    over.abort();
    await ran;
    expect(supervisor.state().kind).toBe("shutting_down");
    expect(inside.hub.channel("in").unsettled).toBe(0);
  });

  test("tells why it cannot start", async () => {
    const { bridge, inside } = copying();
    inside.hub.channel("in").opens.failNext(1, new BridgeError("UNAVAILABLE", "no"));
    await expect(bridge.run()).rejects.toThrow("the bridge cannot start: ");
  });
});

function stateLogger(states: unknown[]): Logger {
  const logger: Logger = {
    ...silentLogger,
    info: (message, fields) => {
      if (message === "bridge state") states.push(fields?.["to"]);
    },
    child: () => logger,
  };
  return logger;
}
