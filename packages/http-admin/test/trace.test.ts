import { BridgeError } from "@bridge/ports";
import { PATIENCE } from "@bridge/tooling/patience";
import { describe, expect, it, vi } from "vitest";
import { type Admin, startAdmin } from "./admin.ts";
import { deadLetter, keep } from "./bridge.ts";

interface Trace {
  readonly found: boolean;
  readonly places: readonly { readonly where: string }[];
  readonly complete: boolean;
  readonly recent: { readonly legs: number };
}

async function trace(admin: Admin, id: string): Promise<Trace> {
  const { status, body } = await admin.call("GET", `/messages/${encodeURIComponent(id)}`);
  expect([status, body]).toMatchObject([200, { envelope_id: id }]);
  return body as Trace;
}

describe("operators 6.4: where a message is", () => {
  it("in flight while its target does not answer, then delivered", async () => {
    await using admin = await startAdmin();
    const out = admin.hub.channel("out");
    const held = out.sends.hold();
    const injecting = admin.call("POST", "/routes/alarms/inject", { subject: "s", id: "m 1/ä" });
    await vi.waitFor(async () => {
      expect(await trace(admin, "m 1/ä")).toMatchObject({
        found: true,
        places: [{ where: "in_flight", route_id: "alarms", binding_id: "alarms", attempts: 1 }],
        complete: true,
      });
    }, PATIENCE);
    held[Symbol.dispose]();
    expect((await injecting).status).toBe(200);
    expect((await trace(admin, "m 1/ä")).places).toMatchObject([
      { where: "recent", route_id: "alarms", binding_id: "alarms", outcome: "delivered" },
    ]);
  });

  it("in flight while it is tried again, then in the DLQ, then redriven as another, which is found too", async () => {
    await using admin = await startAdmin();
    await admin.call("POST", "/routes/filtering/inject", { subject: "s", id: "m-1" });
    expect((await trace(admin, "m-1")).places).toMatchObject([
      { where: "recent", binding_id: "", outcome: "filtered" },
    ]);
    await keep(admin, deadLetter("e1"));
    expect((await trace(admin, "envelope-e1")).places).toMatchObject([
      { where: "dlq", entry: { id: "e1", error_code: "REJECTED" } },
    ]);
    await admin.call("POST", "/dlq/redrive", { ids: ["e1"] });
    const { places } = await trace(admin, "envelope-e1");
    expect(places).toMatchObject([{ where: "redriven_as", envelope_id: expect.any(String) as string }]);
    const again = (places[0] as unknown as { readonly envelope_id: string }).envelope_id;
    expect((await trace(admin, again)).places).toMatchObject([{ where: "recent", outcome: "delivered" }]);
  });

  it("in the outbox, and then delivered from it", async () => {
    await using admin = await startAdmin({ outbox: true });
    const out = admin.hub.channel("boxed-out");
    out.sends.failNext(Infinity, new BridgeError("UNAVAILABLE", "not now"));
    admin.hub.publish("boxed", { id: "m-2", subject: "s" });
    await vi.waitFor(async () => {
      expect(await trace(admin, "m-2")).toMatchObject({
        places: [{ where: "outbox", route_id: "boxed", binding_id: "boxed", attempts: 1 }],
        complete: true,
      });
    }, PATIENCE);
    out.sends.clear();
    const [record] =
      (await admin.supervisor.outbox()?.list({}, { limit: 1, offset: 0 }, new AbortController().signal)) ?? [];
    await admin.call("POST", "/outbox/dead-letter", { ids: [record?.id ?? ""] });
    const { places } = await trace(admin, "m-2");
    expect(places).toMatchObject([{ where: "dlq", entry: { route_id: "boxed" } }]);
    await admin.call("POST", "/dlq/redrive", { ids: await admin.ids() });
    expect((await trace(admin, "m-2")).places.map(({ where }) => where)).toContain("redriven_as");
  });

  it("nowhere, as far as is known, and says from when on that would be known", async () => {
    await using admin = await startAdmin();
    expect(await trace(admin, "nothing")).toMatchObject({
      found: false,
      places: [],
      recent: { legs: 100_000, since: expect.stringMatching(/Z$/) as string },
      complete: true,
    });
  });

  it("is not known wholly while a store is not open", async () => {
    await using admin = await startAdmin({ started: false });
    expect(await trace(admin, "m-1")).toMatchObject({ found: false, complete: false });
  });

  it.each([
    ["is away", (): Promise<void> => Promise.reject(new BridgeError("CONNECTION_LOST", "the database is gone"))],
    ["refuses", (): Promise<void> => Promise.reject(new BridgeError("INTERNAL", "failed (SQLSTATE 55000)"))],
    ["does not answer", (): Promise<void> => new Promise(() => {})],
  ])("as far as this process knows while a store %s", async (_, fault) => {
    await using admin = await startAdmin({ outbox: true, operationTimeoutMs: 200 });
    await admin.call("POST", "/routes/alarms/inject", { subject: "s", id: "m-1" });
    admin.hub.channel("boxed-out").sends.failNext(Infinity, new BridgeError("UNAVAILABLE", "not now"));
    admin.hub.publish("boxed", { id: "m-2", subject: "s" });
    await vi.waitFor(
      async () => expect((await trace(admin, "m-2")).places).toMatchObject([{ where: "outbox" }]),
      PATIENCE,
    );
    admin.faults.store = fault;
    expect(await trace(admin, "m-1")).toMatchObject({
      found: true,
      places: [{ where: "recent", route_id: "alarms", outcome: "delivered" }],
      complete: false,
    });
    // What the other store tells is not withheld.
    expect(await trace(admin, "m-2")).toMatchObject({ places: [{ where: "outbox" }], complete: false });
    expect((await admin.call("GET", "/messages?correlation_id=c")).status).toBeGreaterThanOrEqual(500);
  });

  it("by the correlation id of dead letters", async () => {
    await using admin = await startAdmin();
    await keep(admin, deadLetter("e1"), deadLetter("e2"));
    expect(await admin.call("GET", "/messages?correlation_id=correlation-e2")).toMatchObject({
      status: 200,
      body: { correlation_id: "correlation-e2", found: true, places: [{ where: "dlq", entry: { id: "e2" } }] },
    });
    expect(await admin.call("GET", "/messages")).toMatchObject({
      status: 400,
      body: { error: "invalid query: give either correlation_id or envelope_id" },
    });
  });

  it.each([".", "..", "a/../b", "%2e", "", "m-1"])(
    "by its id in the query, as clients take dots out of a path: %j",
    async (id) => {
      await using admin = await startAdmin();
      const injected = await admin.call("POST", "/routes/alarms/inject", { subject: "s", ...(id !== "" && { id }) });
      const { envelope_id: known } = injected.body as { readonly envelope_id: string };
      expect(known).toBe(id === "" ? known : id);
      const { status, body } = await admin.call("GET", `/messages?envelope_id=${encodeURIComponent(known)}`);
      expect([status, body]).toMatchObject([
        200,
        { envelope_id: known, found: true, places: [{ where: "recent", route_id: "alarms" }], complete: true },
      ]);
    },
  );

  it("by one of both", async () => {
    await using admin = await startAdmin();
    for (const query of ["correlation_id=a&envelope_id=b", "envelope_id=", `envelope_id=${"x".repeat(1_025)}`])
      expect((await admin.call("GET", `/messages?${query}`)).status).toBe(400);
  });

  it("has no payload and no header in its answer, and takes no id that no message has", async () => {
    await using admin = await startAdmin();
    await keep(admin, deadLetter("e1"));
    expect(JSON.stringify(await trace(admin, "envelope-e1"))).not.toMatch(/north|payload"|AP8K/);
    expect(await admin.call("GET", `/messages/${"x".repeat(1_025)}`)).toMatchObject({ status: 400 });
  });
});
