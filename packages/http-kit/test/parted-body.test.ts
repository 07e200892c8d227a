import { PATIENCE } from "@bridge/tooling/patience";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { ClientMemory } from "@bridge/net-kit";
import { type Clock, systemClock } from "@bridge/ports";
import { Slices, Turns } from "@bridge/ports/internal";
import fc from "fast-check";
import * as v from "valibot";
import { describe, expect, it, vi } from "vitest";
import { type Endpoint, endpointFor, PartedBody } from "../src/index.ts";
import { type Action, startServer } from "./server.ts";

const KIB = 1_024;
const MIB = 1_024 * KIB;
const LINE = `${"x".repeat(KIB - 1)}\n`;
const GET = "GET /api/v1/admin/text HTTP/1.1\r\nHost: a\r\n\r\n";

function textEndpoint(body: () => PartedBody): Endpoint<Action> {
  return endpointFor<Action>()({
    method: "GET",
    path: "/api/v1/admin/text",
    access: "open",
    summary: "Text.",
    answers: { 200: { description: "Text.", contentType: "text/plain", schema: v.string() } },
  }).handle(() => ({ status: 200, body: body() }));
}

/** Lines without end, that tell how many were made and how many texts are not over. */
class Endless {
  made = 0;
  open = 0;
  readonly parts = (): Iterable<string> => this.#lines();

  *#lines(): Generator<string> {
    this.open++;
    try {
      for (;;) {
        this.made++;
        yield LINE;
      }
    } finally {
      this.open--;
    }
  }
}

/** Each look is in a slice of its own. */
function impatient(): Clock {
  let now = 0;
  return { ...systemClock, monotonic: () => (now += 10) };
}

const nobody = { expect: () => {}, failed: () => {} };

async function mute(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  await once(socket, "connect");
  socket.pause();
  socket.write(GET);
  return socket;
}

describe("finding 5.7: text that is made while it is taken", () => {
  it("is the text, whatever its parts are and however short the slices", async () => {
    const parts = fc.array(fc.oneof(fc.string({ unit: "grapheme" }), fc.constant("é".repeat(40_000))), {
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(parts, fc.boolean(), async (texts, short) => {
        const memory = new ClientMemory(MIB);
        const body = new PartedBody({ parts: () => texts, keptBytes: 7, clock: systemClock, memory });
        const answers = [1, 2].map(async () => {
          const answer = await body.answer(new Slices(short ? impatient() : systemClock), nobody);
          return new Response(answer).text();
        });
        expect(await Promise.all(answers)).toEqual([texts.join(""), texts.join("")]);
        expect(memory.bytes).toBe(0);
      }),
      { numRuns: 60 },
    );
  });

  it("is made a part ahead of what is taken at most, one slice a turn", async () => {
    const text = new Endless();
    let turns = 0;
    const slices = new Slices(
      impatient(),
      new Turns((run) => {
        turns++;
        setImmediate(run);
      }),
    );
    const memory = new ClientMemory(MIB);
    const body = new PartedBody({ parts: text.parts, keptBytes: 5, clock: systemClock, memory });
    const answer = await body.answer(slices, nobody);
    if (!(answer instanceof ReadableStream)) throw new Error("all at once");
    const reader = answer.getReader();
    for (let read = 1; read <= 50; read++) {
      await reader.read();
      expect(text.made).toBeLessThanOrEqual(read + 1);
      expect(turns).toBeGreaterThanOrEqual(text.made - 1);
    }
    const { made } = text;
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(text.made).toBe(made);
    expect([text.open, memory.bytes]).toEqual([1, 5]);
    await reader.cancel();
    expect([text.open, memory.bytes]).toEqual([0, 0]);
  });

  it("that is short comes at once, with its length; of HEAD nothing is made", async () => {
    let made = 0;
    const parts = () => (made++, ["a", "b"]);
    const body = () => new PartedBody({ parts, keptBytes: 1, clock: systemClock });
    await using server = await startServer({ endpoints: [textEndpoint(body)] });
    const response = await server.call("/api/v1/admin/text");
    expect([response.headers.get("content-length"), await response.text()]).toEqual(["2", "ab"]);
    const head = await server.call("/api/v1/admin/text", { method: "HEAD" });
    expect([head.status, head.headers.get("content-type"), made]).toEqual([200, "text/plain", 1]);
  });

  it("40 clients that never read leave what is kept below its bound, others are answered, and nothing is left of them", async () => {
    const bound = 8 * MIB;
    const memory = new ClientMemory(bound);
    const text = new Endless();
    let most = 0;
    const parts = function* (): Generator<string> {
      for (const line of text.parts()) {
        most = Math.max(most, memory.bytes);
        yield line;
      }
    };
    let short = false;
    const body = () =>
      new PartedBody({
        parts: short ? () => Array.from({ length: 200 }, () => LINE) : parts,
        keptBytes: MIB,
        clock: systemClock,
        memory,
      });
    // So that nothing but the bound cuts them.
    const clock: Clock = { ...systemClock, every: () => ({ [Symbol.dispose]: () => {} }) };
    await using server = await startServer({ endpoints: [textEndpoint(body)], memory, clock });
    const attackers = await Promise.all(Array.from({ length: 40 }, () => mute(server.port)));
    await vi.waitFor(() => expect(server.listener.stats().connectionsCut).toBeGreaterThanOrEqual(32), PATIENCE);
    expect(text.open).toBeLessThanOrEqual(8);
    short = true;
    expect(await (await server.call("/api/v1/admin/text")).text()).toBe(LINE.repeat(200));
    expect(most).toBeLessThanOrEqual(bound + 2 * MIB);
    for (const socket of attackers) socket.destroy();
    await vi.waitFor(() => expect([text.open, memory.bytes]).toEqual([0, 0]), PATIENCE);
  });

  it.each([
    { what: "that takes nothing for ten seconds", stepMs: 6_000, reads: false },
    { what: "that takes it for more than a minute", stepMs: 9_000, reads: true },
  ])("a client $what is cut, and nothing is left of it", async ({ stepMs, reads }) => {
    const memory = new ClientMemory(8 * MIB);
    const text = new Endless();
    const looks = new Set<() => void>();
    const delays = new Set<{ readonly at: number; readonly end: () => void }>();
    let now = 0;
    const clock: Clock = {
      ...systemClock,
      monotonic: () => now,
      every(_ms, tick) {
        looks.add(tick);
        return { [Symbol.dispose]: () => void looks.delete(tick) };
      },
      delay: (ms) => new Promise((resolve) => void delays.add({ at: now + ms, end: resolve })),
    };
    const body = () => new PartedBody({ parts: text.parts, keptBytes: KIB, clock, memory });
    await using server = await startServer({ endpoints: [textEndpoint(body)], memory, clock });
    const client = await mute(server.port);
    await vi.waitFor(() => expect(text.open).toBe(1), PATIENCE);
    let made = 0;
    await vi.waitFor(() => {
      if (reads) client.resume();
      // However busy the machine is: this client takes so much of it in each step that more is made.
      if (reads && text.open > 0) expect(text.made).toBeGreaterThan(made);
      made = text.made;
      now += stepMs;
      for (const look of looks) look();
      for (const { at, end } of delays) if (at <= now) end();
      expect(text.open).toBe(0);
    }, PATIENCE);
    expect(now).toBeGreaterThan(reads ? 60_000 : 10_000);
    await vi.waitFor(() => expect([server.listener.stats().connections, memory.bytes]).toEqual([0, 0]), PATIENCE);
    expect(server.listener.stats().connectionsCut).toBe(1);
    expect(server.errors).toEqual([]);
    client.destroy();
  });

  it.each([0, 200])("that cannot be made to its end is no whole answer (after %i lines)", async (lines) => {
    const parts = function* (): Generator<string> {
      for (let line = 0; line < lines; line++) yield LINE;
      throw new Error("a bug of ours");
    };
    const body = () => new PartedBody({ parts, keptBytes: 1, clock: systemClock });
    await using server = await startServer({ endpoints: [textEndpoint(body)] });
    if (lines === 0) expect((await server.call("/api/v1/admin/text")).status).toBe(500);
    else
      await expect(server.call("/api/v1/admin/text").then((response) => response.text())).rejects.toThrow("terminated");
    expect(server.errors).toMatchObject([{ error: expect.stringMatching(/^Error\n {4}at .*parts /) as unknown }]);
  });
});
