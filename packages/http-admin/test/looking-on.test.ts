import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { times } from "@bridge/tooling/long";
import { PATIENCE } from "@bridge/tooling/patience";
import { serverEvents } from "@bridge/tooling/server-events";
import { expect, test, vi } from "vitest";
import { type Admin, ADMIN_KEY, startAdmin } from "./admin.ts";

const HEADERS = { "X-API-Key": ADMIN_KEY };
const RECONNECTED = times(60, 1_000);
const SETTLED = times(3_000, 60_000);
/** As much as a tail shows of a payload. */
const PAYLOAD = new Uint8Array(65_536).fill(0x61);
/** What was settled while nobody read comes to more, in each of the two. */
const MOST_GROWTH_BYTES = 96 * 2 ** 20;

test(`operators 6.1: events that were opened ${RECONNECTED} times leave no handle`, { timeout: 120_000 }, async () => {
  await using admin = await startAdmin();
  const openOnce = async (): Promise<void> => {
    const leaving = new AbortController();
    const answer = await fetch(`${admin.url}/api/v1/admin/events`, {
      headers: HEADERS,
      signal: leaving.signal,
    });
    expect((await serverEvents(answer).next()).value).toMatchObject({ event: "overview" });
    leaving.abort();
  };
  await openOnce();
  const before = handles();
  for (let n = 0; n < RECONNECTED; n++) await openOnce();
  // A connection and a timer of the client may be kept for the next request.
  await vi.waitFor(() => expect(handles()).toBeLessThanOrEqual(before + 4), PATIENCE);
  const open = await Promise.all(
    Array.from({ length: 6 }, () => fetch(`${admin.url}/api/v1/admin/events`, { headers: HEADERS })),
  );
  expect(handles()).toBeGreaterThan(before + 4);
  for (const { body } of open) await body?.cancel();
});

test(
  "operators 6.3: a tail that is not read any more takes no memory, and loses nothing but its own",
  { timeout: 300_000 },
  async () => {
    await using admin = await startAdmin();
    const path = "/api/v1/admin/routes/alarms/tail";
    const socket = await deafClient(admin, `${path}?rate=500&payload=full`);
    const answer = await fetch(`${admin.url}${path}?rate=500&subject_prefix=seldom/`, {
      headers: HEADERS,
    });
    const events = serverEvents(answer);
    const seen: string[] = [];
    const reading = (async (): Promise<void> => {
      for await (const { event, data } of events)
        if (event === "message") seen.push((data as { subject: string }).subject);
    })();
    reading.catch(() => {});
    await vi.waitFor(
      () => expect(admin.events.filter(({ action }) => action === "route.tail.begin")).toHaveLength(2),
      PATIENCE,
    );
    await admin.call("GET", "/bridge");
    const before = process.memoryUsage.rss();
    let most = 0;
    const expected: string[] = [];
    for (let n = 0; n < SETTLED; n++) {
      const subject = n % 100 === 0 ? `seldom/${n}` : "often";
      if (n % 100 === 0) expected.push(subject);
      await admin.supervisor.inject("alarms", { subject, payload: PAYLOAD });
      if (n % 50 === 0) await turn();
      most = Math.max(most, process.memoryUsage.rss());
    }
    await vi.waitFor(() => expect(seen).toEqual(expected), PATIENCE);
    expect(most - before).toBeLessThan(MOST_GROWTH_BYTES);
    socket.destroy();
  },
);

function handles(): number {
  return process.getActiveResourcesInfo().length;
}

/** A client that asks, and reads nothing of the answer. */
async function deafClient({ url }: Admin, path: string): Promise<Socket> {
  const socket = connect({ port: Number(new URL(url).port), host: "127.0.0.1" });
  await once(socket, "connect");
  socket.pause();
  socket.on("error", () => {});
  socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-API-Key: ${ADMIN_KEY}\r\n\r\n`);
  return socket;
}
