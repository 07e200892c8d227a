import { createHash, createHmac } from "node:crypto";
import { silentLogger, systemRandom } from "@bridge/ports";
import { times } from "@bridge/tooling/long";
import { ManualClock } from "@bridge/tooling/manual-clock";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createKeyring, type Keyring, type NamedKey } from "../../src/keyring.ts";
import { type SessionOptions, Sessions } from "../../src/session/sessions.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const ALICE: NamedKey = { name: "alice", key: "alice-key-0123456789", role: "viewer", permissions: ["read"] };
const BOB: NamedKey = { name: "bob", key: "bob-key-0123456789" };
const URL_OF_BRIDGE = "http://bridge.test:8080/api/v1/admin/session";
const NAME = `bridge-${createHash("sha256").update("plant-7").digest("hex").slice(0, 8)}`;

/** A clock that goes where it is put. */
class AnyClock extends ManualClock {
  offset = 0;

  override now(): number {
    return super.now() + this.offset;
  }
}

function sessionsOf(keyring: Keyring, clock: AnyClock, options: Partial<SessionOptions> = {}): Sessions {
  const holder = (name: string) => keyring.holder?.(name);
  const seams = { holder, origins: ["https://ops.example"], clock, random: systemRandom(), logger: silentLogger };
  return new Sessions({ bridgeId: () => "plant-7", ...options }, seams);
}

function requestWith(cookie: string | undefined, init: RequestInit = {}, url = URL_OF_BRIDGE): Request {
  const headers = new Headers(init.headers);
  if (cookie !== undefined) headers.set("Cookie", cookie);
  return new Request(url, { ...init, headers });
}

/** What a browser keeps of a `Set-Cookie` header. */
function kept(setCookie: string | undefined): string {
  return (setCookie ?? "").split(";")[0] ?? "";
}

function begun(sessions: Sessions, name = "alice"): string {
  return kept(sessions.begin(name, requestWith(undefined))?.cookie);
}

function callerIn(sessions: Sessions, cookie: string): string | undefined {
  const found = sessions.of(requestWith(cookie));
  return typeof found === "object" ? found.caller.name : found;
}

describe("operators 5.4: a session", () => {
  it("is its key's caller, at any instance that has the key, and until the key is taken away", () => {
    const clock = new AnyClock();
    const first = sessionsOf(createKeyring([ALICE, BOB]), clock);
    const cookie = begun(first);
    expect(first.of(requestWith(cookie))).toMatchObject({ caller: { name: "alice", role: "viewer" } });
    expect(callerIn(sessionsOf(createKeyring([BOB, ALICE]), clock), cookie)).toBe("alice");
    expect(callerIn(sessionsOf(createKeyring([BOB]), clock), cookie)).toBeUndefined();
    expect(callerIn(sessionsOf(createKeyring([{ ...ALICE, key: "alice-second-0123456789" }]), clock), cookie)).toBe(
      undefined,
    );
    // The name of one key with the secret of another.
    expect(callerIn(sessionsOf(createKeyring([{ ...BOB, name: "alice" }]), clock), cookie)).toBeUndefined();
    // What the key opens now, and not what it did.
    const more = sessionsOf(
      createKeyring([{ ...ALICE, role: "operator", permissions: ["read", "dlq.redrive"] }]),
      clock,
    );
    expect(more.of(requestWith(cookie))).toMatchObject({ caller: { permissions: ["read", "dlq.redrive"] } });
  });

  it("of one bridge is none at another one with the same key, under the name of its cookie", () => {
    const clock = new AnyClock();
    const keyring = createKeyring([ALICE]);
    const cookie = begun(sessionsOf(keyring, clock));
    const other = sessionsOf(keyring, clock, { bridgeId: () => "plant-8" });
    const [name] = begun(other).split("=");
    expect(callerIn(other, `${name}=${cookie.slice(cookie.indexOf("=") + 1)}`)).toBeUndefined();
    expect(callerIn(other, begun(other))).toBe("alice");
  });

  it("begins only for a key that there is, and where there is a bridge", () => {
    const clock = new AnyClock();
    expect(sessionsOf(createKeyring([ALICE]), clock).begin("bob", requestWith(undefined))).toBeUndefined();
    const noBridge = sessionsOf(createKeyring([ALICE]), clock, { bridgeId: () => undefined });
    expect(noBridge.begin("alice", requestWith(undefined))).toBeUndefined();
    expect(noBridge.end(requestWith(undefined))).toBeUndefined();
    expect(noBridge.begun).toBe(0);
  });

  it("has a cookie that says by its name which bridge it is of and whether TLS carries it", () => {
    const clock = new AnyClock();
    const of = (init: RequestInit, url: string, options: Partial<SessionOptions> = {}) =>
      sessionsOf(createKeyring([ALICE]), clock, options).begin("alice", requestWith(undefined, init, url))?.cookie;
    const plain = "http://bridge.test/x";
    const proto = (value: string): RequestInit => ({ headers: { "X-Forwarded-Proto": value } });
    const open = new RegExp(`^${NAME}=\\S+; HttpOnly; SameSite=Strict; Path=/; Max-Age=3600$`);
    const tls = new RegExp(`^__Host-${NAME}=\\S+; HttpOnly; Secure; SameSite=Strict; Path=/; Max-Age=3600$`);
    expect(of({}, plain)).toMatch(open);
    expect(of({}, "https://bridge.test/x")).toMatch(tls);
    expect(of(proto("https"), plain)).toMatch(open);
    const trusting = { trustForwardedProto: true };
    expect(of(proto("https"), plain, trusting)).toMatch(tls);
    expect(of(proto("HTTPS, http"), plain, trusting)).toMatch(tls);
    expect(of(proto("http"), "https://bridge.test/x", trusting)).toMatch(open);
    expect(of({}, plain, trusting)).toMatch(open);
    // Of another bridge on the same host.
    expect(of({}, plain, { bridgeId: () => "plant-8" })).not.toContain(NAME);
    // A browser that has both sends both.
    const sessions = sessionsOf(createKeyring([ALICE]), clock);
    expect(callerIn(sessions, `bridge-00000000=x; ${begun(sessions)}; theme=dark`)).toBe("alice");
    // What plain HTTP may have put there is not taken over TLS.
    expect(sessions.of(requestWith(begun(sessions), {}, "https://bridge.test/x"))).toBeUndefined();
  });

  it("is renewed by an answer to a token older than 5 minutes, and lives no longer than its key was shown", () => {
    const clock = new AnyClock();
    const sessions = sessionsOf(createKeyring([ALICE]), clock, { idleMs: HOUR, maxMs: 12 * HOUR });
    let cookie = begun(sessions);
    const look = () => sessions.of(requestWith(cookie));
    const endsAt = clock.now() + 12 * HOUR;
    clock.offset += 5 * MINUTE;
    expect(look()).toMatchObject({ renewed: undefined, endsAt });
    clock.offset += 1;
    let ages = 0;
    for (;;) {
      const found = look();
      if (typeof found !== "object") break;
      expect(found.endsAt).toBe(endsAt);
      expect(kept(found.renewed)).not.toBe(cookie);
      cookie = kept(found.renewed);
      clock.offset += 50 * MINUTE;
      ages++;
    }
    expect(look()).toBe("over");
    expect(ages).toBe(Math.ceil((12 * 60 - 5) / 50));
  });

  it("is over an hour after its last request, and soon after it would be at the end a cookie is gone too", () => {
    const clock = new AnyClock();
    const sessions = sessionsOf(createKeyring([ALICE]), clock, { idleMs: HOUR, maxMs: 2 * HOUR });
    const cookie = begun(sessions);
    clock.offset += HOUR - 1;
    const found = sessions.of(requestWith(cookie));
    if (typeof found !== "object") throw new Error("it is over");
    clock.offset += HOUR - 1 * MINUTE;
    const again = sessions.of(requestWith(kept(found.renewed)));
    expect(again).toMatchObject({ renewed: expect.stringMatching(/; Max-Age=60$/) as string });
    expect(sessions.of(requestWith(cookie))).toBe("over");
  });

  it("that is ended is over for every token of it, and no other is", () => {
    const clock = new AnyClock();
    const sessions = sessionsOf(createKeyring([ALICE]), clock);
    const [one, other] = [begun(sessions), begun(sessions)];
    clock.offset += 6 * MINUTE;
    const found = sessions.of(requestWith(one));
    const renewed = typeof found === "object" ? kept(found.renewed) : "";
    expect(sessions.end(requestWith(one))).toBe(`${NAME}=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0`);
    expect([one, renewed, other].map((cookie) => callerIn(sessions, cookie))).toEqual(["over", "over", "alice"]);
    expect(typeof found === "object" && found.again()).toBe("expired");
  });

  it("that was ended is remembered while 10,000 others are, and what is no session's cookie ends none", () => {
    const clock = new AnyClock();
    const sessions = sessionsOf(createKeyring([ALICE]), clock);
    const first = begun(sessions);
    sessions.end(requestWith(first));
    for (let n = 0; n < 20_000; n++) sessions.end(requestWith(`${NAME}=guess-${n}`));
    for (let n = 0; n < 9_999; n++) sessions.end(requestWith(begun(sessions)));
    expect(callerIn(sessions, first)).toBe("over");
    sessions.end(requestWith(begun(sessions)));
    expect(callerIn(sessions, first)).toBe("alice");
  });

  it.each([
    [{ idleMs: 0 }, "sessions.idleMs is 0"],
    [{ maxMs: Number.NaN }, "sessions.maxMs is NaN"],
    [{ idleMs: Infinity }, "sessions.idleMs is Infinity"],
  ])("cannot have the times %j", (options, message) => {
    expect(() => sessionsOf(createKeyring([ALICE]), new AnyClock(), options)).toThrow(message);
  });
});

describe("operators 5.4: a token", () => {
  it("with one bit changed is none", () => {
    const clock = new AnyClock();
    const sessions = sessionsOf(createKeyring([ALICE, BOB]), clock);
    const token = begun(sessions).slice(NAME.length + 1);
    for (let at = 0; at < token.length; at++)
      for (let bit = 0; bit < 7; bit++) {
        const changed = String.fromCharCode(token.charCodeAt(at) ^ (1 << bit));
        const other = token.slice(0, at) + changed + token.slice(at + 1);
        const headers = { get: (name: string) => (name === "cookie" ? `${NAME}=${other}` : null) };
        const request = { headers, url: URL_OF_BRIDGE, method: "GET" } as unknown as Request;
        expect([other, sessions.of(request)]).toEqual([other, undefined]);
      }
  });

  it("that ends in another character is none, though it stands for the same bytes", () => {
    const sessions = sessionsOf(createKeyring([ALICE]), new AnyClock());
    const cookie = begun(sessions);
    for (const last of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
      expect([last, callerIn(sessions, cookie.slice(0, -1) + last)]).toEqual([
        last,
        cookie.endsWith(last) ? "alice" : undefined,
      ]);
  });

  it("of a name that no key has is none, whatever it is signed with", () => {
    const sessions = sessionsOf(createKeyring([ALICE]), new AnyClock());
    const signed = begun(sessions)
      .slice(NAME.length + 1)
      .replace("~alice~", "~mallory~")
      .replace(/~[^~]+$/, "");
    // What stands in for the key of nobody is written where all can read it.
    const signature = createHmac("sha256", "nobody").update(signed).digest("base64url");
    expect(sessions.of(requestWith(`${NAME}=${signed}~${signature}`))).toBeUndefined();
  });

  it("with more or less of it, or another's part, is none", () => {
    const clock = new AnyClock();
    const sessions = sessionsOf(createKeyring([ALICE, BOB]), clock);
    const [mine, bobs] = [begun(sessions).slice(NAME.length + 1), begun(sessions, "bob").slice(NAME.length + 1)];
    const parts = mine.split("~");
    const others = bobs.split("~");
    fc.assert(
      fc.property(fc.array(fc.boolean(), { minLength: 6, maxLength: 6 }), (takesOther) => {
        const mixed = parts.map((part, at) => (takesOther[at] === true ? others[at] : part)).join("~");
        const caller = callerIn(sessions, `${NAME}=${mixed}`);
        expect(caller).toBe(mixed === mine ? "alice" : mixed === bobs ? "bob" : undefined);
      }),
      { numRuns: 200 },
    );
    fc.assert(
      fc.property(fc.nat(mine.length), fc.nat(mine.length), fc.stringMatching(/^[\w~.-]{0,40}$/), (a, b, text) => {
        const [from, to] = [Math.min(a, b), Math.max(a, b)];
        const spoiled = mine.slice(0, from) + text + mine.slice(to);
        expect(callerIn(sessions, `${NAME}=${spoiled}`)).toBe(spoiled === mine ? "alice" : undefined);
      }),
      { numRuns: times(2_000, 50_000) },
    );
  });

  it("is good exactly while its times hold and it has not been seen too late, wherever the clock is put", () => {
    const idleMs = HOUR;
    const maxMs = 3 * HOUR;
    const moves = fc.array(fc.integer({ min: -4 * HOUR, max: 4 * HOUR }), { minLength: 1, maxLength: 30 });
    let [good, refused, late] = [0, 0, 0];
    fc.assert(
      fc.property(moves, (steps) => {
        const clock = new AnyClock();
        const sessions = sessionsOf(createKeyring([ALICE]), clock, { idleMs, maxMs });
        const began = clock.now();
        let [issued, cookie] = [began, begun(sessions)];
        const seenLate = new Set<string>();
        for (const step of steps) {
          clock.offset += step;
          const now = clock.now();
          const isFuture = issued > now + MINUTE;
          const isPast = !isFuture && (now - issued >= idleMs || now - began >= maxMs);
          const isGood = !isFuture && !isPast && !seenLate.has(cookie);
          if (!isFuture && !isPast && seenLate.has(cookie)) late++;
          if (isPast) seenLate.add(cookie);
          const found = sessions.of(requestWith(cookie));
          expect(found).toEqual(isGood ? expect.objectContaining({ endsAt: began + maxMs }) : "over");
          if (typeof found === "object" && found.renewed !== undefined) [issued, cookie] = [now, kept(found.renewed)];
          if (isGood) good++;
          else refused++;
        }
      }),
      { numRuns: times(500, 20_000) },
    );
    // The property has seen each of them.
    expect(Math.min(good, refused, late)).toBeGreaterThan(0);
  });

  it("that was issued more than a minute ahead of us is not good yet", () => {
    const clock = new AnyClock();
    const keyring = createKeyring([ALICE]);
    const cookie = begun(sessionsOf(keyring, clock));
    clock.offset = -MINUTE;
    expect(callerIn(sessionsOf(keyring, clock), cookie)).toBe("alice");
    clock.offset -= 1;
    expect(callerIn(sessionsOf(keyring, clock), cookie)).toBe("over");
  });

  it("is not guessed: tokens that look like one are none, and change nothing", () => {
    const clock = new AnyClock();
    const sessions = sessionsOf(createKeyring([ALICE, BOB]), clock);
    const mine = begun(sessions);
    const signed = mine.slice(0, mine.lastIndexOf("~") + 1);
    for (let n = 0; n < times(20_000, 1_000_000); n++) {
      const guess = createHash("sha256").update(String(n)).digest("base64url");
      const request = requestWith(
        n % 2 === 0 ? signed + guess : `${NAME}=1~bob~${clock.now()}~${clock.now()}~${guess}~${guess}`,
      );
      if (sessions.of(request) !== undefined) throw new Error(`guess ${n} was taken`);
    }
    expect([sessions.begun, callerIn(sessions, mine)]).toEqual([1, "alice"]);
  });

  it("says nothing of the key", () => {
    const sessions = sessionsOf(createKeyring([ALICE]), new AnyClock());
    expect(begun(sessions)).not.toContain(ALICE.key);
    expect(begun(sessions)).not.toContain(createHash("sha256").update(ALICE.key).digest("base64url"));
  });
});

describe("operators 5.4: a request with a session's cookie", () => {
  const clock = new AnyClock();
  const sessions = sessionsOf(createKeyring([ALICE]), clock);
  const cookie = begun(sessions);
  const own = { "X-Bridge-Console": "1", Origin: "http://bridge.test:8080", Host: "bridge.test:8080" };
  const isForeign = (method: string, headers: Record<string, string>, url = URL_OF_BRIDGE, where = sessions) => {
    const found = where.of(requestWith(cookie, { method, headers }, url));
    return typeof found === "object" && found.mayBeCrossSite;
  };

  it.each<[string, Record<string, string>, boolean]>([
    ["all three", own, false],
    ["and the browser agrees", { ...own, "Sec-Fetch-Site": "same-origin" }, false],
    ["a page of another port of the host", { ...own, "Sec-Fetch-Site": "same-site" }, true],
    ["another site", { ...own, "Sec-Fetch-Site": "cross-site" }, true],
    ["typed by hand", { ...own, "Sec-Fetch-Site": "none" }, true],
    ["no header", { Origin: own.Origin, Host: own.Host }, true],
    ["another value of it", { ...own, "X-Bridge-Console": "true" }, true],
    ["no origin", { "X-Bridge-Console": "1", Host: own.Host }, true],
    ["an opaque origin", { ...own, Origin: "null" }, true],
    ["another port", { ...own, Origin: "http://bridge.test:3000" }, true],
    ["no port", { ...own, Origin: "http://bridge.test" }, true],
    ["another host", { ...own, Origin: "http://evil.test:8080" }, true],
    ["a host that ends so", { ...own, Origin: "http://evil-bridge.test:8080" }, true],
    ["a host that begins so", { ...own, Origin: "http://bridge.test:8080.evil.test" }, true],
    ["a user that is called so", { ...own, Host: "x@bridge.test:8080" }, true],
    ["another scheme", { ...own, Origin: "ftp://bridge.test:8080" }, true],
    ["an origin that was allowed", { ...own, Origin: "https://ops.example" }, false],
    [
      "behind a proxy with TLS that nobody told of",
      { ...own, Origin: "https://bridge.test", Host: "bridge.test" },
      false,
    ],
    [
      "a host in capitals, and a port that goes without saying",
      { ...own, Origin: "http://bridge.test", Host: "Bridge.test:80" },
      false,
    ],
  ])("that changes something, with %s", (_name, headers, foreign) => {
    for (const method of ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
      expect([method, isForeign(method, headers)]).toEqual([method, foreign]);
  });

  it("over TLS takes no origin without", () => {
    const trusting = sessionsOf(createKeyring([ALICE]), clock, { trustForwardedProto: true });
    const secure = { "X-Forwarded-Proto": "https", ...own, Host: "bridge.test" };
    const over = (origin: string) => {
      const found = trusting.of(
        requestWith(`__Host-${cookie}`, { method: "POST", headers: { ...secure, Origin: origin } }),
      );
      return typeof found === "object" && found.mayBeCrossSite;
    };
    expect(over("https://bridge.test")).toBe(false);
    expect(over("http://bridge.test")).toBe(true);
  });

  it.each([
    [undefined, false],
    ["same-origin", false],
    ["none", false],
    ["same-site", true],
    ["cross-site", true],
    ["nonsense", true],
  ])("that looks, and whose browser says %s", (site, foreign) => {
    for (const method of ["GET", "HEAD"])
      expect(isForeign(method, site === undefined ? {} : { "Sec-Fetch-Site": site })).toBe(foreign);
  });
});
