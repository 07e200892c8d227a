import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { ManualClock } from "@bridge/tooling/manual-clock";
import { times } from "@bridge/tooling/long";
import { PATIENCE } from "@bridge/tooling/patience";
import { type ServerEvent, serverEvents } from "@bridge/tooling/server-events";
import { Hono } from "hono";
import * as v from "valibot";
import { describe, expect, it, vi } from "vitest";
import {
  createKeyring,
  type Endpoint,
  endpointFor,
  EventStream,
  type Keyring,
  PERMISSIONS,
  type ServeOptions,
  streamAnswer,
  type StreamEvent,
} from "../src/index.ts";
import { type Action, KEY, startServer } from "./server.ts";

const TIMES = times(100, 1_000);
const PATH = "/api/v1/admin/ticks";
const endpoint = endpointFor<Action>();
const tick = v.object({ n: v.number() });

/** Events that a test sends, to whoever takes them: each taker has what came since it took the one before. */
class Ticks {
  /** How many events were asked for, over all streams. */
  asked = 0;
  open = 0;
  /** What comes next to those who wait. */
  newest: readonly StreamEvent[] = [];
  #next = Promise.withResolvers<void>();

  send(...events: readonly object[]): void {
    this.newest = events.map((data) => ({ event: "tick", data }));
    const { resolve } = this.#next;
    this.#next = Promise.withResolvers();
    resolve();
  }

  async *events(signal: AbortSignal): AsyncGenerator<readonly StreamEvent[]> {
    this.open++;
    const ended = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    try {
      for (;;) {
        this.asked++;
        await Promise.race([this.#next.promise, ended]);
        if (signal.aborted) return;
        yield this.newest;
      }
    } finally {
      this.open--;
    }
  }
}

/** On which each look at it takes half of a short slice. */
class BusyClock extends ManualClock {
  turns = 0;
  #looks = 0;

  override monotonic(): number {
    return this.#looks++ * 0.05;
  }

  override turn(run: () => void): void {
    this.turns++;
    super.turn(run);
  }
}

function row(stream: () => EventStream): Endpoint<Action> {
  return endpoint({
    method: "GET",
    path: PATH,
    access: "admin",
    audit: "thing.read",
    begin: { action: "thing.batch" },
    summary: "What ticks.",
    stream: { kind: "ticks", events: { tick } },
    answers: { 200: streamAnswer("What ticks.") },
  }).handle(() => ({ status: 200, body: stream() }));
}

async function tickServer(options: Partial<ServeOptions<Action>> & { readonly stream?: () => EventStream } = {}) {
  const ticks = new Ticks();
  const { stream = () => new EventStream({ events: (signal) => ticks.events(signal) }), ...rest } = options;
  const server = await startServer({ endpoints: [row(stream)], ...rest });
  return { ...server, ticks };
}

/** What comes to an end within the patience of tests. */
async function all(answer: Response): Promise<readonly ServerEvent[]> {
  const events: ServerEvent[] = [];
  for await (const event of serverEvents(answer)) events.push(event);
  return events;
}

/** A client that has asked for the stream and reads nothing of it. */
async function deafClient(port: number, path = PATH): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1" });
  await once(socket, "connect");
  socket.pause();
  socket.on("error", () => {});
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${KEY}\r\n\r\n`);
  return socket;
}

describe("operators 6.1: streams", () => {
  it("make text of what comes together in many short turns of the event loop", async () => {
    const clock = new BusyClock();
    await using server = await tickServer({ clock });
    const events = serverEvents(await server.call(PATH));
    await vi.waitFor(() => expect(server.ticks.asked).toBe(1), PATIENCE);
    const before = clock.turns;
    server.ticks.send(...Array.from({ length: 40 }, (_, n) => ({ n })));
    for (let n = 0; n < 40; n++) expect(await events.next()).toMatchObject({ value: { data: { n } } });
    expect(clock.turns - before).toBeGreaterThanOrEqual(10);
    await events.return(undefined);
  });

  it("tell whoever makes the events how long their text has held the event loop, before more is asked for", async () => {
    const told: (number | "asked")[] = [];
    const stream = (): EventStream =>
      new EventStream({
        events: async function* () {
          for (const count of [1, 100]) {
            told.push("asked");
            yield Array.from({ length: count }, (_, n) => ({ event: "tick", data: { n } }));
          }
          told.push("asked");
        },
        used: ({ usedMs }) => told.push(usedMs),
      });
    await using server = await tickServer({ clock: new BusyClock(), stream });
    await all(await server.call(PATH));
    expect(told).toEqual(["asked", expect.any(Number), "asked", expect.any(Number), "asked"]);
    const [, one, , hundred] = told as number[];
    expect(one).toBeGreaterThan(0);
    expect(hundred).toBeGreaterThan(20 * (one ?? 0));
  });

  it("send each event as it comes, with what proxies need to hand it on", async () => {
    await using server = await tickServer();
    const answer = await server.call(PATH);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "content-type": "text/event-stream",
      "cache-control": "no-store",
      "x-accel-buffering": "no",
    });
    await vi.waitFor(() => expect(server.ticks.asked).toBe(1), PATIENCE);
    const events = serverEvents(answer);
    server.ticks.send({ n: 1 }, { n: 2 });
    expect(await events.next()).toMatchObject({ value: { event: "tick", data: { n: 1 } } });
    expect(await events.next()).toMatchObject({ value: { event: "tick", data: { n: 2 } } });
  });

  it("cost nothing before somebody takes them: HEAD opens none, and counts as none", async () => {
    await using server = await tickServer();
    const answer = await server.call(PATH, { method: "HEAD", headers: { "X-API-Key": KEY } });
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
    expect([server.ticks.open, server.entries.map(({ action }) => action)]).toEqual([0, ["thing.batch", "thing.read"]]);
  });

  it("give a sign of life each 15 s", async () => {
    const clock = new ManualClock();
    await using server = await tickServer({ clock });
    const answer = await server.call(PATH);
    let comments = 0;
    const reading = serverEvents(answer, () => void comments++).next();
    await vi.waitFor(() => expect(server.ticks.asked).toBe(1), PATIENCE);
    await vi.waitFor(() => expect(comments).toBe(1), PATIENCE);
    await clock.pass(14_000);
    expect(comments).toBe(1);
    await clock.pass(1_000);
    await vi.waitFor(() => expect(comments).toBe(2), PATIENCE);
    await clock.pass(15_000);
    await vi.waitFor(() => expect(comments).toBe(3), PATIENCE);
    server.ticks.send({ n: 1 });
    expect(await reading).toMatchObject({ value: { data: { n: 1 } } });
  });

  it("say that there is nothing more to come, and why when something went wrong, of which the log says more", async () => {
    const bad = async function* (): AsyncGenerator<readonly StreamEvent[]> {
      yield [{ event: "tick", data: { n: 1 } }];
      throw new TypeError("cannot read what is not there");
    };
    await using server = await tickServer({ stream: () => new EventStream({ events: bad }) });
    expect(await all(await server.call(PATH))).toEqual([
      { event: "tick", data: { n: 1 } },
      { event: "bye", data: { why: "failed" } },
    ]);
    expect(server.errors).toMatchObject([{ error: expect.stringMatching(/^TypeError\n {4}at /) as string }]);
    const good = async function* (): AsyncGenerator<readonly StreamEvent[]> {
      yield [{ event: "tick", data: { n: 1 } }];
    };
    await using other = await tickServer({ stream: () => new EventStream({ events: good }) });
    expect((await all(await other.call(PATH))).at(-1)).toEqual({ event: "bye", data: { why: "over" } });
  });

  it("show what has gone through the veil", async () => {
    await using server = await tickServer({ veil: () => (text) => text.replaceAll("hunter2", "[REDACTED]") });
    const answer = await server.call(PATH);
    await vi.waitFor(() => expect(server.ticks.asked).toBe(1), PATIENCE);
    server.ticks.send({ n: 1, error: "wrong password hunter2" });
    expect((await serverEvents(answer).next()).value).toMatchObject({ data: { error: "wrong password [REDACTED]" } });
  });

  it("are 8 a caller and 64 in all; the next one is told to come again", async () => {
    const keys = Array.from({ length: 9 }, (_, n) => ({ name: `k${n}`, key: `key-${n}-long-enough` }));
    await using server = await tickServer({ keyring: createKeyring(keys) });
    const ask = (n: number) => server.call(PATH, { headers: { "X-API-Key": keys[n]?.key ?? "" } });
    const open: Response[] = [];
    for (let n = 0; n < 8; n++) for (let of8 = 0; of8 < 8; of8++) open.push(await ask(n));
    expect(open.map(({ status }) => status)).toEqual(open.map(() => 200));
    for (const n of [0, 8]) {
      const refused = await ask(n);
      expect([refused.status, refused.headers.get("Retry-After"), await refused.json()]).toEqual([
        503,
        "10",
        { error: "too many streams" },
      ]);
    }
    // Before that one began, nothing is in the audit log but its refusal.
    expect(server.entries.filter(({ action }) => action === "thing.batch")).toHaveLength(64);
    await open[0]?.body?.cancel();
    await vi.waitFor(async () => {
      const again = await ask(8);
      const { status } = again;
      if (status !== 200) await again.text();
      expect(status).toBe(200);
    }, PATIENCE);
  });

  it("of 64 that are open, those that read get the last event and all have ended within a second of a shutdown", async () => {
    const keys = Array.from({ length: 8 }, (_, n) => ({ name: `k${n}`, key: `key-${n}-long-enough` }));
    keys.push({ name: "alice", key: KEY });
    await using server = await tickServer({ keyring: createKeyring(keys) });
    const open = await Promise.all(
      Array.from({ length: 56 }, (_, n) => server.call(PATH, { headers: { "X-API-Key": keys[n % 7]?.key ?? "" } })),
    );
    const reading = Promise.all(open.map(all));
    const deaf = await Promise.all(Array.from({ length: 8 }, () => deafClient(server.port)));
    await filled(server, 64, 8);
    const began = performance.now();
    await server.close(AbortSignal.timeout(20_000));
    const tookMs = performance.now() - began;
    for (const events of await reading) expect(events.at(-1)).toEqual({ event: "bye", data: { why: "shutdown" } });
    expect(tookMs).toBeLessThan(1_000);
    expect(server.ticks.open).toBe(0);
    for (const socket of deaf) socket.destroy();
  });

  it("end within a second of a shutdown though the client does not read, which is cut", async () => {
    await using server = await tickServer();
    const socket = await deafClient(server.port);
    await filled(server);
    const began = performance.now();
    await server.close(AbortSignal.timeout(20_000));
    expect(performance.now() - began).toBeLessThan(1_000);
    expect(server.listener.stats().connectionsCut).toBe(1);
    socket.destroy();
  });

  it("end within a second of the removal of their key, and of each permission that it had", async () => {
    const clock = new ManualClock();
    let alice: ReturnType<Keyring["identify"]> = "alice";
    const keyring: Keyring = { identify: (key) => (key === KEY ? alice : undefined) };
    await using server = await tickServer({ keyring, clock });
    for (const now of [undefined, { name: "alice", permissions: PERMISSIONS.slice(1) }, "bob"]) {
      alice = "alice";
      const answer = await server.call(PATH);
      const events = all(answer);
      await vi.waitFor(() => expect(server.ticks.open).toBe(1), PATIENCE);
      await clock.pass(5_000);
      expect(server.ticks.open).toBe(1);
      alice = now;
      await clock.pass(1_000);
      expect(await events).toEqual([{ event: "bye", data: { why: "key" } }]);
    }
  });

  it("of callers whom the program knows end after five minutes, so that they are asked again", async () => {
    const clock = new ManualClock();
    await using server = await tickServer({
      clock,
      keyring: undefined,
      authenticate: () => ({ name: "alice", permissions: ["read"] }),
    });
    const events = all(await server.call(PATH));
    await vi.waitFor(() => expect(server.ticks.open).toBe(1), PATIENCE);
    for (let second = 0; second < 300; second++) await clock.pass(1_000);
    expect(await events).toEqual([{ event: "bye", data: { why: "expired" } }]);
  });

  it("ask for nothing more for a client that does not read, which is cut and loses only its own", async () => {
    const clock = new ManualClock();
    await using server = await tickServer({ clock });
    const socket = await deafClient(server.port);
    const other = await server.call(PATH);
    const reading = all(other);
    await filled(server, 2);
    const stuckAt = server.ticks.asked;
    // The one that reads goes on, and nothing is made for the other.
    for (let n = 0; n < 50; n++) {
      server.ticks.send({ n });
      await vi.waitFor(() => expect(server.ticks.asked).toBeGreaterThan(stuckAt + n), PATIENCE);
    }
    expect(server.ticks.asked).toBeLessThanOrEqual(stuckAt + 51);
    for (let second = 0; second < 9; second++) await clock.pass(1_000);
    expect(server.listener.stats().connectionsCut).toBe(0);
    for (let second = 0; second < 3; second++) await clock.pass(1_000);
    expect(server.listener.stats().connectionsCut).toBe(1);
    await vi.waitFor(() => expect(server.ticks.open).toBe(1), PATIENCE);
    await server.close(AbortSignal.timeout(20_000));
    expect((await reading).at(-1)).toEqual({ event: "bye", data: { why: "shutdown" } });
    socket.destroy();
  });

  it("on a carrier that is not ours, end when nobody has read for a minute", async () => {
    const clock = new ManualClock();
    const ticks = new Ticks();
    const ended: string[] = [];
    const stream = new EventStream({ events: (signal) => ticks.events(signal), ended: () => ({ read: false }) });
    await using server = await startServer({
      endpoints: [row(() => stream)],
      clock,
      audit: {
        record: async ({ action, detail }) => ended.push(`${action} ${JSON.stringify(detail)}`) > 0,
        hasRoomFor: async () => true,
      },
    });
    const outer = new Hono().route("/", server.app);
    const answer = await outer.request(PATH, { headers: { "X-API-Key": KEY } });
    await clock.pass(59_000);
    expect(ended).toEqual(["thing.batch undefined"]);
    await clock.pass(1_000);
    expect(ended).toEqual(["thing.batch undefined", 'thing.read {"read":false}']);
    await expect(answer.text()).rejects.toThrow("it was not read");
  });

  it("are recorded when they have ended, if they have something to say of it", async () => {
    const ticks = new Ticks();
    let sent = 0;
    const stream = new EventStream({ events: (signal) => ticks.events(signal), ended: () => ({ sent }) });
    await using server = await startServer({ endpoints: [row(() => stream)] });
    const answer = await server.call(PATH);
    await vi.waitFor(() => expect(ticks.asked).toBe(1), PATIENCE);
    expect(server.entries).toMatchObject([{ action: "thing.batch", outcome: "pending" }]);
    sent = 7;
    await answer.body?.cancel();
    await vi.waitFor(() => expect(server.entries).toHaveLength(2), PATIENCE);
    expect(server.entries[1]).toMatchObject({ action: "thing.read", outcome: "success", detail: { sent: 7 } });
  });

  it(`opened and closed ${TIMES} times leave nothing`, async () => {
    const clock = new ManualClock();
    await using server = await tickServer({ clock });
    const before = clock.ticking;
    for (let n = 0; n < TIMES; n++) await (await server.call(PATH)).body?.cancel();
    await vi.waitFor(() => expect(server.ticks.open).toBe(0), PATIENCE);
    await vi.waitFor(() => expect(clock.ticking).toBe(before), PATIENCE);
    expect(server.app.counts().streams).toEqual([{ kind: "ticks", open: 0, lost: 0 }]);
  });

  it("stand in the OpenAPI document, with what each event is", async () => {
    await using server = await tickServer();
    const document = (await (await server.call("/api/v1/openapi.json")).json()) as never;
    expect(document).toMatchObject({
      paths: {
        [PATH]: {
          get: {
            responses: {
              200: {
                content: {
                  "text/event-stream": {
                    schema: { type: "string" },
                    "x-events": {
                      tick: { type: "object", properties: { n: { type: "number" } } },
                      bye: { properties: { why: { enum: ["shutdown", "key", "expired", "over", "failed"] } } },
                    },
                  },
                },
              },
              503: { description: expect.stringContaining("too many streams") as string },
            },
          },
        },
      },
    });
  });
});

/** Sends until `deaf` of so many streams ask for nothing any more. */
async function filled({ ticks }: { readonly ticks: Ticks }, streams = 1, deaf = 1): Promise<void> {
  await vi.waitFor(() => expect(ticks.asked).toBe(streams), PATIENCE);
  const wide = { n: 0, text: "x".repeat(60_000) };
  for (let quiet = 0; quiet < 5;) {
    const before = ticks.asked;
    ticks.send(wide);
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    quiet = ticks.asked - before <= streams - deaf ? quiet + 1 : 0;
  }
}
