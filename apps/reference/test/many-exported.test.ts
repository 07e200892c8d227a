import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { deadLetterId } from "@bridge/core";
import { openFileDlq } from "@bridge/dlq-file";
import { type DeadLetter, silentLogger, systemClock } from "@bridge/ports";
import { times } from "@bridge/tooling/long";
import { expect, test } from "vitest";
import { ask } from "./support/ask.ts";
import { ADMIN_KEY, Folder, HTTP } from "./support/folder.ts";
import { Stage } from "./support/stage.ts";

const ENTRIES = times(14_000, 1_000_000);
/** A megabyte a second, up to here; the rest as fast as it comes. */
const [PART_BYTES, PART_MS] = [100_000, 100];
const SLOW_BYTES = times(1_500_000, 120_000_000);
const PAYLOAD_BYTES = times(8_000, 400);
/** An export takes more, and in `pnpm test:long` ten times as much. */
const MOST_GROWTH_BYTES = 96 * 2 ** 20;
const PATH = "/api/v1/admin/dlq/export?payload=true";
const BEGAN = Date.UTC(2026, 0, 1);

interface Sent {
  readonly lines: number;
  readonly bytes: number;
  readonly last: string;
  /** Of all before the last line. */
  readonly sha256: string;
}

test(
  "operators 4: an export of many entries to a slow client keeps the memory of the bridge flat, and others are served meanwhile",
  { timeout: times(120_000, 3_600_000) },
  async () => {
    const folder = new Folder();
    await using stage = await filled(folder);
    const admin = await stage.bridge.url("admin");
    const lookOver = new AbortController();
    let served = 0;
    const looking = (async (): Promise<void> => {
      while (!lookOver.signal.aborted) {
        const told = await ask(`${admin}/api/v1/admin/dlq`, { headers: { "X-API-Key": ADMIN_KEY } });
        expect(told.status).toBe(200);
        served++;
        await sleep(20);
      }
    })();
    // As fast as it comes, so that what it takes to do this at all is there.
    const first = await taken(await begun(admin + PATH), 0);
    const before = rssOf(stage);
    let most = before;
    const sent = await taken(await begun(admin + PATH), SLOW_BYTES, () => {
      most = Math.max(most, rssOf(stage));
    });
    lookOver.abort();
    await looking;
    expect(JSON.parse(sent.last)).toEqual({ v: 1, end: true, count: ENTRIES, sha256: sent.sha256 });
    expect(sent.lines).toBe(ENTRIES);
    expect([sent.bytes, sent.sha256]).toEqual([first.bytes, first.sha256]);
    expect(sent.bytes).toBeGreaterThan(MOST_GROWTH_BYTES);
    expect(most - before).toBeLessThan(MOST_GROWTH_BYTES);
    expect(served).toBeGreaterThan(10);
  },
);

test(
  "operators 4: an export whose bridge is killed half-way has no last line, and its client hears of it",
  { timeout: times(120_000, 3_600_000) },
  async () => {
    const folder = new Folder();
    await using stage = await filled(folder);
    const response = await begun((await stage.bridge.url("admin")) + PATH);
    let bytes = 0;
    let text = "";
    const torn = (async (): Promise<void> => {
      for await (const chunk of response as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        text = (text + chunk.toString("latin1")).slice(-1_000);
        if (bytes > 1_000_000) stage.bridge.kill("SIGKILL");
      }
    })();
    await expect(torn).rejects.toMatchObject({ code: "ECONNRESET" });
    expect(bytes).toBeGreaterThan(1_000_000);
    expect(text).not.toContain('"end":true');
  },
);

async function begun(url: string): Promise<IncomingMessage> {
  const [response] = (await once(get(url, { headers: { "X-API-Key": ADMIN_KEY } }), "response")) as [IncomingMessage];
  expect(response.statusCode).toBe(200);
  return response;
}

/** Takes an answer, the first bytes of it slowly. */
async function taken(response: IncomingMessage, slowBytes: number, look: () => void = () => {}): Promise<Sent> {
  const digest = createHash("sha256");
  let [lines, bytes, due, rest] = [0, 0, PART_BYTES, Buffer.alloc(0)];
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // The last line is known only when nothing comes behind it.
    const all = Buffer.concat([rest, chunk]);
    const keep = all.lastIndexOf("\n", all.length - 2) + 1;
    const whole = all.subarray(0, keep);
    digest.update(whole);
    for (let at = whole.indexOf("\n"); at >= 0; at = whole.indexOf("\n", at + 1)) lines++;
    rest = all.subarray(keep);
    if (bytes < due) continue;
    look();
    due = bytes + PART_BYTES;
    if (bytes < slowBytes) await sleep(PART_MS);
  }
  look();
  return { lines, bytes, last: rest.toString(), sha256: digest.digest("hex") };
}

/** A bridge on a file with {@link ENTRIES}. */
async function filled(folder: Folder): Promise<Stage> {
  const path = join(folder.path, "dlq.db");
  {
    await using store = openFileDlq({ path, clock: systemClock, logger: silentLogger });
    const { signal } = new AbortController();
    for (let begin = 0; begin < ENTRIES; begin += 1_000)
      await Promise.all(
        Array.from({ length: Math.min(1_000, ENTRIES - begin) }, (_, at) => store.put(entryOf(begin + at), signal)),
      );
  }
  const document = `${HTTP}
bridge: {id: exporting}
stores: {dlq: {type: file, options: {path: "${path}"}}}
`;
  return Stage.run(document, {}, folder);
}

function entryOf(number: number): DeadLetter {
  const about = { sourceId: "in", correlationId: `c-${number}`, subject: `orders/${number}` };
  const failedAt = BEGAN + number * 1_000;
  const envelope = {
    ...about,
    id: `m-${number}`,
    contentType: "text/plain",
    headers: { number: `${number}` },
    payload: Buffer.alloc(PAYLOAD_BYTES, `${number} `),
    receivedAt: failedAt,
  };
  return {
    ...about,
    id: deadLetterId("orders", "to-shop", envelope),
    routeId: "orders",
    bindingId: "to-shop",
    reason: "the message itself was refused",
    category: "rejected",
    errorCode: "REJECTED",
    lastError: `no such order ${number}`,
    failedAt,
    attempts: 1,
    envelope,
  };
}

function rssOf({ bridge }: Stage): number {
  const [, kib = "0"] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${bridge.pid}/status`, "utf8")) ?? [];
  return Number(kib) * 1_024;
}
