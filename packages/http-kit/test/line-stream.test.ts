import { hash } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";
import { ManualClock } from "@bridge/tooling/manual-clock";
import { PATIENCE } from "@bridge/tooling/patience";
import * as v from "valibot";
import { describe, expect, it, vi } from "vitest";
import {
  endpointFor,
  type Keyring,
  LINES_TYPE,
  LineStream,
  type LinesSent,
  PERMISSIONS,
  type ServeOptions,
} from "../src/index.ts";
import { type Action, KEY, startServer } from "./server.ts";

const PATH = "/api/v1/admin/lines";
const endpoint = endpointFor<Action>();

interface Producer {
  /** How many batches were asked for. */
  asked: number;
  open: number;
  readonly ended: LinesSent[];
}

/** Lines of `some` until there are `batches` of them, each 16 KiB or what `line` makes. */
async function lineServer({
  batches = Infinity,
  line = (n: number) => ({ n, text: "x".repeat(16_384) }),
  wait,
  ...options
}: Partial<ServeOptions<Action>> & {
  readonly batches?: number;
  readonly line?: (n: number) => object;
  /** Before the second batch. */
  readonly wait?: Promise<void>;
} = {}) {
  const producer: Producer = { asked: 0, open: 0, ended: [] };
  const stream = (): LineStream =>
    new LineStream({
      lines: async function* (signal) {
        producer.open++;
        try {
          for (let n = 0; n < batches && !signal.aborted; n++) {
            producer.asked++;
            if (n === 1) await wait;
            yield [line(n)];
          }
        } finally {
          producer.open--;
        }
      },
      end: ({ lines, sha256 }) => ({ end: true, lines, sha256 }),
      ended: (sent) => {
        producer.ended.push({ ...sent });
        return { outcome: sent.isWhole ? "success" : "failure", detail: { lines: sent.lines } };
      },
    });
  const row = endpoint({
    method: "GET",
    path: PATH,
    access: "admin",
    audit: "thing.read",
    summary: "Many lines.",
    stream: { kind: "lines", most: 3, mostOfCaller: 2, tooMany: "too many lines" },
    answers: { 200: { description: "Many lines.", schema: v.string(), contentType: LINES_TYPE } },
  }).handle(() => ({ status: 200, body: stream() }));
  const server = await startServer({ endpoints: [row], ...options });
  return { ...server, producer };
}

describe("operators 4: streams of lines", () => {
  it("end with a line that has the digest of all bytes before it, however they were divided", async () => {
    await using server = await lineServer({ batches: 20, line: (n) => ({ n, text: "ü".repeat(n * 20_000) }) });
    const text = await (await server.call(PATH)).text();
    const lines = text.split("\n");
    expect(lines).toHaveLength(22);
    const last = text.lastIndexOf("\n", text.length - 2) + 1;
    expect(JSON.parse(lines[20] ?? "")).toEqual({ end: true, lines: 20, sha256: hash("sha256", text.slice(0, last)) });
    await vi.waitFor(
      () =>
        expect(server.producer.ended).toEqual(
          [{ lines: 20, bytes: last, isWhole: true }].map((sent) => ({
            ...sent,
            bytes: Buffer.byteLength(text.slice(0, last)),
          })),
        ),
      PATIENCE,
    );
    expect(server.entries.at(-1)).toMatchObject({ action: "thing.read", outcome: "success", detail: { lines: 20 } });
  });

  it("show what has gone through the veil, and the digest is of that", async () => {
    await using server = await lineServer({
      batches: 1,
      line: () => ({ last_error: "wrong password hunter2" }),
      veil: () => (text) => text.replaceAll("hunter2", "[REDACTED]"),
    });
    const [line, end] = (await (await server.call(PATH)).text()).split("\n");
    expect(line).toBe('{"last_error":"wrong password [REDACTED]"}');
    expect(JSON.parse(end ?? "")).toMatchObject({ sha256: hash("sha256", `${line}\n`) });
  });

  it("ask for nothing more for a client that does not read, which is cut", async () => {
    const clock = new ManualClock();
    await using server = await lineServer({ clock });
    const socket = connect({ port: server.port, host: "127.0.0.1" });
    await once(socket, "connect");
    socket.pause();
    socket.on("error", () => {});
    socket.write(`GET ${PATH} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${KEY}\r\n\r\n`);
    let before = -1;
    await vi.waitFor(() => {
      const { asked } = server.producer;
      const stands = asked === before && asked > 1;
      before = asked;
      expect(stands).toBe(true);
    }, PATIENCE);
    const stoodAt = server.producer.asked;
    for (let second = 0; second < 13; second++) await clock.pass(1_000);
    await vi.waitFor(() => expect(server.producer.open).toBe(0), PATIENCE);
    expect(server.producer.asked).toBe(stoodAt);
    expect(server.producer.ended).toMatchObject([{ isWhole: false }]);
    expect(server.entries.at(-1)).toMatchObject({ outcome: "failure" });
    socket.destroy();
  });

  it("without a last line end with their server and with their key: the connection is cut", async () => {
    let alice: ReturnType<Keyring["identify"]> = "alice";
    const keyring: Keyring = { identify: (key) => (key === KEY ? alice : undefined) };
    for (const why of ["shutdown", "key"] as const) {
      alice = "alice";
      const clock = new ManualClock();
      const held = Promise.withResolvers<void>();
      await using server = await lineServer({ wait: held.promise, keyring, clock });
      const response = await server.call(PATH);
      const text = response.text().then(
        () => "whole",
        () => "cut",
      );
      await vi.waitFor(() => expect(server.producer.asked).toBe(2), PATIENCE);
      if (why === "shutdown") await server.close(AbortSignal.timeout(20_000));
      else {
        alice = { name: "alice", permissions: PERMISSIONS.slice(1) };
        await clock.pass(1_000);
      }
      expect(await text).toBe("cut");
      held.resolve();
      await vi.waitFor(() => expect(server.producer.open).toBe(0), PATIENCE);
      expect(server.producer.ended).toMatchObject([{ isWhole: false }]);
    }
  });

  it("have places of their own: so many a caller and in all, beside other streams", async () => {
    const held = Promise.withResolvers<void>();
    const keyring: Keyring = { identify: (key) => (key.startsWith(KEY) ? key : undefined) };
    await using server = await lineServer({ wait: held.promise, batches: 2, keyring });
    const ask = (name: string) => server.call(PATH, { headers: { "X-API-Key": `${KEY}${name}` } });
    const open = [await ask("a"), await ask("a")];
    const refused = await ask("a");
    expect([refused.status, await refused.json()]).toEqual([503, { error: "too many lines" }]);
    open.push(await ask("b"));
    expect((await ask("b")).status).toBe(503);
    expect(server.app.counts().streams).toEqual([{ kind: "lines", open: 3, lost: 0 }]);
    held.resolve();
    for (const response of open) await response.text();
    await vi.waitFor(
      () => expect(server.app.counts().streams).toEqual([{ kind: "lines", open: 0, lost: 0 }]),
      PATIENCE,
    );
  });
});
