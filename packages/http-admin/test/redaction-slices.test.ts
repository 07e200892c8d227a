import { type Clock, systemClock } from "@bridge/ports";
import { PATIENCE } from "@bridge/tooling/patience";
import { serverEvents } from "@bridge/tooling/server-events";
import { afterEach, describe, expect, it, vi } from "vitest";
import { ADMIN_KEY, instead, startAdmin } from "./admin.ts";
import { keep } from "./bridge.ts";
import { exported, sound } from "./lines.ts";
import { Redaction } from "../src/redaction.ts";

const OPERATOR = "operator-key-0123456789";
const keys = { adminApiKey: ADMIN_KEY, adminApiKeys: { olga: { key: OPERATOR, role: "operator" } } } as const;
const redact = { fields: ["password"] };
const COUNT = 8;
const PAYLOAD = Buffer.from(JSON.stringify({ password: "canary", text: "x".repeat(60_000) }));
/** Longer than any slice. */
const WORK_MS = 5;

/** A clock on which to look through a message takes long, and the most of them that one turn of the event loop has looked through. */
function laborious() {
  const { calls } = vi.spyOn(Redaction.prototype, "show").mock;
  // What an earlier file has left behind may still look at others.
  const count = (): number => calls.filter(([{ payload }]) => payload.length === PAYLOAD.length).length;
  let [before, most] = [0, 0];
  const endTurn = (): void => {
    const now = count();
    most = Math.max(most, now - before);
    before = now;
  };
  const clock: Clock = {
    ...systemClock,
    monotonic: () => systemClock.monotonic() + count() * WORK_MS,
    turn: (run) => {
      endTurn();
      systemClock.turn(run);
    },
  };
  const looks = (): readonly [all: number, inATurn: number] => {
    endTurn();
    return [before, most];
  };
  return { clock, looks };
}

const veiled = instead("veil", (text) => text);

describe.each([
  ["as they are", {}],
  ["behind a veil", { seenAs: veiled }],
])("large messages that come together are looked through in a turn of the event loop each, %s", (_name, shown) => {
  afterEach(() => void vi.restoreAllMocks());

  it("in a tail", async () => {
    const { clock, looks } = laborious();
    await using admin = await startAdmin({ keys, redact, clock, ...shown });
    const leaving = new AbortController();
    const answer = await fetch(`${admin.url}/api/v1/admin/routes/alarms/tail?payload=full`, {
      headers: { "X-API-Key": OPERATOR },
      signal: leaving.signal,
    });
    let opened = false;
    const events = serverEvents(answer, () => (opened = true));
    const first = events.next();
    await vi.waitFor(() => expect(opened).toBe(true), PATIENCE);
    await admin.call("GET", "/bridge");
    const injected = Array.from({ length: COUNT }, () =>
      admin.supervisor.inject("alarms", { subject: "boiler/7", payload: PAYLOAD }),
    );
    await Promise.all(injected);
    const data = { redacted: true, payload_bytes: PAYLOAD.length };
    expect(await first).toMatchObject({ value: { data } });
    for (let n = 1; n < COUNT; n++) expect(await events.next()).toMatchObject({ value: { data } });
    expect(looks()).toEqual([COUNT, 1]);
    leaving.abort();
  });

  it("in an export", async () => {
    const { clock, looks } = laborious();
    await using admin = await startAdmin({ keys, redact, clock, ...shown });
    for (let n = 0; n < COUNT; n++) {
      const { envelope, ...rest } = sound(`e${n}`);
      await keep(admin, { ...rest, envelope: { ...envelope, payload: PAYLOAD } });
    }
    const { lines } = await exported(admin, "?payload=true", OPERATOR);
    expect(lines).toHaveLength(COUNT);
    expect(looks()).toEqual([COUNT, 1]);
  });
});
