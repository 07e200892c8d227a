import { BridgeError, type DeadLetter, type DlqStore } from "@bridge/ports";
import { SpoiledDeadLetter } from "@bridge/ports/internal";
import { describe, expect, it } from "vitest";
import { type Admin, ADMIN_KEY, instead, startAdmin } from "./admin.ts";
import { deadLetter, keep } from "./bridge.ts";
import { digestOf, exported, sound } from "./lines.ts";

const keys = {
  adminApiKey: ADMIN_KEY,
  adminApiKeys: {
    vera: { key: "vera-key-0123456789", role: "viewer" },
    olga: { key: "olga-key-0123456789", role: "operator" },
  },
} as const;

async function fill(admin: Admin, count: number, change: (n: number) => Partial<DeadLetter> = () => ({})) {
  const failedAt = Date.UTC(2026, 0, 1);
  for (let n = 0; n < count; n++) await keep(admin, sound(`e${n}`, { failedAt: failedAt + n, ...change(n) }));
}

describe("operators 4: export", () => {
  it("a line an entry, oldest first, and a last line with their number and the digest of all before it", async () => {
    await using admin = await startAdmin();
    await fill(admin, 450);
    const before = Date.now();
    const all = await exported(admin);
    expect(all.status).toBe(200);
    expect(all.headers.get("Content-Type")).toBe("application/x-ndjson");
    expect(all.headers.get("Content-Disposition")).toContain("attachment");
    expect(Date.parse(all.headers.get("X-Bridge-As-Of") ?? "")).toBeGreaterThanOrEqual(before);
    expect(all.lines).toHaveLength(450);
    expect(all.lines.map(({ entry }) => entry["envelope_id"])).toEqual(
      Array.from({ length: 450 }, (_, n) => `envelope-e${n}`),
    );
    expect(all.end).toMatchObject({ v: 1, end: true, count: 450, sha256: digestOf(all.text) });
    expect(all.lines[0]).toEqual({
      v: 1,
      entry: expect.objectContaining({ id: sound("e0").id, route_id: "alarms", reason: "permanent failure" }) as object,
      envelope: {
        id: "envelope-e0",
        source_id: "alarms",
        subject: "boiler/7",
        content_type: "text/plain",
        headers: deadLetter("e0").envelope.headers,
        correlation_id: "correlation-e0",
        received_at: "2026-01-01T11:00:00.000Z",
        ordering_key: "boiler",
      },
      payload: "AP8K",
    });
  });

  it("operators 12.10: without payload=true there are neither payloads nor envelopes", async () => {
    await using admin = await startAdmin({ keys });
    await fill(admin, 3);
    const { lines, end } = await exported(admin, "", "vera-key-0123456789");
    expect([lines.length, end?.count]).toEqual([3, 3]);
    for (const line of lines) expect(Object.keys(line)).toEqual(["v", "entry"]);
  });

  it("of nothing is a last line alone", async () => {
    await using admin = await startAdmin();
    const { lines, end } = await exported(admin);
    expect([lines, end?.count]).toEqual([[], 0]);
  });

  it("the last line warns of what failed later than the clock here says, and is taken by an import", async () => {
    await using admin = await startAdmin();
    const hour = 3_600_000;
    await fill(admin, 5, (n) => (n < 2 ? {} : { failedAt: Date.now() + hour }));
    const { text, end } = await exported(admin);
    const warning =
      "3 failed later than the clock of this instance says: clocks differ, and these are not in the export";
    expect(end).toMatchObject({ count: 2, warning });
    expect((await exported(admin, `?before=${new Date().toISOString()}`)).end).not.toHaveProperty("warning");
    expect(await admin.call("POST", "/dlq/import", text)).toMatchObject({ status: 200, body: { present: 2 } });
  });

  it.each([
    ["fails", () => Promise.reject(new BridgeError("UNAVAILABLE", "the store is away"))],
    ["does not answer", () => new Promise<void>(() => {})],
  ])(
    "is whole when the store %s at the look for what is ahead of the clock, and says that this is not known",
    async (_, look) => {
      await using admin = await startAdmin();
      await fill(admin, 3);
      let pages = 0;
      admin.faults.store = (method) => (method === "page" && ++pages === 2 ? look() : undefined);
      const { text, lines, end } = await exported(admin);
      expect(pages).toBe(2);
      expect(lines).toHaveLength(3);
      const warning = expect.stringContaining("could not be looked at in time") as string;
      expect(end).toEqual({ v: 1, end: true, count: 3, sha256: digestOf(text), warning });
      expect(admin.done()).toMatchObject([
        { action: "dlq.export", outcome: "success", detail: { count: 3, whole: true } },
      ]);
    },
  );

  it("is whole when the store has been closed by the look for what is ahead of the clock", async () => {
    await using admin = await startAdmin();
    const { envelope } = deadLetter("e0");
    // More than lies on its way to a client that does not read: the store has told all before that look.
    await fill(admin, 1, () => ({ envelope: { ...envelope, payload: Buffer.alloc(24 * 1024 * 1024) } }));
    const headers = { "X-API-Key": ADMIN_KEY };
    const response = await fetch(`${admin.url}/api/v1/admin/dlq/export?payload=true`, { headers });
    const chunks: Uint8Array[] = [];
    for await (const chunk of response.body ?? []) {
      if (chunks.push(chunk) === 1) await admin.supervisor.shutdown();
    }
    expect(admin.supervisor.dlq()).toBeUndefined();
    const last = Buffer.concat(chunks).toString().trimEnd().split("\n").at(-1) ?? "";
    expect(JSON.parse(last)).toMatchObject({ end: true, count: 1 });
  });

  it("whose client goes at that look has lost no entry, is recorded as not whole, and is no error of the bridge", async () => {
    await using admin = await startAdmin();
    await fill(admin, 3);
    const looks = Promise.withResolvers<void>();
    let pages = 0;
    admin.faults.store = (method) => {
      if (method !== "page" || ++pages !== 2) return undefined;
      looks.resolve();
      return new Promise<void>(() => {});
    };
    const gone = new AbortController();
    const headers = { "X-API-Key": ADMIN_KEY };
    const response = await fetch(`${admin.url}/api/v1/admin/dlq/export`, { headers, signal: gone.signal });
    await looks.promise;
    gone.abort();
    await response.body?.cancel().catch(() => {});
    await expect
      .poll(() => admin.done())
      .toMatchObject([{ action: "dlq.export", outcome: "failure", detail: { count: 3, whole: false } }]);
    expect(admin.errors).toEqual([]);
  });

  it("operators 1.2: takes the filter of lists, and nothing that it does not know", async () => {
    await using admin = await startAdmin();
    await fill(admin, 10, (n) =>
      n % 2 === 0 ? { subject: "even" } : { errorCode: "FORBIDDEN", category: "permanent" },
    );
    expect((await exported(admin, "?error_code=FORBIDDEN")).end?.count).toBe(5);
    expect((await exported(admin, "?subject_prefix=ev&payload=true")).end?.count).toBe(5);
    expect((await exported(admin, "?before=2026-01-01T00:00:00.003Z")).end?.count).toBe(3);
    for (const query of ["?payload=yes", "?limit=3", "?error_code=NO"])
      expect(await admin.call("GET", `/dlq/export${query}`)).toMatchObject({ status: 400 });
  });

  it("is of what has failed before it began, whatever is written or deleted meanwhile", async () => {
    await using admin = await startAdmin();
    await fill(admin, 300);
    let asked = 0;
    admin.faults.store = async (method) => {
      if (method !== "page" || ++asked !== 2) return;
      admin.faults.store = undefined;
      await keep(admin, sound("late", { failedAt: Date.now() + 1_000 }));
      await admin.supervisor.dlq()?.admin?.delete([sound("e299").id], AbortSignal.timeout(10_000));
    };
    const { lines, end } = await exported(admin);
    expect(asked).toBe(2);
    expect(lines.map(({ entry }) => entry["envelope_id"])).toEqual(
      Array.from({ length: 299 }, (_, n) => `envelope-e${n}`),
    );
    expect(end?.count).toBe(299);
  });

  it("one that cannot go on has no last line, and its connection is cut", async () => {
    await using admin = await startAdmin();
    await fill(admin, 300);
    let asked = 0;
    admin.faults.store = (method) => {
      if (method === "page" && ++asked === 2) throw new BridgeError("UNAVAILABLE", "the store is away");
    };
    const headers = { "X-API-Key": ADMIN_KEY };
    const response = await fetch(`${admin.url}/api/v1/admin/dlq/export`, { headers });
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow(TypeError);
    await expect
      .poll(() => admin.done())
      .toMatchObject([{ action: "dlq.export", outcome: "failure", detail: { count: 200, whole: false } }]);
  });

  it("a store that is away at the beginning is 503, and says why", async () => {
    await using admin = await startAdmin();
    admin.faults.store = () => {
      throw new BridgeError("UNAVAILABLE", "the store is away");
    };
    expect(await admin.call("GET", "/dlq/export")).toMatchObject({ status: 503, body: { error: "the store is away" } });
  });

  it("an entry that cannot be read is a line that says so, and hides no other", async () => {
    await using admin = await startAdmin();
    await fill(admin, 3);
    let asked = 0;
    admin.faults.store = (method) => {
      if (method === "get" && ++asked === 2) throw new BridgeError("INTERNAL", "not as it was written");
    };
    const { lines, end } = await exported(admin);
    expect(lines.map((line) => Object.keys(line))).toEqual([
      ["v", "entry", "envelope", "payload"],
      ["v", "entry", "error"],
      ["v", "entry", "envelope", "payload"],
    ]);
    expect(end?.count).toBe(3);
  });

  it("spec 4.12.2: all that its pages have shown is accounted for: given, gone, or a line that says why not; the last one says how many", async () => {
    const fates = ["given", "deleted", "lost", "spoiled", "failed again"] as const;
    const fateOf = new Map<string, (typeof fates)[number]>();
    const asked = new Set<string>();
    await using admin = await startAdmin({
      seenAs: (supervisor) => instead("dlq", () => seen(supervisor.dlq()))(supervisor),
    });
    const entries = Array.from({ length: 60 }, (_, n) => sound(`e${n}`, { failedAt: Date.UTC(2026, 0, 1) + n }));
    await keep(admin, ...entries);
    for (const [n, { id }] of entries.entries()) fateOf.set(id, fates[n % fates.length] ?? "given");
    function seen(dlq: DlqStore | undefined): DlqStore | undefined {
      return dlq && Object.assign(Object.create(dlq) as DlqStore, { get: (id: string) => given(dlq, id) });
    }
    async function given(dlq: DlqStore, id: string): Promise<DeadLetter | undefined> {
      const signal = AbortSignal.timeout(10_000);
      const isFirst = !asked.has(id);
      asked.add(id);
      const fate = fateOf.get(id);
      if (fate === "lost" || (fate === "failed again" && isFirst)) return undefined;
      if (fate === "spoiled") throw new SpoiledDeadLetter(id);
      if (fate === "deleted") await dlq.admin?.delete([id], signal);
      return dlq.get(id, signal);
    }
    const { text, lines, end } = await exported(admin);
    const kept = entries.filter(({ id }) => fateOf.get(id) !== "deleted");
    expect(lines.map(({ entry }) => entry.id)).toEqual(kept.map(({ id }) => id));
    for (const line of lines) {
      const isGiven = ["given", "failed again"].includes(fateOf.get(line.entry.id) ?? "");
      expect(Object.keys(line)).toEqual(isGiven ? ["v", "entry", "envelope", "payload"] : ["v", "entry", "error"]);
    }
    const warning = "24 could not be read: their lines say why, and cannot be imported";
    expect(end).toEqual({ v: 1, end: true, count: 48, sha256: digestOf(text), warning });
    // A list of heads has all of them.
    expect((await exported(admin, "")).end).not.toHaveProperty("warning");
    await keep(admin, sound("late", { failedAt: Date.now() + 3_600_000 }));
    expect((await exported(admin)).end).toMatchObject({
      count: 48,
      warning: expect.stringMatching(/^24 .*; 1 failed/) as string,
    });
    const answer = await admin.call("POST", "/dlq/import", text);
    expect(answer).toMatchObject({ status: 207, body: { failed: 24 } });
    const { errors } = answer.body as { readonly errors: readonly { readonly error: string }[] };
    expect(new Set(errors.map(({ error }) => error))).toEqual(
      new Set(["error: its entry could not be read when it was exported"]),
    );
  });

  it("operators 5.2, 5.3: payloads need payload.read, and are shown whole only with payload.raw", async () => {
    await using admin = await startAdmin({ keys, redact: { fields: ["password"] } });
    const { envelope } = deadLetter("e1");
    await keep(
      admin,
      sound("json", {
        envelope: {
          ...envelope,
          payload: Buffer.from('{"password":"canary-1","n":1}'),
          headers: { authorization: "canary-2" },
        },
      }),
      sound("text", {
        failedAt: Date.UTC(2026, 0, 2),
        envelope: { ...envelope, id: "other", payload: Buffer.from("canary-3") },
      }),
    );
    expect(
      await admin.call("GET", "/dlq/export?payload=true", undefined, {
        headers: { "X-API-Key": "vera-key-0123456789" },
      }),
    ).toMatchObject({
      status: 403,
      body: { needs: "payload.read" },
    });
    const shown = await exported(admin, "?payload=true", "olga-key-0123456789");
    expect(shown.text).not.toContain("canary");
    expect(Buffer.from(shown.lines[0]?.payload ?? "", "base64").toString()).toBe('{"password":"[REDACTED]","n":1}');
    expect(shown.lines).toMatchObject([
      { redacted: true, envelope: { headers: { authorization: "[REDACTED]" } } },
      { redacted: true, payload_sha256: expect.any(String) as string },
    ]);
    const whole = await exported(admin);
    expect(Buffer.from(whole.lines[1]?.payload ?? "", "base64").toString()).toBe("canary-3");
  });

  it("two at once a key and four in all; others are told to come again", async () => {
    await using admin = await startAdmin({ keys });
    await fill(admin, 300);
    const held = Promise.withResolvers<void>();
    // The first page of each comes at once, and the second one is waited for.
    let pages = 0;
    admin.faults.store = (method) => (method === "page" && ++pages % 2 === 0 ? held.promise : undefined);
    const open: Response[] = [];
    const begin = async (key: string): Promise<void> => {
      open.push(await fetch(`${admin.url}/api/v1/admin/dlq/export`, { headers: { "X-API-Key": key } }));
      await expect.poll(() => pages).toBe(2 * open.length);
    };
    const [vera, olga] = ["vera-key-0123456789", "olga-key-0123456789"];
    await begin(vera);
    await begin(vera);
    const refused = { status: 503, body: { error: "too many exports" } };
    const shown = (key: string) => ({ headers: { "X-API-Key": key } });
    const answer = await admin.call("GET", "/dlq/export", undefined, shown(vera));
    expect(answer).toMatchObject(refused);
    expect(Number(answer.headers.get("Retry-After"))).toBeGreaterThan(0);
    await begin(olga);
    await begin(olga);
    expect(await admin.call("GET", "/dlq/export")).toMatchObject(refused);
    held.resolve();
    for (const response of open) expect((await response.text()).split("\n")).toHaveLength(302);
    expect((await exported(admin, "")).end?.count).toBe(300);
  });

  it("is recorded when it begins and when it has ended, with how much left", async () => {
    await using admin = await startAdmin();
    await fill(admin, 3);
    await exported(admin, "?route_id=alarms&payload=true");
    const asked = { filter: { route_id: "alarms" }, payload: true };
    await expect
      .poll(() => admin.events)
      .toMatchObject([
        { action: "dlq.export.begin", outcome: "pending", detail: asked },
        { action: "dlq.export", outcome: "success", detail: { ...asked, count: 3, whole: true } },
      ]);
    await fetch(`${admin.url}/api/v1/admin/dlq/export`, { method: "HEAD", headers: { "X-API-Key": ADMIN_KEY } });
    expect(admin.events.at(-1)).toMatchObject({ action: "dlq.export", outcome: "success" });
  });

  it("works while the bridge is stopped, and says where there is nothing to work on", async () => {
    await using stopped = await startAdmin();
    await fill(stopped, 1);
    await stopped.call("POST", "/bridge/stop");
    expect((await exported(stopped)).end?.count).toBe(1);
    await using none = await startAdmin({ store: "none" });
    expect(await none.call("GET", "/dlq/export")).toMatchObject({
      status: 404,
      body: { error: "no DLQ store configured" },
    });
  });
});
