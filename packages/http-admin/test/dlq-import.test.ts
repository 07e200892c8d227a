import { hash } from "node:crypto";
import { announce } from "@bridge/tooling/announce";
import { times } from "@bridge/tooling/long";
import { BridgeError } from "@bridge/ports";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Admin, ADMIN_KEY, startAdmin } from "./admin.ts";
import { deadLetter, keep } from "./bridge.ts";
import { exported, importLines, type Line, sound } from "./lines.ts";

const RUNS = times(40, 500);
const soon = (): AbortSignal => AbortSignal.timeout(10_000);

/** Lines of entries that are in no store. */
async function linesOf(...names: readonly string[]): Promise<readonly string[]> {
  await using admin = await startAdmin();
  await keep(admin, ...names.map((name, n) => sound(name, { failedAt: Date.UTC(2026, 0, 1) + n })));
  const { text } = await exported(admin);
  return text.split("\n").slice(0, -2);
}

function changed(line: string, change: (parts: Line) => object): string {
  return JSON.stringify(change(JSON.parse(line) as Line));
}

function bodyOf({ body }: { readonly body: unknown }) {
  return body as { imported: number; present: number; failed: number; errors?: { line: number; error: string }[] };
}

async function purge(admin: Admin): Promise<void> {
  expect((await admin.call("POST", "/dlq/purge", { confirm_purge_all: true })).status).toBe(200);
}

describe("operators 4: import", () => {
  it("spec 4.12.3: an entry that failed in the future is an error of its line, since no export and no job would see it", async () => {
    const now = Date.now();
    const [near, far] = [30_000, 90_000].map((ms) => new Date(now + ms).toISOString());
    const lines = (await linesOf("e1", "e2")).map((line, n) =>
      changed(line, (parts) => ({ ...parts, entry: { ...parts.entry, failed_at: n === 0 ? near : far } })),
    );
    await using admin = await startAdmin();
    const answer = await importLines(admin, lines.join("\n"));
    expect(answer).toMatchObject({ status: 207, body: { imported: 1, present: 0, failed: 1 } });
    const [wrong] = bodyOf(answer).errors ?? [];
    expect(wrong?.line).toBe(2);
    expect(wrong?.error).toMatch(/^entry\.failed_at: .*Z is in the future: give a time up to .*Z$/);
    expect(wrong?.error).toContain(far);
  });

  it("export, purge, import: the same entries, byte for byte; importing twice adds nothing", async () => {
    await using admin = await startAdmin();
    const { envelope } = deadLetter("e1");
    const entries = [
      sound("e1", { failedAt: 1_000 }),
      sound("e2", { bindingId: "", failedAt: 2_000, reason: "", lastError: "", subject: "boiler/7" }),
      sound("e3", {
        failedAt: 3_000,
        causationId: "cause",
        envelope: {
          ...envelope,
          id: "m",
          payload: new Uint8Array(),
          contentType: "",
          subject: "",
          headers: {},
          expiresAt: 5_000,
        },
        subject: "",
        correlationId: envelope.correlationId,
      }),
      sound("e4", {
        failedAt: 4_000,
        envelope: {
          ...envelope,
          id: "n",
          headers: { ["__proto__"]: "mine", zürich: "東京 🚀\n" },
          payload: Uint8Array.from({ length: 512 }, (_, n) => n),
        },
      }),
    ];
    await keep(admin, ...entries);
    await admin.call("POST", "/dlq/annotate", {
      ids: [entries[0]?.id],
      note: "n",
      assignee: "alice",
      quarantined: true,
    });
    const before = await exported(admin);
    await purge(admin);
    expect(await importLines(admin, before.text)).toMatchObject({
      status: 200,
      body: { imported: 4, present: 0, failed: 0 },
    });
    for (const { id, ...entry } of entries) {
      const kept = await admin.supervisor.dlq()?.get(id, soon());
      const { "x-bridge.dedup-id": _, ...headers } = entry.envelope.headers;
      const same = {
        sourceId: entry.envelope.sourceId,
        correlationId: entry.envelope.correlationId,
        subject: entry.envelope.subject,
      };
      expect(kept).toEqual({
        id,
        ...entry,
        ...same,
        envelope: { ...entry.envelope, headers: expect.objectContaining(headers) as object },
      });
      expect(Object.keys(kept?.envelope.headers ?? {})).toEqual(Object.keys(headers));
    }
    expect(await importLines(admin, before.text)).toMatchObject({
      status: 200,
      body: { imported: 0, present: 4, failed: 0 },
    });
    const after = await exported(admin);
    await purge(admin);
    await importLines(admin, after.text);
    expect((await exported(admin)).text).toBe(after.text);
  });

  it("operators 12.11: an empty body is 200 with zeros; blank lines and line ends of other systems do not matter", async () => {
    const [first = "", second = ""] = await linesOf("a", "b");
    await using admin = await startAdmin();
    expect(bodyOf(await importLines(admin, ""))).toEqual({ imported: 0, present: 0, failed: 0 });
    expect(bodyOf(await importLines(admin, `\r\n${first}\r\n\n${second}`))).toEqual({
      imported: 2,
      present: 0,
      failed: 0,
    });
  });

  it("operators 12.11: a last line is held against what comes before it, and another export may follow", async () => {
    const lines = await linesOf("a", "b", "c");
    await using admin = await startAdmin();
    const part = (some: readonly string[], count = some.length): string => {
      const text = some.map((line) => `${line}\n`).join("");
      return `${text}${JSON.stringify({ v: 1, end: true, count, sha256: hash("sha256", text) })}\n`;
    };
    expect(bodyOf(await importLines(admin, part(lines.slice(0, 1)) + part(lines.slice(1))))).toEqual({
      imported: 3,
      present: 0,
      failed: 0,
    });
    expect(bodyOf(await importLines(admin, part(lines).replace("boiler/7", "boiler/8"))).errors).toEqual([
      { line: 4, error: "sha256: is not that of the lines before it" },
    ]);
    expect(bodyOf(await importLines(admin, part(lines, 7))).errors).toEqual([
      { line: 4, error: "count: says 7, and 3 lines come before it" },
    ]);
  });

  it("the example of the interface: one line in, one whose id is not that of its content", async () => {
    const [first = "", second = ""] = await linesOf("a", "b");
    await using admin = await startAdmin();
    const forged = changed(second, (parts) => ({ ...parts, payload: "aGk=" }));
    expect(await importLines(admin, `${first}\n${forged}\n`)).toMatchObject({
      status: 207,
      body: { imported: 1, present: 0, failed: 1, errors: [{ line: 2, error: "id does not match the content" }] },
    });
  });

  it("operators 12.11: marks, redrives and fingerprint of a line count for nothing; reserved headers are taken out", async () => {
    const [line = ""] = await linesOf("a");
    await using admin = await startAdmin();
    const told = changed(line, ({ entry, envelope, ...rest }) => ({
      ...rest,
      entry: {
        ...entry,
        fingerprint: "0000000000000000",
        redrives: { count: 9 },
        quarantined: true,
        assignee: "eve",
        notes: [{}],
      },
      envelope: {
        ...envelope,
        headers: { ...envelope?.headers, "x-bridge.job": "job-1/1", "X-Bridge.Redrives": "7", Site: "south" },
      },
    }));
    expect((await importLines(admin, told)).status).toBe(200);
    const [{ entry, envelope } = { entry: {}, envelope: undefined }] = (await exported(admin)).lines;
    expect(entry).toEqual((JSON.parse(line) as Line).entry);
    expect(envelope?.headers).toEqual({ site: "south", "x-bridge.ordering-key": "boiler" });
  });

  it.each<[string, (parts: Line) => object, string]>([
    ["of another version", (parts) => ({ ...parts, v: 2 }), "v: expected 1"],
    ["without its payload", ({ v, entry }) => ({ v, entry }), "envelope: is missing"],
    ["shown in part", (parts) => ({ ...parts, redacted: true }), "redacted: does not show all of its entry"],
    [
      "with a digest in place of its payload",
      (parts) => ({ ...parts, payload: undefined, payload_sha256: "0" }),
      "payload_sha256: does not show all",
    ],
    ["whose entry could not be read", (parts) => ({ ...parts, error: "no" }), "error: its entry could not be read"],
    ["of which there is no more", ({ v, entry }) => ({ v, entry, error: "no" }), "error: its entry could not be read"],
    [
      "whose entry could not be read, and is shown as none",
      ({ v }) => ({ v, entry: { id: "", error_code: "" }, error: "no" }),
      "error: its entry could not be read",
    ],
    [
      "with a header that was not shown",
      (parts) => ({ ...parts, envelope: { ...parts.envelope, headers: { a: "[REDACTED]" } } }),
      "envelope.headers: a value is [REDACTED]",
    ],
    [
      "with a field that nobody knows",
      (parts) => ({ ...parts, entry: { ...parts.entry, colour: "red" } }),
      "entry.colour: unknown field",
    ],
    [
      "with no time",
      (parts) => ({ ...parts, entry: { ...parts.entry, failed_at: "yesterday" } }),
      "entry.failed_at: expected an RFC 3339",
    ],
    [
      "with an unknown code",
      (parts) => ({ ...parts, entry: { ...parts.entry, error_code: "OOPS" } }),
      "entry.error_code: expected one of TIMEOUT, ",
    ],
    [
      "with half a character",
      (parts) => ({ ...parts, entry: { ...parts.entry, reason: "\ud800" } }),
      "entry.reason: has half of a character",
    ],
    [
      "with an id that is too long",
      (parts) => ({ ...parts, envelope: { ...parts.envelope, id: "i".repeat(1_025) } }),
      "envelope.id: has more than 1024",
    ],
    [
      "with too many headers",
      (parts) => ({
        ...parts,
        envelope: {
          ...parts.envelope,
          headers: Object.fromEntries(Array.from({ length: 257 }, (_, n) => [`h${n}`, ""])),
        },
      }),
      "envelope.headers: has more than 256",
    ],
    [
      "of another source",
      (parts) => ({ ...parts, envelope: { ...parts.envelope, source_id: "other" } }),
      "id does not match",
    ],
    ["of another route", (parts) => ({ ...parts, entry: { ...parts.entry, route_id: "fan" } }), "id does not match"],
  ])("a line %s is its own error, and hurts no other", async (_, change, problem) => {
    const [first = "", second = "", third = ""] = await linesOf("a", "b", "c");
    await using admin = await startAdmin();
    const { imported, errors } = bodyOf(await importLines(admin, [first, changed(second, change), third].join("\n")));
    expect([imported, errors?.length, errors?.[0]?.line]).toEqual([2, 1, 2]);
    expect(errors?.[0]?.error).toContain(problem);
  });

  it("an export that was redacted cannot be imported as if it were whole, not even when it says no more that it was", async () => {
    const key = "olga-key-0123456789";
    const keys = { adminApiKey: "an-admin-key-0123456789", adminApiKeys: { olga: { key, role: "operator" } } } as const;
    const { envelope } = deadLetter("e1");
    await using admin = await startAdmin({ redact: { fields: ["password"] }, keys });
    await keep(
      admin,
      sound("a", { envelope: { ...envelope, headers: {}, payload: Buffer.from('{"password":"p"}') } }),
      sound("b", { envelope: { ...envelope, id: "b", headers: { authorization: "h" } } }),
    );
    const { lines } = await exported(admin, "?payload=true", key);
    const bare = lines.map((line) => JSON.stringify({ ...line, redacted: undefined })).join("\n");
    const { imported, errors } = bodyOf(await importLines(admin, bare, { headers: { "X-API-Key": keys.adminApiKey } }));
    expect([imported, errors?.map(({ line }) => line)]).toEqual([0, [1, 2]]);
  });

  it("a store that does not take an entry is an error of its lines; what is left when the time is up was not attempted", async () => {
    const lines = await linesOf("a", "b", "c");
    await using admin = await startAdmin();
    let puts = 0;
    admin.faults.store = (method) => {
      if (method === "put" && ++puts === 2) throw new BridgeError("UNAVAILABLE", "full");
    };
    expect(bodyOf(await importLines(admin, [...lines, lines[1]].join("\n")))).toEqual({
      imported: 2,
      present: 0,
      failed: 2,
      errors: [
        { line: 2, error: "the DLQ store failed: full" },
        { line: 4, error: "the DLQ store failed: full" },
      ],
    });
    expect(admin.events.at(-1)).toMatchObject({ outcome: "partial_failure", detail: { imported: 2, failed: 2 } });
    await using slow = await startAdmin({ operationTimeoutMs: 50 });
    slow.faults.store = () => new Promise(() => {});
    const many = await linesOf(...Array.from({ length: 20 }, (_, n) => `s${n}`));
    const { errors } = bodyOf(await importLines(slow, many.join("\n")));
    expect(errors?.map(({ error }) => error)).toEqual([
      ...Array.from({ length: 16 }, () => "outcome unknown: import it again"),
      ...Array.from({ length: 4 }, () => "not attempted: import it again"),
    ]);
  });

  it("more than 1 MB is 413, more than 10,000 lines are 400", async () => {
    await using admin = await startAdmin();
    const headers = { "X-API-Key": ADMIN_KEY };
    expect((await announce(`${admin.url}/api/v1/admin/dlq/import`, { headers })).status).toBe(413);
    expect((await importLines(admin, "x\n".repeat(10_000))).status).toBe(207);
    expect(await importLines(admin, "x\n".repeat(10_001))).toMatchObject({
      status: 400,
      body: { error: "invalid request body: has more than 10000 lines" },
    });
    expect((await importLines(admin, "x".repeat(1_048_576))).status).toBe(207);
    expect((await importLines(admin, "\n".repeat(1_048_576))).status).toBe(200);
  });

  it("operators 5.2: needs dlq.edit, and the audit log shows nothing of what came in", async () => {
    const key = "olga-key-0123456789";
    await using admin = await startAdmin({
      keys: { adminApiKey: "an-admin-key-0123456789", adminApiKeys: { olga: { key, role: "operator" } } },
    });
    const [line = ""] = await linesOf("canary");
    const refused = await importLines(admin, line, { headers: { "X-API-Key": key } });
    expect(refused).toMatchObject({ status: 403, body: { needs: "dlq.edit" } });
    await importLines(admin, line, { headers: { "X-API-Key": "an-admin-key-0123456789" } });
    expect(admin.events.slice(-2)).toMatchObject([
      { action: "dlq.import.begin", outcome: "pending", detail: { bytes: line.length } },
      { action: "dlq.import", outcome: "success", detail: { imported: 1, present: 0, failed: 0 } },
    ]);
    expect(JSON.stringify(admin.events)).not.toContain("canary");
  });

  it("one bad line never hurts another, whatever is in it", async () => {
    const good = await linesOf(...Array.from({ length: 6 }, (_, n) => `g${n}`));
    const bytesOf = (line: string): Buffer => Buffer.from(line);
    const cut = fc
      .tuple(fc.constantFrom(...good), fc.nat())
      .map(([line, at]) => bytesOf(line.slice(0, 1 + (at % (line.length - 1)))));
    const bent = fc
      .tuple(fc.constantFrom(...good), fc.nat(), fc.integer({ min: 0, max: 255 }))
      .map(([line, at, byte]) => {
        const bytes = bytesOf(line);
        bytes[at % bytes.length] = byte === 0x0a ? 0x0b : byte;
        return bytes;
      });
    const without = fc
      .tuple(fc.constantFrom(...good), fc.constantFrom("entry", "envelope"), fc.nat(), fc.jsonValue())
      .map(([line, where, at, value]) => {
        const parts = JSON.parse(line) as Record<string, Record<string, unknown>>;
        const inner = parts[where] ?? {};
        const names = Object.keys(inner);
        inner[names[at % names.length] ?? ""] = value;
        return bytesOf(JSON.stringify(parts));
      });
    const noise = fc.oneof(
      fc
        .uint8Array({ minLength: 1, maxLength: 200 })
        .map((bytes) => Buffer.from(bytes.map((byte) => (byte === 0x0a ? 0x20 : byte)))),
      fc.json().map(bytesOf),
      fc.integer({ min: 1, max: 20_000 }).map((depth) => bytesOf("[".repeat(depth))),
      fc.constantFrom("a", '"', "9", "[").map((piece) => bytesOf(`{"v":1,"entry":${piece.repeat(50_000)}`)),
    );
    await using admin = await startAdmin();
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(cut, bent, without, noise), { maxLength: 8 }), fc.nat(), async (bad, seed) => {
        await purge(admin);
        const lines: Buffer[] = [];
        const at = new Set<number>();
        const rest = [...bad];
        for (const [n, line] of good.entries()) {
          lines.push(...rest.splice(0, (seed >> n) % 3));
          at.add(lines.push(bytesOf(line)));
        }
        lines.push(...rest);
        const text = Buffer.concat(lines.flatMap((line) => [line, bytesOf("\n")]));
        const answer = await fetch(`${admin.url}/api/v1/admin/dlq/import`, {
          method: "POST",
          headers: { "X-API-Key": ADMIN_KEY },
          body: text,
        });
        const { imported, present, failed, errors = [] } = (await answer.json()) as ReturnType<typeof bodyOf>;
        expect([200, 207]).toContain(answer.status);
        expect(errors.filter(({ line }) => at.has(line))).toEqual([]);
        expect(failed).toBe(errors.length);
        for (const { error } of errors) expect(error.length).toBeLessThan(1_000);
        const kept = new Set(await admin.ids());
        for (const line of good) expect(kept).toContain((JSON.parse(line) as Line).entry.id);
        expect(kept.size).toBe(imported);
        expect(imported + present).toBeGreaterThanOrEqual(good.length);
      }),
      { numRuns: RUNS },
    );
  });
});
