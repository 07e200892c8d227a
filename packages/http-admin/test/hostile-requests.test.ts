import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Admin, startAdmin } from "./admin.ts";
import { deadLetter, keep } from "./bridge.ts";

const NAMES = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "ids",
  "subject",
  "payload",
  "headers",
  "id",
  "limit",
];
const POSTS = ["/routes/alarms/inject", "/dlq/redrive", "/dlq/delete", "/dlq/delete-by-filter"];

const key = fc.oneof(fc.constantFrom(...NAMES), fc.string({ unit: "binary", maxLength: 10 }));
const anyJson = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, -1, 1e308, 1.5, "", "YQ==", "2026-01-01T00:00:00Z", "e1"),
    fc.string({ unit: "binary", maxLength: 30 }),
    fc.array(tie("value"), { maxLength: 5 }),
    fc.dictionary(key, tie("value"), { maxKeys: 6, noNullPrototype: false }),
  ),
})).value;
/** Bodies that are nearly right. */
const near = fc.record(
  {
    subject: fc.oneof(fc.string({ unit: "binary" }), anyJson),
    payload: fc.oneof(fc.base64String(), fc.string(), anyJson),
    headers: fc.oneof(fc.dictionary(key, fc.string({ unit: "binary" })), anyJson),
    id: fc.oneof(fc.string({ unit: "binary", maxLength: 2_000 }), anyJson),
    ids: fc.oneof(fc.array(fc.string({ unit: "binary" }), { maxLength: 120 }), anyJson),
    route_id: anyJson,
    limit: fc.oneof(fc.integer(), fc.double(), anyJson),
    since: fc.oneof(fc.date().map(String), fc.string(), anyJson),
    confirm_delete_all: anyJson,
  },
  { requiredKeys: [] },
);
const body = fc.oneof(
  near.map((value) => Buffer.from(JSON.stringify(value))),
  anyJson.map((value) => Buffer.from(JSON.stringify(value) ?? "")),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
);

describe("quality 4: hostile input to the admin server", () => {
  let admin: Admin;
  beforeAll(async () => {
    admin = await startAdmin();
    await keep(admin, deadLetter("e1"));
  });
  afterAll(() => admin[Symbol.asyncDispose]());

  it("a body is answered as JSON, and never with an internal error", async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...POSTS), body, async (path, bytes) => {
        const answer = await admin.call("POST", path, undefined, { method: "POST", body: new Uint8Array(bytes) });
        expect([200, 207, 400, 422]).toContain(answer.status);
        expect(typeof answer.body).toBe("object");
      }),
      { numRuns: 400 },
    );
    expect(admin.errors).toEqual([]);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  }, 60_000);

  it("a query and a path are too", async () => {
    const word = fc.oneof(
      fc.string({ unit: "binary", maxLength: 40 }),
      fc.integer().map(String),
      fc.date().map(String),
    );
    const names = fc.constantFrom("limit", "offset", "route_id", "category", "since", "before", "__proto__");
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(names, word), { maxLength: 5 }), word, async (pairs, id) => {
        const list = await admin.call("GET", `/dlq/messages?${new URLSearchParams(pairs).toString()}`);
        expect([200, 400]).toContain(list.status);
        const one = await admin.call("GET", `/dlq/messages/${encodeURIComponent(id.toWellFormed())}`);
        expect([200, 404]).toContain(one.status);
      }),
      { numRuns: 300 },
    );
    expect(admin.errors).toEqual([]);
  }, 60_000);
});
