import { PATIENCE } from "@bridge/tooling/patience";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { ClientMemory } from "@bridge/net-kit";
import { type Clock, systemClock } from "@bridge/ports";
import * as v from "valibot";
import { describe, expect, it, vi } from "vitest";
import { endpointFor } from "../src/index.ts";
import { type Action, startServer } from "./server.ts";

const KIB = 1_024;
const MIB = 1_024 * KIB;
const PATH = "/api/v1/admin/large";
const GET = `GET ${PATH} HTTP/1.1\r\nHost: a\r\n\r\n`;

/** A server with an answer of so many bytes, about, and a clock that the test holds. */
async function largeServer({ bytes, limit }: { readonly bytes: number; readonly limit: number }) {
  let now = 0;
  const looks = new Set<() => void>();
  const ends = new Set<{ readonly at: number; readonly run: () => void }>();
  const clock: Clock = {
    ...systemClock,
    monotonic: () => now,
    every(_ms, tick) {
      looks.add(tick);
      return { [Symbol.dispose]: () => void looks.delete(tick) };
    },
    after(ms, run) {
      const end = { at: now + ms, run };
      ends.add(end);
      return { [Symbol.dispose]: () => void ends.delete(end) };
    },
  };
  const memory = new ClientMemory(limit);
  const large = endpointFor<Action>()({
    method: "GET",
    path: PATH,
    access: "open",
    summary: "Large.",
    answers: { 200: { description: "Text.", schema: v.object({ text: v.string() }) } },
  }).handle(() => ({ status: 200, body: { text: "x".repeat(bytes) } }));
  const server = await startServer({ endpoints: [large], memory, clock });
  return {
    server,
    memory,
    /** Times that somebody waits for. */
    ends,
    pass(ms: number): void {
      now += ms;
      for (const look of looks) look();
      for (const { at, run } of ends) if (at <= now) run();
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** A client that reads nothing until it is resumed. */
async function mute(port: number): Promise<{ readonly socket: Socket; readonly received: () => number }> {
  const socket = connect(port, "127.0.0.1");
  let received = 0;
  socket.on("error", () => {});
  await once(socket, "connect");
  socket.on("data", (bytes: Buffer) => (received += bytes.length));
  socket.pause();
  socket.write(GET);
  return { socket, received: () => received };
}

describe("an answer that is larger than a part", () => {
  it("comes with its length, whole", async () => {
    await using own = await largeServer({ bytes: 5 * MIB, limit: 16 * MIB });
    const response = await own.server.call(PATH);
    const text = await response.text();
    expect(text).toBe(JSON.stringify({ text: "x".repeat(5 * MIB) }));
    expect(response.headers.get("content-length")).toBe(String(text.length));
    const head = await own.server.call(PATH, { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
    await vi.waitFor(() => expect(own.memory.bytes).toBe(0), PATIENCE);
  });

  it("is not cut as long as its client takes it, however long that takes", async () => {
    await using own = await largeServer({ bytes: 32 * MIB, limit: 16 * MIB });
    const slow = await mute(own.server.port);
    let passedMs = 0;
    while (slow.received() < 32 * MIB) {
      const before = slow.received();
      slow.socket.resume();
      await vi.waitFor(() => expect(slow.received()).toBeGreaterThan(Math.min(before + 6 * MIB, 32 * MIB)), {
        ...PATIENCE,
        interval: 1,
      });
      slow.socket.pause();
      own.pass(9_000);
      passedMs += 9_000;
    }
    expect(passedMs).toBeGreaterThan(40_000);
    expect(own.server.listener.stats().connectionsCut).toBe(0);
    slow.socket.destroy();
  });

  it("is cut when its client takes nothing for 10 s, which the log says once a minute with the path", async () => {
    await using own = await largeServer({ bytes: 32 * MIB, limit: 256 * MIB });
    const warn = (): readonly unknown[] => own.server.warnings;
    const cutOne = async (cut: number): Promise<void> => {
      const client = await mute(own.server.port);
      await vi.waitFor(() => expect(own.memory.bytes).toBeGreaterThan(0), PATIENCE);
      await vi.waitFor(() => {
        own.pass(4_000);
        expect(own.server.listener.stats().connectionsCut).toBe(cut);
      }, PATIENCE);
      expect(own.memory.bytes).toBe(0);
      client.socket.destroy();
    };
    await cutOne(1);
    const line = { message: "answers were cut: their clients did not take them", path: PATH };
    expect(warn()).toEqual([{ ...line, cut: 1 }]);
    await cutOne(2);
    expect(warn()).toHaveLength(1);
    own.pass(60_000);
    await cutOne(3);
    expect(warn()).toEqual([
      { ...line, cut: 1 },
      { ...line, cut: 2 },
    ]);
  });

  it("reaches each of many that ask at once, though all of them together are more than is kept", async () => {
    await using own = await largeServer({ bytes: 3 * MIB, limit: 8 * MIB });
    let most = 0;
    const lengths = await Promise.all(
      Array.from({ length: 12 }, async () => {
        const response = await own.server.call(PATH);
        most = Math.max(most, own.memory.bytes);
        return (await response.text()).length;
      }),
    );
    expect(new Set(lengths)).toEqual(new Set([3 * MIB + '{"text":""}'.length]));
    expect(most).toBeLessThanOrEqual(8 * MIB);
    expect(own.server.listener.stats().connectionsCut).toBe(0);
  });

  it("and than all that is kept for clients: one at a time, the next waits, and is told to come again after 10 s", async () => {
    await using own = await largeServer({ bytes: 32 * MIB, limit: MIB });
    const first = await mute(own.server.port);
    await vi.waitFor(() => expect(own.server.listener.stats().connections).toBe(1), PATIENCE);
    // The first one has its room when nobody waits for it any more.
    await vi.waitFor(() => expect(own.ends.size).toBe(0), PATIENCE);
    const late = own.server.call(PATH);
    await vi.waitFor(() => expect(own.ends.size).toBe(1), PATIENCE);
    for (const { run } of own.ends) run();
    const refused = await late;
    expect([refused.status, refused.headers.get("Retry-After")]).toEqual([503, "5"]);
    expect(await refused.json()).toEqual({
      error: "too many take large answers: there was no room within 10 s, try again",
    });
    const next = own.server.call(PATH).then((response) => response.text());
    await vi.waitFor(() => expect(own.ends.size).toBe(1), PATIENCE);
    first.socket.resume();
    expect((await next).length).toBeGreaterThan(32 * MIB);
    await vi.waitFor(() => expect(first.received()).toBeGreaterThan(32 * MIB), PATIENCE);
    expect(own.server.listener.stats().connectionsCut).toBe(0);
    first.socket.destroy();
  });

  it("to 40 clients that never read leaves room for those who do, and nothing is left of them", async () => {
    await using own = await largeServer({ bytes: MIB, limit: 16 * MIB });
    const attackers = await Promise.all(Array.from({ length: 40 }, () => mute(own.server.port)));
    let most = 0;
    const polite = own.server.call(PATH).then((response) => response.text());
    await vi.waitFor(() => {
      most = Math.max(most, own.memory.bytes);
      // Whoever waits has 10 s, and whoever takes nothing as well.
      own.pass(3_000);
      expect(own.server.listener.stats().connections).toBeLessThan(20);
    }, PATIENCE);
    expect(most).toBeLessThanOrEqual(16 * MIB);
    const answered = await polite;
    expect(answered).toMatch(/^\{"(text|error)":/);
    expect((await (await own.server.call(PATH)).text()).length).toBeGreaterThan(MIB);
    for (const { socket } of attackers) socket.destroy();
    await vi.waitFor(() => expect(own.memory.bytes).toBe(0), PATIENCE);
  });
});
