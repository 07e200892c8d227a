import { describe, expect, it } from "vitest";
import type { Supervisor } from "@bridge/core";
import { type Clock, systemClock } from "@bridge/ports";
import { instead, startAdmin } from "./admin.ts";
import { stuck } from "./stuck.ts";

describe("the outbox", () => {
  it("tells what waits for each binding, and for how long", async () => {
    await using admin = await startAdmin({ outbox: true });
    expect(await admin.call("GET", "/outbox")).toMatchObject({ status: 200, body: { depth: 0, bindings: [] } });
    await stuck(admin);
    const { body } = await admin.call("GET", "/outbox");
    expect(body).toMatchObject({
      depth: 1,
      bindings: [{ route_id: "boxed", binding_id: "boxed", configured: true, depth: 1, blocked_keys: 1 }],
    });
    expect(admin.events.at(-1)).toMatchObject({
      action: "outbox.summary",
      resource_type: "outbox",
      outcome: "success",
    });
  });

  it("lists undelivered records page by page, without payloads", async () => {
    await using admin = await startAdmin({ outbox: true });
    const id = await stuck(admin);
    const { body } = await admin.call("GET", "/outbox/messages?limit=1&route_id=boxed");
    expect(body).toEqual({
      messages: [
        {
          id,
          route_id: "boxed",
          binding_id: "boxed",
          envelope_id: "m1",
          subject: "boiler/7",
          address: "boxed-out",
          ordering_key: "k",
          created_at: expect.any(String) as string,
          due_at: expect.any(String) as string,
          attempts: 1,
          in_flight: false,
        },
      ],
      limit: 1,
      offset: 0,
      has_more: false,
    });
    expect(await admin.call("GET", "/outbox/messages?binding_id=other")).toMatchObject({ body: { messages: [] } });
    expect(await admin.call("GET", "/outbox/messages?offset=-1")).toMatchObject({ status: 400 });
    expect(admin.events.at(-1)).toMatchObject({ action: "outbox.list", outcome: "failure" });
  });

  it("operators 4: tells which ordering keys are blocked, by which record, and since when", async () => {
    await using admin = await startAdmin({ outbox: true });
    expect(await admin.call("GET", "/outbox/keys")).toMatchObject({ status: 200, body: { keys: [], has_more: false } });
    const id = await stuck(admin);
    admin.hub.publish("boxed", { id: "m2", orderingKey: "k" });
    await expect.poll(() => admin.call("GET", "/outbox")).toMatchObject({ body: { depth: 2 } });
    const { body } = await admin.call("GET", "/outbox/keys?route_id=boxed&binding_id=boxed&limit=1");
    expect(body).toEqual({
      keys: [
        {
          route_id: "boxed",
          binding_id: "boxed",
          ordering_key: "k",
          depth: 2,
          oldest_id: id,
          attempts: 1,
          due_at: expect.stringMatching(/^20.*Z$/) as string,
          blocked_since: expect.stringMatching(/^20.*Z$/) as string,
        },
      ],
      has_more: false,
    });
    expect(admin.events.at(-1)).toMatchObject({ action: "outbox.keys", resource_type: "outbox", outcome: "success" });
    expect(await admin.call("GET", "/outbox/keys?binding_id=other")).toMatchObject({ body: { keys: [] } });
    expect(await admin.call("GET", "/outbox/keys?offset=0")).toMatchObject({ status: 400 });
  });

  it("says so when the store cannot tell blocked keys", async () => {
    await using admin = await startAdmin({ outbox: true });
    Object.defineProperty(admin.supervisor.outbox() ?? {}, "blockedKeys", { value: undefined });
    expect(await admin.call("GET", "/outbox/keys")).toMatchObject({
      status: 404,
      body: { error: "the outbox store cannot do that" },
    });
  });

  it("moves a stuck head of a key to the DLQ, and the others of the key go on", async () => {
    await using admin = await startAdmin({ outbox: true });
    const id = await stuck(admin);
    admin.hub.publish("boxed", { id: "m2", orderingKey: "k" });
    expect(await admin.call("POST", "/outbox/dead-letter", { ids: [id, "nothing"] })).toMatchObject({
      status: 207,
      body: {
        moved: 1,
        failed: 1,
        errors: [{ id: "nothing", error: "record not pending, or being sent at the moment" }],
      },
    });
    expect(admin.events.at(-1)).toMatchObject({
      action: "outbox.dead_letter",
      outcome: "partial_failure",
      detail: { requested: 2, moved: 1, failed: 1 },
    });
    const [message] = await admin.hub.channel("boxed-out").waitForMessages(1, AbortSignal.timeout(10_000));
    expect(message?.id).toBe("m2");
    expect(await admin.call("GET", "/dlq/messages")).toMatchObject({
      body: {
        messages: [
          { route_id: "boxed", binding_id: "boxed", last_error: expect.stringContaining("operator") as string },
        ],
      },
    });
  });

  it("works while the bridge is stopped", async () => {
    await using admin = await startAdmin({ outbox: true });
    const id = await stuck(admin);
    await admin.call("POST", "/bridge/stop");
    expect(await admin.call("GET", "/outbox")).toMatchObject({ status: 200, body: { depth: 1 } });
    expect(await admin.call("POST", "/outbox/dead-letter", { ids: [id] })).toMatchObject({
      status: 200,
      body: { moved: 1, failed: 0 },
    });
  });

  it("says which records no configured route delivers; those can be moved to the DLQ", async () => {
    await using admin = await startAdmin({ outbox: true });
    const signal = AbortSignal.timeout(10_000);
    const payload = new Uint8Array(3);
    const place = { routeId: "boxed", bindingId: "removed", address: "x", payloadDigest: "d", createdAt: 1 };
    const envelope = { id: "m", sourceId: "in", subject: "s", contentType: "", headers: {}, payload };
    const record = { ...place, id: "lost", envelope: { ...envelope, correlationId: "c", receivedAt: 1 } };
    await admin.supervisor.outbox()?.persist([record], signal);
    expect(await admin.call("GET", "/outbox")).toMatchObject({
      body: { bindings: [{ route_id: "boxed", binding_id: "removed", configured: false, depth: 1 }] },
    });
    // Nobody knows any more whether the address came in through a reference.
    expect(await admin.call("GET", "/outbox/messages")).toMatchObject({
      body: { messages: [{ id: "lost", address: "[REDACTED]" }] },
    });
    expect(await admin.call("POST", "/outbox/dead-letter", { ids: ["lost"] })).toMatchObject({ status: 200 });
    expect(await admin.call("GET", "/dlq/messages")).toMatchObject({ body: { messages: [{ binding_id: "removed" }] } });
  });

  it("begins to move records for 20 s, as a store is looked into, and says of the others that they were not attempted", async () => {
    const bounds: number[] = [];
    const clock: Clock = {
      ...systemClock,
      after: (ms, fire) => {
        bounds.push(ms);
        return systemClock.after(1, fire);
      },
    };
    const moving: Supervisor["deadLetterRecords"] = (ids, signal) =>
      new Promise((resolve) =>
        signal?.addEventListener("abort", () =>
          resolve({ moved: 0, errors: ids.map((id) => ({ id, error: "not attempted" })) }),
        ),
      );
    const seenAs = instead("deadLetterRecords", moving);
    await using admin = await startAdmin({ outbox: true, clock, seenAs });
    expect(await admin.call("POST", "/outbox/dead-letter", { ids: ["a"] })).toMatchObject({
      status: 207,
      body: { moved: 0, errors: [{ id: "a", error: "not attempted" }] },
    });
    expect(bounds).toContain(20_000);
    expect(Math.max(...bounds)).toBe(20_000);
  });

  it("is answered with 404 when none is configured, and with 400 for bad ids", async () => {
    await using plain = await startAdmin();
    expect(await plain.call("GET", "/outbox")).toMatchObject({
      status: 404,
      body: { error: "no outbox store configured" },
    });
    await using admin = await startAdmin({ outbox: true });
    for (const body of [
      { ids: [] },
      { ids: Array.from({ length: 101 }, (_, at) => `r${at}`) },
      {},
      { ids: ["a"], all: true },
    ])
      expect((await admin.call("POST", "/outbox/dead-letter", body)).status).toBe(400);
  });
});

describe("inject into the outbox", () => {
  it("spec 4.4.5: an id that the outbox knows is swallowed as a duplicate, with a warning", async () => {
    await using admin = await startAdmin({ outbox: true });
    const inject = { subject: "s", id: "mine", payload: "aGk=" };
    expect(await admin.call("POST", "/routes/boxed/inject", inject)).toMatchObject({
      status: 200,
      body: { status: "injected", envelope_id: "mine" },
    });
    const { status, body } = await admin.call("POST", "/routes/boxed/inject", inject);
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: "injected", warning: expect.stringContaining("before") as string });
    expect(admin.hub.channel("boxed-out").arrived).toBe(1);
  });

  it("contract 2: still pending at the bound is 500, and the outbox goes on with it", async () => {
    await using admin = await startAdmin({ outbox: true, operationTimeoutMs: 100 });
    using hold = admin.hub.channel("boxed-out").sends.hold();
    expect(await admin.call("POST", "/routes/boxed/inject", { subject: "s" })).toMatchObject({
      status: 500,
      body: { error: "the message is still pending in the outbox, which goes on delivering it" },
    });
    hold[Symbol.dispose]();
    await admin.hub.channel("boxed-out").waitForMessages(1, AbortSignal.timeout(10_000));
  });
});
