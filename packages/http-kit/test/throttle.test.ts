import { type Context, Hono } from "hono";
import { describe, expect, it } from "vitest";
import { AuthRefusals } from "../src/auth-refusals.ts";
import { byKey, createAuthenticator } from "../src/authenticator.ts";
import { createKeyring } from "../src/keyring.ts";
import { Throttle } from "../src/throttle.ts";
import { KEY, manualClock } from "./server.ts";

/** What an app is given with a request. */
function contextOf(path: string): Promise<Context> {
  return new Promise((resolve) => {
    const app = new Hono().get(path, (context) => {
      resolve(context);
      return context.text("");
    });
    void app.request(path);
  });
}

describe("contract 3: throttle", () => {
  it.each([NaN, 0, -1, Infinity])("is not switched off by a bound of %d", (value) => {
    expect(() => new Throttle(manualClock(), { limit: value })).toThrow(`throttle.limit is ${value}`);
    expect(() => new Throttle(manualClock(), { windowMs: value })).toThrow(`throttle.windowMs is ${value}`);
  });

  it("answers five failures a minute, and says when the sixth would be heard", () => {
    const clock = manualClock();
    const throttle = new Throttle(clock);
    for (let n = 0; n < 5; n++) {
      expect(throttle.fail("a")).toBe(0);
      clock.advance(1_000);
    }
    expect(throttle.fail("a")).toBe(55_000);
    clock.advance(54_999);
    expect(throttle.fail("a")).toBe(1);
    clock.advance(1);
    expect(throttle.fail("a")).toBe(0);
  });

  it("never answers more than five failures in any minute", () => {
    const clock = manualClock();
    const throttle = new Throttle(clock);
    const answered: number[] = [];
    for (let n = 0; n < 1_000; n++) {
      if (throttle.fail("a") === 0) answered.push(clock.monotonic());
      clock.advance(997);
    }
    expect(answered.length).toBeGreaterThan(50);
    for (const [index, at] of answered.entries())
      expect(at - (answered[index - 5] ?? -Infinity)).toBeGreaterThanOrEqual(60_000);
  });

  it("counts each client by itself", () => {
    const throttle = new Throttle(manualClock());
    for (let n = 0; n < 6; n++) throttle.fail("a");
    expect(throttle.fail("a")).toBeGreaterThan(0);
    expect(throttle.fail("b")).toBe(0);
  });

  it("forgets the failures of a client that showed a valid key", () => {
    const throttle = new Throttle(manualClock());
    for (let n = 0; n < 6; n++) throttle.fail("a");
    throttle.reset("a");
    expect(throttle.fail("a")).toBe(0);
  });

  it("remembers a bounded number of clients, the most recent ones", () => {
    const throttle = new Throttle(manualClock());
    for (let n = 0; n < 5; n++) throttle.fail("first");
    for (let client = 0; client < 5_000; client++) throttle.fail(`client-${client}`);
    expect(throttle.fail("first")).toBeGreaterThan(0);
    for (let client = 5_000; client < 15_000; client++) throttle.fail(`client-${client}`);
    expect(throttle.fail("first")).toBe(0);
  });

  it("100,000 clients take the room of 10,000, and one with a valid key is not among them", async () => {
    const throttle = new Throttle(manualClock());
    const authenticate = createAuthenticator({
      server: "admin",
      identify: byKey(createKeyring([{ name: "alice", key: KEY }]), undefined),
      refusal: "no",
      throttle,
      refusals: new AuthRefusals(),
      audit: { record: async () => true, hasRoomFor: async () => true },
    });
    const peerOf = (client: number): string => `10.${client >> 16}.${(client >> 8) & 255}.${client & 255}`;
    const context = await contextOf("/");
    const call = async (client: number, key: string): Promise<string> => {
      const peer = peerOf(client);
      const headers = new Headers({ "X-API-Key": key });
      return (await authenticate({ peer, clientAddr: peer, headers, context, byKeyOnly: false })).caller.name;
    };
    for (let client = 0; client < 100_000; client++) throttle.fail(peerOf(client));
    expect(throttle.clients).toBe(10_000);
    for (let n = 0; n < 10; n++) await call(99_999, "wrong").catch(() => {});
    await expect(call(99_999, "wrong")).rejects.toMatchObject({ status: 429 });
    expect(await call(99_999, KEY)).toBe("alice");
    expect(throttle.clients).toBe(9_999);
  });

  it("takes another limit and window", () => {
    const clock = manualClock();
    const throttle = new Throttle(clock, { limit: 1, windowMs: 10 });
    expect([throttle.fail("a"), throttle.fail("a")]).toEqual([0, 10]);
    clock.advance(10);
    expect(throttle.fail("a")).toBe(0);
  });
});
