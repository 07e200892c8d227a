import { PATIENCE } from "@bridge/tooling/patience";
import { type Logger, silentLogger, systemClock } from "@bridge/ports";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import fc from "fast-check";
import {
  AUDIT_ACTIONS,
  type AuditAction,
  type AuditEntry,
  type AuditEvent,
  createAuditor,
  LOOKS,
} from "../src/index.ts";

const entry: AuditEntry = { action: "dlq.purge", actor: "alice", outcome: "success", clientAddr: "10.0.0.7" };

/** One of many that look at the list, each of them seldom. */
const looking = (n: number): AuditEntry => ({ ...entry, action: "dlq.list", actor: `key-${n % 100}` });

function recordingLogger(): { lines: { level: string; message: string; fields: unknown }[]; logger: Logger } {
  const lines: { level: string; message: string; fields: unknown }[] = [];
  const logger: Logger = {
    ...silentLogger,
    info: (message, fields) => lines.push({ level: "info", message, fields }),
    error: (message, fields) => lines.push({ level: "error", message, fields }),
    child: () => logger,
  };
  return { lines, logger };
}

function keep(events: AuditEvent[]) {
  return { name: "list", write: (event: AuditEvent) => void events.push(event) };
}

describe("contract 6: audit events", () => {
  it("spec 6: carries timestamp, action, actor, resource, outcome and detail under their JSON names", async () => {
    const events: AuditEvent[] = [];
    const clock = { ...systemClock, now: () => Date.UTC(2026, 0, 2, 3, 4, 5, 6) };
    await using auditor = createAuditor({ clock, logger: silentLogger, sinks: [keep(events)] });
    await auditor.record({ ...entry, resourceId: "x", detail: { purged: 3 } });
    expect(events).toEqual([
      {
        timestamp: "2026-01-02T03:04:05.006Z",
        action: "dlq.purge",
        actor: "alice",
        resource_type: "dlq",
        resource_id: "x",
        outcome: "success",
        detail: { purged: 3, client_addr: "10.0.0.7" },
      },
    ]);
  });

  it("contract 6: a failure on the monitor has resource_type monitor", async () => {
    const events: AuditEvent[] = [];
    await using auditor = createAuditor({ clock: systemClock, logger: silentLogger, sinks: [keep(events)] });
    await auditor.record({ ...entry, action: "auth.failure", resourceType: "monitor" });
    await auditor.record({ ...entry, action: "auth.failure" });
    expect(events.map((event) => event.resource_type)).toEqual(["monitor", "admin"]);
  });

  it("contract 6: knows every action by name", () => {
    const actions = Object.keys(AUDIT_ACTIONS);
    for (const action of actions) {
      expect(action).toMatch(/^[a-z]+(\.[a-z_]+){1,2}(\.begin)?$/);
      if (action.endsWith(".begin")) expect(actions).toContain(action.slice(0, -".begin".length));
    }
    expect(actions).toEqual(
      expect.arrayContaining(
        "bridge.status bridge.start bridge.stop route.list route.inject dlq.summary dlq.list dlq.read_payload dlq.redrive.begin dlq.redrive dlq.delete dlq.delete_by_filter dlq.purge config.read config.history config.txn.create config.txn.read config.txn.patch config.txn.validate config.txn.commit config.txn.rollback api.describe auth.failure auth.throttled".split(
          " ",
        ),
      ),
    );
  });

  it("contract 6: without other sinks, events are lines of the structured log", async () => {
    const { lines, logger } = recordingLogger();
    await using auditor = createAuditor({ clock: systemClock, logger });
    await auditor.record(entry);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({
      level: "info",
      message: "audit",
      fields: { action: "dlq.purge", actor: "alice" },
    });
  });

  it("refuses two sinks of one name", () => {
    expect(() => createAuditor({ clock: systemClock, logger: silentLogger, sinks: [keep([]), keep([])] })).toThrow(
      /same name/,
    );
  });
});

describe("contract 6: a sink that fails", () => {
  it("never fails the record, is counted and logged, and does not keep the others from theirs", async () => {
    const { lines, logger } = recordingLogger();
    const events: AuditEvent[] = [];
    const sinks = [
      {
        name: "throws",
        write: () => {
          throw new Error("disk full");
        },
      },
      { name: "rejects", write: () => Promise.reject(new Error("gone")) },
      keep(events),
    ];
    await using auditor = createAuditor({ clock: systemClock, logger, sinks });
    await auditor.record(entry);
    await auditor.record(entry);
    expect(events).toHaveLength(2);
    expect(Object.fromEntries(auditor.failures())).toEqual({ throws: 2, rejects: 2, list: 0 });
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatchObject({
      message: "audit sink failed",
      fields: { sink: "throws", action: "dlq.purge", error: "disk full" },
    });
  });

  it("is told when that begins, when it fails in another way, and when it is over; not for each event", async () => {
    const { lines, logger } = recordingLogger();
    let fault: string | undefined;
    const keeps = async (): Promise<void> => {
      if (fault !== undefined) throw new Error(fault);
    };
    const siem = { name: "siem", write: keeps, ready: keeps };
    await using auditor = createAuditor({ clock: systemClock, logger, sinks: [siem] });
    for (fault of [undefined, "full", "full", "full", "read-only", "read-only", undefined, undefined, "full"]) {
      await auditor.hasRoomFor(entry.action);
      await auditor.record(entry);
    }
    expect(lines.map(({ message, fields }) => [message, fields])).toEqual([
      ["audit sink failed", { sink: "siem", error: "full" }],
      ["audit sink failed", { sink: "siem", error: "read-only" }],
      ["audit sink works again", { sink: "siem", unwritten: 5, lasted_ms: expect.any(Number) as number }],
      ["audit sink failed", { sink: "siem", error: "full" }],
    ]);
    expect([...auditor.faults()]).toEqual([["siem", "full"]]);
  });

  describe("by hanging", () => {
    beforeEach(() => void vi.useFakeTimers());
    afterEach(() => void vi.useRealTimers());

    it("holds a caller up for 5 seconds at most, and disposing too", async () => {
      const sinks = [{ name: "hangs", write: () => new Promise<void>(() => {}) }];
      const auditor = createAuditor({ clock: systemClock, logger: silentLogger, sinks });
      const recorded = auditor.record(entry);
      await vi.advanceTimersByTimeAsync(5_000);
      await recorded;
      expect(auditor.failures().get("hangs")).toBe(1);
      const disposed = auditor[Symbol.asyncDispose]();
      await vi.advanceTimersByTimeAsync(5_000);
      await disposed;
      expect(vi.getTimerCount()).toBe(0);
    });

    it("finding 5.2: is given every event of a change, of looking no more than a thousand that it has not finished", async () => {
      const given: string[] = [];
      const write = ({ action }: AuditEvent): Promise<void> => {
        given.push(action);
        return new Promise<void>(() => {});
      };
      const auditor = createAuditor({ clock: systemClock, logger: silentLogger, sinks: [{ name: "hangs", write }] });
      const looked = Array.from({ length: 1_100 }, (_, n) => auditor.record(looking(n)));
      const changed = [auditor.record(entry), auditor.record({ ...entry, refused: true })];
      expect(await auditor.hasRoomFor("dlq.list")).toBe(true);
      const room = auditor.hasRoomFor("dlq.purge");
      await vi.advanceTimersByTimeAsync(5_000);
      await Promise.all(looked);
      expect([await room, ...(await Promise.all(changed))]).toEqual([false, false, true]);
      expect(given).toEqual([...Array.from({ length: 1_000 }, () => "dlq.list"), "dlq.purge"]);
      expect(auditor.failures().get("hangs")).toBe(1_102);
      const disposed = auditor[Symbol.asyncDispose]();
      await vi.advanceTimersByTimeAsync(5_000);
      await disposed;
    });
  });

  it("finding 5.2: what it had no room for is counted in one event as soon as it has, and changes go on", async () => {
    const events: AuditEvent[] = [];
    const finish: (() => void)[] = [];
    const write = (event: AuditEvent): Promise<void> =>
      new Promise((resolve) => finish.push(() => resolve(void events.push(event))));
    const sinks = [{ name: "slow", write }];
    await using auditor = createAuditor({ clock: systemClock, logger: silentLogger, sinks });
    const all = [
      ...Array.from({ length: 1_200 }, (_, n) => auditor.record(looking(n))),
      ...Array.from({ length: 30 }, () => auditor.record({ ...entry, action: "config.read" })),
      auditor.record(entry),
    ];
    const room = auditor.hasRoomFor("dlq.purge");
    while (finish.length > 0) {
      finish.shift()?.();
      await Promise.resolve();
    }
    expect(await room).toBe(true);
    await Promise.all(all);
    await vi.waitFor(() => {
      finish.shift()?.();
      expect(events).toHaveLength(1_002);
    }, PATIENCE);
    expect(events.filter(({ action }) => action === "dlq.purge")).toHaveLength(1);
    expect(events.find(({ action }) => action === "audit.merged")).toMatchObject({
      actor: "bridge",
      detail: { merged: 230, actions: { "dlq.list": 200, "config.read": 30 } },
    });
    expect(auditor.failures().get("slow")).toBe(230);
  });
});

const failure = (mergeKey: string): AuditEntry => ({ ...entry, action: "auth.failure", actor: mergeKey, mergeKey });

describe("contract 6: floods of auth events", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("passes 10 per client and window and merges the rest with detail.count", async () => {
    const events: AuditEvent[] = [];
    await using auditor = createAuditor({ clock: systemClock, logger: silentLogger, sinks: [keep(events)] });
    for (let n = 0; n < 25; n++) await auditor.record(failure("10.0.0.1"));
    for (let n = 0; n < 5; n++) await auditor.record({ ...failure("10.0.0.1"), action: "auth.throttled" });
    await auditor.record(failure("10.0.0.2"));
    expect(events).toHaveLength(11);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(events.slice(11)).toMatchObject([
      { action: "auth.failure", actor: "10.0.0.1", detail: { count: 15, client_addr: "10.0.0.7" } },
      { action: "auth.throttled", actor: "10.0.0.1", detail: { count: 5 } },
    ]);
    await auditor.record(failure("10.0.0.1"));
    expect(events).toHaveLength(14);
    expect(events[13]?.detail).not.toHaveProperty("count");
  });

  it("never merges what operators do", async () => {
    const events: AuditEvent[] = [];
    await using auditor = createAuditor({ clock: systemClock, logger: silentLogger, sinks: [keep(events)] });
    for (let n = 0; n < 50; n++) await auditor.record(entry);
    expect(events).toHaveLength(50);
  });

  it("is bounded however many clients take part", async () => {
    const events: AuditEvent[] = [];
    await using auditor = createAuditor({ clock: systemClock, logger: silentLogger, sinks: [keep(events)] });
    for (let n = 0; n < 100_000; n++) await auditor.record(failure(`client-${n % 50_000}`));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(events).toHaveLength(201);
    expect(events.at(-1)?.detail).toMatchObject({ count: 99_800, several_clients: true });
  });

  it("writes what is still merged when it is disposed", async () => {
    const events: AuditEvent[] = [];
    const auditor = createAuditor({ clock: systemClock, logger: silentLogger, sinks: [keep(events)] });
    for (let n = 0; n < 12; n++) await auditor.record(failure("10.0.0.1"));
    await auditor[Symbol.asyncDispose]();
    expect(events.at(-1)?.detail).toMatchObject({ count: 2 });
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("operators 10: reads of one key and action", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const list: AuditEntry = { ...entry, action: "dlq.list" };
  const started = (events: AuditEvent[]) =>
    createAuditor({ clock: systemClock, logger: silentLogger, sinks: [keep(events)] });

  it("beyond 60 a minute are one event at its end, for each outcome, and the next minute has its own", async () => {
    const events: AuditEvent[] = [];
    await using auditor = started(events);
    for (let n = 0; n < 100; n++) await auditor.record(list);
    for (let n = 0; n < 3; n++) await auditor.record({ ...list, outcome: "failure", detail: { status: 404 } });
    await auditor.record({ ...list, actor: "bob" });
    await auditor.record({ ...list, action: "dlq.summary" });
    expect(events).toHaveLength(62);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(events.slice(62)).toMatchObject([
      { action: "dlq.list", actor: "alice", outcome: "success", detail: { count: 40, client_addr: "10.0.0.7" } },
      { action: "dlq.list", actor: "alice", outcome: "failure", detail: { count: 3, status: 404 } },
    ]);
    await auditor.record(list);
    expect(events).toHaveLength(65);
    expect(events[64]?.detail).not.toHaveProperty("count");
  });

  it("name a resource only when it is the same of all", async () => {
    const events: AuditEvent[] = [];
    const auditor = started(events);
    const job = (resourceId: string, actor = "alice"): AuditEntry => ({
      ...list,
      action: "dlq.job.read",
      actor,
      resourceId,
    });
    for (let n = 0; n < 70; n++) await auditor.record(job("job-1"));
    for (let n = 0; n < 70; n++) await auditor.record(job(`job-${n}`, "bob"));
    await auditor[Symbol.asyncDispose]();
    expect(events.slice(120).map(({ actor, resource_id: id, detail }) => [actor, id, detail["count"]])).toEqual([
      ["alice", "job-1", 10],
      ["bob", "", 10],
    ]);
  });

  it("are bounded however many there are who look", async () => {
    const events: AuditEvent[] = [];
    await using auditor = started(events);
    for (let n = 0; n < 100_000; n++) await auditor.record({ ...list, actor: `key-${n % 20_000}` });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(events).toHaveLength(5_001);
    expect(events.at(-1)?.detail).toMatchObject({ count: 95_000, several_clients: true });
  });

  it("are all accounted for, and every event of a change is kept, once and in its place", async () => {
    const actions = fc.constantFrom(
      ...(Object.keys(AUDIT_ACTIONS) as AuditAction[]).filter((action) => !action.startsWith("auth.")),
    );
    const step = fc.oneof(
      {
        weight: 20,
        arbitrary: fc.record({ action: actions, times: fc.integer({ min: 1, max: 90 }), refused: fc.boolean() }),
      },
      { weight: 1, arbitrary: fc.constant("minute" as const) },
    );
    let merged = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const events: AuditEvent[] = [];
        const auditor = started(events);
        const given: AuditEntry[] = [];
        for (const one of steps) {
          if (one === "minute") await vi.advanceTimersByTimeAsync(60_000);
          else
            for (let n = 0; n < one.times; n++) {
              const { action, refused } = one;
              const next: AuditEntry = { ...entry, action, refused, resourceId: String(given.length) };
              given.push(next);
              await auditor.record(next);
            }
        }
        await auditor[Symbol.asyncDispose]();
        const isChange = ({ action }: { readonly action: AuditAction }): boolean => !LOOKS.has(action);
        expect(events.filter(isChange).map((event) => event.resource_id)).toEqual(
          given.filter(isChange).map(({ resourceId }) => resourceId),
        );
        const counted = new Map<AuditAction, number>();
        for (const { action, detail } of events) {
          const { count } = detail;
          if (count !== undefined) merged++;
          counted.set(action, (counted.get(action) ?? 0) + (typeof count === "number" ? count : 1));
        }
        expect(counted).toEqual(
          new Map([...Map.groupBy(given, ({ action }) => action)].map(([action, all]) => [action, all.length])),
        );
      }),
      { numRuns: 200 },
    );
    expect(merged).toBeGreaterThan(0);
  });

  it("finding 5.2: those that a sink has no room for are counted as many as they are", async () => {
    const events: AuditEvent[] = [];
    const finish: (() => void)[] = [];
    const write = (event: AuditEvent): Promise<void> =>
      new Promise((resolve) => finish.push(() => resolve(void events.push(event))));
    const sinks = [{ name: "slow", write }];
    const auditor = createAuditor({ clock: systemClock, logger: silentLogger, sinks });
    for (let n = 0; n < 100; n++) void auditor.record(list);
    for (let n = 0; n < 1_000; n++) void auditor.record(looking(n));
    await vi.advanceTimersByTimeAsync(60_000);
    const finishing = setInterval(() => finish.shift()?.(), 1);
    const disposed = auditor[Symbol.asyncDispose]();
    await vi.advanceTimersByTimeAsync(2_000);
    await disposed;
    clearInterval(finishing);
    const { detail } = events.find(({ action }) => action === "audit.merged") ?? {};
    // 60 of the first and 940 of the others had room; the 40 that were merged are one event, and stand for 40.
    expect(detail).toMatchObject({ merged: 100, actions: { "dlq.list": 100 } });
  });
});
