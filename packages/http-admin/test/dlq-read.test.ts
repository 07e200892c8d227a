import { BridgeError, type ErrorClass } from "@bridge/ports";
import { describe, expect, it } from "vitest";
import { type Admin, startAdmin } from "./admin.ts";
import { deadLetter, keep } from "./bridge.ts";

const HOUR = 3_600_000;
const NOON = Date.UTC(2026, 0, 1, 12);

/** What is listed of the entry `e1`. */
const HEAD = {
  id: "e1",
  route_id: "alarms",
  binding_id: "alarms",
  source_id: "alarms",
  correlation_id: "correlation-e1",
  subject: "boiler/7",
  reason: "permanent failure",
  category: "rejected",
  error_code: "REJECTED",
  last_error: "the target said no",
  failed_at: "2026-01-01T12:00:00.000Z",
  attempts: 2,
  envelope_id: "envelope-e1",
  payload_bytes: 3,
  fingerprint: expect.stringMatching(/^[0-9a-f]{16}$/) as string,
};

/** Entries `e00`, `e01`, … an hour apart from noon on. */
async function keepSeries(admin: Admin, count: number): Promise<void> {
  const categories: readonly ErrorClass[] = ["rejected", "permanent", "transient"];
  const entries = Array.from({ length: count }, (_, index) =>
    deadLetter(`e${String(index).padStart(2, "0")}`, {
      failedAt: NOON + index * HOUR,
      routeId: index % 2 === 0 ? "alarms" : "fan",
      category: categories[index % 3] ?? "expired",
    }),
  );
  await keep(admin, ...entries.toReversed());
}

async function listed(admin: Admin, query: string): Promise<string[]> {
  const { body } = await admin.call("GET", `/dlq/messages${query}`);
  return (body as { messages: { id: string }[] }).messages.map(({ id }) => id);
}

describe("spec 2.8, 4.5: DLQ summary", () => {
  it("counts the entries, also while the bridge is stopped", async () => {
    await using admin = await startAdmin();
    expect((await admin.call("GET", "/dlq")).body).toEqual({ configured: true, count: 0, count_capped: false });
    await keepSeries(admin, 3);
    await admin.call("POST", "/bridge/stop");
    expect((await admin.call("GET", "/dlq")).body).toEqual({ configured: true, count: 3, count_capped: false });
  });

  it("spec 4.5: count_capped is true when the count reaches 1000", async () => {
    await using admin = await startAdmin();
    for (let n = 0; n < 999; n++) await keep(admin, deadLetter(`e${n}`));
    expect((await admin.call("GET", "/dlq")).body).toEqual({ configured: true, count: 999, count_capped: false });
    await keep(admin, deadLetter("one"));
    const capped = { configured: true, count: 1_000, count_capped: true };
    expect((await admin.call("GET", "/dlq")).body).toEqual(capped);
    await keep(admin, deadLetter("more"));
    expect((await admin.call("GET", "/dlq")).body).toEqual(capped);
  });
});

describe("spec 2.9, 4.3: DLQ list", () => {
  it("spec 2.7: an entry has these fields, and no payload", async () => {
    await using admin = await startAdmin();
    await keep(admin, deadLetter("e1"));
    expect(await admin.call("GET", "/dlq/messages")).toMatchObject({ status: 200 });
    expect((await admin.call("GET", "/dlq/messages")).body).toEqual({
      messages: [HEAD],
      limit: 100,
      offset: 0,
      has_more: false,
    });
  });

  it("contract 2: oldest first, by failed_at, then by id", async () => {
    await using admin = await startAdmin();
    await keep(admin, deadLetter("b"), deadLetter("c", { failedAt: NOON - 1 }), deadLetter("a"));
    expect(await listed(admin, "")).toEqual(["c", "a", "b"]);
  });

  it("pages by limit and offset; has_more tells of one entry beyond", async () => {
    await using admin = await startAdmin();
    await keepSeries(admin, 5);
    const page = async (query: string): Promise<unknown> => (await admin.call("GET", `/dlq/messages${query}`)).body;
    expect(await page("?limit=2")).toMatchObject({
      messages: [{ id: "e00" }, { id: "e01" }],
      limit: 2,
      offset: 0,
      has_more: true,
    });
    expect(await page("?limit=2&offset=3")).toMatchObject({
      messages: [{ id: "e03" }, { id: "e04" }],
      has_more: false,
    });
    expect(await page("?offset=5")).toMatchObject({ messages: [], limit: 100, offset: 5, has_more: false });
  });

  it("limit is 100 by default and clamped to 1000", async () => {
    await using admin = await startAdmin();
    for (let n = 0; n < 1_001; n++) await keep(admin, deadLetter(`e${n}`));
    expect(await listed(admin, "")).toHaveLength(100);
    for (const limit of ["1000", "1001", "99999999999999999999"]) {
      const { body } = await admin.call("GET", `/dlq/messages?limit=${limit}`);
      expect(body).toMatchObject({ limit: 1_000, has_more: true });
    }
    expect((await admin.call("GET", "/dlq/messages?limit=1000&offset=1")).body).toMatchObject({ has_more: false });
  });

  it("filters by route and category, since inclusive, before exclusive", async () => {
    await using admin = await startAdmin();
    await keepSeries(admin, 6);
    expect(await listed(admin, "?route_id=fan")).toEqual(["e01", "e03", "e05"]);
    expect(await listed(admin, "?category=rejected")).toEqual(["e00", "e03"]);
    expect(await listed(admin, "?route_id=fan&category=rejected")).toEqual(["e03"]);
    expect(await listed(admin, "?since=2026-01-01T14:00:00Z&before=2026-01-01T16:00:00Z")).toEqual(["e02", "e03"]);
    expect(await listed(admin, "?route_id=fan&limit=1&offset=1")).toEqual(["e03"]);
    expect(await listed(admin, "?route_id=nothing")).toEqual([]);
  });

  it("a filter that is empty, or a category that there is not, is 400: it would match everything, or nothing", async () => {
    await using admin = await startAdmin();
    const error = async (query: string): Promise<unknown> => {
      const { status, body } = await admin.call("GET", query);
      expect(status).toBe(400);
      return (body as { error: string }).error;
    };
    const categories = "one of transient, permanent, rejected, expired, filtered";
    expect(await error("/dlq/messages?category=reject")).toBe(
      `invalid query: category: expected ${categories} (got "reject")`,
    );
    expect(await error("/dlq/messages?category=")).toBe(`invalid query: category: expected ${categories} (got "")`);
    const empty = "is empty: give a value, or leave the parameter out";
    expect(await error("/dlq/messages?route_id=")).toBe(`invalid query: route_id: ${empty}`);
    expect(await error(`/dlq/messages?category=${"x".repeat(9_000)}`)).toHaveLength(
      `invalid query: category: expected ${categories} (got "${"x".repeat(64)}…")`.length,
    );
    await using boxed = await startAdmin({ outbox: true });
    for (const name of ["route_id", "binding_id"])
      expect((await boxed.call("GET", `/outbox/messages?${name}=`)).body).toEqual({
        error: `invalid query: ${name}: ${empty}`,
      });
  });

  it("reads timestamps with offsets and fractions, and a plus sign that was not escaped", async () => {
    await using admin = await startAdmin();
    await keepSeries(admin, 3);
    expect(await listed(admin, "?since=2026-01-01T15:00:00%2B02:00")).toEqual(["e01", "e02"]);
    expect(await listed(admin, "?since=2026-01-01T15:00:00+02:00")).toEqual(["e01", "e02"]);
    expect(await listed(admin, "?since=2026-01-01T12:00:00.0001Z")).toEqual(["e01", "e02"]);
    expect(await listed(admin, "?before=2026-01-01T12:00:00.0001Z")).toEqual(["e00"]);
  });

  it.each([
    ...["0", "-1", "1.5", "ten", "", "1e2", "%2B1"].map((value) => ["limit", value]),
    ...["-1", "1.5", "x", "", "100001", "99999999999999999999"].map((value) => ["offset", value]),
    ...["yesterday", "2026-01-01", "2026-02-30T00:00:00Z", "2026-01-01T24:00:00Z", "1767225600", ""].flatMap(
      (value) => [
        ["since", value],
        ["before", value],
      ],
    ),
  ])("contract 2: %s=%s is 400", async (name, value) => {
    await using admin = await startAdmin();
    const { status, body } = await admin.call("GET", `/dlq/messages?${name}=${value}`);
    expect(status).toBe(400);
    expect(body).toEqual({ error: expect.stringContaining(`invalid query: ${name}: `) as string });
  });

  it("an offset of exactly 100000 is taken", async () => {
    await using admin = await startAdmin();
    expect((await admin.call("GET", "/dlq/messages?offset=100000")).status).toBe(200);
  });
});

describe("spec 4.2: one DLQ entry", () => {
  it("contract 2: has the payload in base64 and the envelope, and is audited as dlq.read_payload", async () => {
    await using admin = await startAdmin();
    const { envelope } = deadLetter("e1");
    await keep(admin, deadLetter("e1", { envelope: { ...envelope, expiresAt: NOON + HOUR } }), deadLetter("e2"));
    const { status, body } = await admin.call("GET", "/dlq/messages/e1");
    expect(status).toBe(200);
    expect(body).toEqual({
      ...HEAD,
      payload: "AP8K",
      envelope: {
        id: "envelope-e1",
        source_id: "alarms",
        subject: "boiler/7",
        content_type: "text/plain",
        headers: { site: "north", "x-bridge.dedup-id": "dedup-e1", "x-bridge.ordering-key": "boiler" },
        correlation_id: "correlation-e1",
        received_at: "2026-01-01T11:00:00.000Z",
        expires_at: "2026-01-01T13:00:00.000Z",
      },
    });
    expect(admin.events).toMatchObject([
      { action: "dlq.read_payload", actor: "admin", resource_type: "dlq", resource_id: "e1", outcome: "success" },
    ]);
    expect(JSON.stringify(admin.events)).not.toContain("AP8K");
    expect((await admin.call("GET", "/dlq/messages/e2")).body).not.toHaveProperty("envelope.expires_at");
  });

  it("contract 2: an unknown id is 404", async () => {
    await using admin = await startAdmin();
    for (const id of ["nothing", "%00", "..%2F..%2Fpasswd"])
      expect(await admin.call("GET", `/dlq/messages/${id}`)).toMatchObject({
        status: 404,
        body: { error: "DLQ entry not found" },
      });
  });

  it("what a failed message left behind can be read", async () => {
    await using admin = await startAdmin();
    admin.hub.channel("out").sends.failNext(1, new BridgeError("SCHEMA_VIOLATION", "no temperature"));
    admin.hub.publish("alarms", { id: "m-1", payload: "hello", headers: { site: "north" } });
    await expect.poll(() => admin.ids()).toHaveLength(1);
    const [id] = await admin.ids();
    expect((await admin.call("GET", `/dlq/messages/${id}`)).body).toMatchObject({
      route_id: "alarms",
      binding_id: "alarms",
      category: "rejected",
      error_code: "SCHEMA_VIOLATION",
      last_error: "no temperature",
      payload: Buffer.from("hello").toString("base64"),
      envelope: { id: "m-1", headers: { site: "north" } },
    });
  });
});

describe("contract 2: no DLQ store", () => {
  const READS = ["/dlq", "/dlq/messages", "/dlq/messages?limit=x", "/dlq/messages/e1"];
  const WRITES = ["/dlq/redrive", "/dlq/delete", "/dlq/delete-by-filter", "/dlq/purge"];

  it("spec 7.2: every DLQ endpoint answers 404, before the body or the query is looked at", async () => {
    await using admin = await startAdmin({ store: "none" });
    const expected = { status: 404, body: { error: "no DLQ store configured" } };
    for (const path of READS) expect(await admin.call("GET", path)).toMatchObject(expected);
    for (const path of WRITES) expect(await admin.call("POST", path, "not JSON")).toMatchObject(expected);
  });

  it("spec 7.2: a read-only store can be read, and what changes it answers 404", async () => {
    await using admin = await startAdmin({ store: "read-only" });
    await keep(admin, deadLetter("e1"));
    for (const path of ["/dlq", "/dlq/messages", "/dlq/messages/e1"])
      expect((await admin.call("GET", path)).status).toBe(200);
    for (const path of WRITES)
      expect(await admin.call("POST", path, "not JSON")).toMatchObject({
        status: 404,
        body: { error: "no DLQ admin store configured" },
      });
  });

  it("a store that is configured and was not opened yet is 503", async () => {
    await using admin = await startAdmin({ started: false });
    expect(await admin.call("GET", "/dlq")).toMatchObject({
      status: 503,
      body: { error: "the DLQ store is not open: deep health says why, or start the bridge" },
    });
  });
});

describe("a DLQ store that fails", () => {
  it("is 503 with what it says while it cannot be used, such as one that has to be opened again and is spoiled", async () => {
    await using admin = await startAdmin();
    admin.faults.store = () => {
      throw new BridgeError("UNAVAILABLE", "the disk is gone");
    };
    for (const path of ["/dlq", "/dlq/messages", "/dlq/messages/e1", "/dlq/summary", "/dlq/export"])
      expect(await admin.call("GET", path)).toMatchObject({ status: 503, body: { error: "the disk is gone" } });
    for (const [path, body] of [
      ["/dlq/messages/e1/redrive", { reason: "r" }],
      ["/dlq/messages/e1/redrive", { reason: "r", subject: "s" }],
    ] as const)
      expect(await admin.call("POST", path, body)).toMatchObject({ status: 503, body: { error: "the disk is gone" } });
    expect(admin.errors).toEqual([]);
  });

  it.each(["TIMEOUT", "CONNECTION_LOST", "THROTTLED", "NOT_AUTHORIZED", "FORBIDDEN", "DESTINATION_NOT_FOUND"] as const)(
    "is 503 while it is away or refuses everybody, and 500 when one entry is broken: %s",
    async (code) => {
      await using admin = await startAdmin();
      admin.faults.store = () => {
        throw new BridgeError(code, "no table");
      };
      expect(await admin.call("GET", "/dlq/messages")).toMatchObject({ status: 503, body: { error: "no table" } });
      admin.faults.store = () => {
        throw new BridgeError("INTERNAL", "not as it was written");
      };
      expect(await admin.call("GET", "/dlq/messages/e1")).toMatchObject({ status: 500 });
    },
  );

  it("is 503 when it does not answer within the operation timeout", async () => {
    await using admin = await startAdmin({ operationTimeoutMs: 50 });
    admin.faults.store = () => new Promise(() => {});
    expect(await admin.call("GET", "/dlq")).toMatchObject({
      status: 503,
      body: { error: "the DLQ store did not answer in 0.05 s: look at deep health, and try again" },
    });
  });
});
