import { type Described, hostileRequests } from "@bridge/tooling/hostile-requests";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Admin, ADMIN_KEY, startAdmin, GOING_ON } from "./admin.ts";
import { deadLetter, keep } from "./bridge.ts";

/** Everything that a call could change, as callers see it. */
async function state(admin: Admin): Promise<unknown> {
  const views = ["/bridge", "/routes", "/dlq/messages", "/outbox"];
  return Promise.all(views.map(async (view) => (await admin.call("GET", view)).body));
}

describe("quality 4: hostile input to the admin server", () => {
  let admin: Admin;
  beforeAll(async () => {
    admin = await startAdmin({ outbox: true });
    await keep(admin, deadLetter("e1"));
  });
  afterAll(() => admin[Symbol.asyncDispose]());

  it("is answered as documented, as JSON, never with an internal error, and a 4xx has changed nothing", async () => {
    const document = (await (
      await fetch(`${admin.url}/api/v1/openapi.json`, { headers: { "X-API-Key": ADMIN_KEY } })
    ).json()) as Described;
    const statuses = new Set<number>();
    await fc.assert(
      fc.asyncProperty(hostileRequests(document), async ({ method, target, body, documented }) => {
        await admin.supervisor.start(AbortSignal.timeout(10_000));
        const before = await state(admin);
        const response = await fetch(admin.url + target, {
          method,
          headers: { "X-API-Key": ADMIN_KEY },
          ...(body !== undefined && { body }),
        });
        statuses.add(response.status);
        expect(documented).toContain(response.status);
        expect(response.status).not.toBe(500);
        if (GOING_ON.has(response.headers.get("Content-Type") ?? "")) {
          expect(response.status).toBe(200);
          await response.body?.cancel();
        } else {
          expect(response.headers.get("Content-Type")).toBe("application/json");
          expect(typeof (await response.json())).toBe("object");
        }
        expect(response.headers.get("X-Injected")).toBeNull();
        if (response.status >= 400 && response.status < 500 && response.status !== 422)
          expect(await state(admin)).toEqual(before);
      }),
      { numRuns: 250 },
    );
    expect([...statuses].toSorted((a, b) => a - b)).toEqual(expect.arrayContaining([200, 400, 404]));
    expect(admin.errors).toEqual([]);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect(Object.keys(Object.prototype)).toEqual([]);
  }, 60_000);
});
