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
  const looks = vi.spyOn(Redaction.prototype, "show").mock.calls;
  let [before, most] = [0, 0];
  const endTurn = (): number => {
    most = Math.max(most, looks.length - before);
    before = looks.length;
    return most;
  };
  const clock: Clock = {
    ...systemClock,
    monotonic: () => systemClock.monotonic() + looks.length * WORK_MS,
    turn: (run) => {
      endTurn();
      systemClock.turn(run);
    },
  };
  return { clock, looks, mostInATurn: endTurn };
}

const veiled = instead("veil", (text) => text);

describe.each([
  ["as they are", {}],
  ["behind a veil", { seenAs: veiled }],
])("large messages that come together are looked through in a turn of the event loop each, %s", (_name, seen) => {
  afterEach(() => void vi.restoreAllMocks());

  it("in a tail", async () => {
    const { clock, looks, mostInATurn } = laborious();
    await using admin = await startAdmin({ keys, redact, clock, ...seen });
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
    expect([looks.length, mostInATurn()]).toEqual([COUNT, 1]);
    leaving.abort();
  });

  it("in an export", async () => {
    const { clock, looks, mostInATurn } = laborious();
    await using admin = await startAdmin({ keys, redact, clock, ...seen });
    for (let n = 0; n < COUNT; n++) {
      const { envelope, ...rest } = sound(`e${n}`);
      await keep(admin, { ...rest, envelope: { ...envelope, payload: PAYLOAD } });
    }
    const { lines } = await exported(admin, "?payload=true", OPERATOR);
    expect(lines).toHaveLength(COUNT);
    expect([looks.length, mostInATurn()]).toEqual([COUNT, 1]);
  });
});
