import type { ApiKey, HttpSection } from "@bridge/config";
import { silentLogger } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { ConfiguredKeys } from "../src/configured-keys.ts";

const ADMIN = "admin-key-0123456789";
const OTHER = "other-key-0123456789";
const ALICE: ApiKey = { id: "alice", key: "alice-key-0123456789", role: "operator" };
const BOB: ApiKey = { id: "bob", key: "bob-key-0123456789", permissions: ["read"] };

const http = (keys: Partial<HttpSection>): HttpSection => ({
  adminAddr: ":0",
  monitorAddr: ":0",
  adminApiKey: "",
  monitorApiKey: "",
  apiKeys: [],
  corsOrigins: [],
  tlsCertFile: "",
  tlsKeyFile: "",
  ...keys,
});

function started(first: Partial<HttpSection>, env: Readonly<Record<string, string>> = {}) {
  const lines: string[] = [];
  const logger = {
    ...silentLogger,
    info: (line: string) => lines.push(line),
    error: (line: string) => lines.push(line),
  };
  const keys = new ConfiguredKeys(env, logger);
  const { admin, monitor } = keys.of(http(first));
  const name = (key: string): string | undefined => {
    const known = admin?.identify(key);
    expect(monitor.identify(key)).toEqual(known);
    return typeof known === "object" ? known.name : known;
  };
  return { keys, name, lines, admin };
}

describe("operators 5.1: the keys that the configuration names", () => {
  test("open as their roles and permissions say", () => {
    const { admin } = started({ apiKeys: [ALICE, BOB] });
    expect(admin?.identify(ALICE.key)).toMatchObject({ name: "alice", role: "operator" });
    expect(admin?.identify(BOB.key)).toEqual({ name: "bob", permissions: ["read"], role: undefined });
  });

  test("are in force as soon as the configuration is, and those without a name as they were at the start", () => {
    const { keys, name, lines } = started({ adminApiKey: ADMIN, apiKeys: [ALICE] });
    const next = http({ adminApiKey: OTHER, apiKeys: [{ ...ALICE, key: OTHER.toUpperCase() }, BOB] });
    keys.of(next);
    expect(name(BOB.key)).toBeUndefined();
    keys.follow(next);
    expect([ALICE.key, OTHER.toUpperCase(), BOB.key, ADMIN, OTHER].map(name)).toEqual([
      undefined,
      "alice",
      "bob",
      "admin",
      undefined,
    ]);
    keys.follow(next);
    expect(lines).toEqual(["http.api_keys has changed: the keys that it names now are in force"]);
  });

  test("go with the block that named them", () => {
    const { keys, name } = started({ apiKeys: [ALICE] }, { BRIDGE_ADMIN_API_KEY: ADMIN });
    keys.follow(undefined);
    expect([name(ALICE.key), name(ADMIN)]).toEqual([undefined, "admin"]);
  });

  test("are refused when nobody could change anything any more, and the former ones stay in force", () => {
    const { keys, name, lines } = started({ apiKeys: [ALICE] });
    expect(() => keys.of(undefined)).toThrow("the admin server would have no key any more");
    expect(() => keys.of(http({}))).toThrow("http.api_keys");
    keys.follow(undefined);
    expect(name(ALICE.key)).toBe("alice");
    expect(lines).toEqual(["http.api_keys cannot be used: the former keys stay in force"]);
  });

  test("cannot be changed over the admin server so that nobody can change them again, now or after a restart", () => {
    const { keys } = started({ adminApiKey: ADMIN, apiKeys: [ALICE] });
    const carol: ApiKey = { id: "carol", key: "carol-key-0123456789", permissions: ["config.write"] };
    expect(() => keys.demand(http({ apiKeys: [ALICE, BOB] }))).toThrow("nobody could change the configuration");
    expect(() => keys.demand(undefined)).toThrow("nobody could change the configuration");
    expect(() => keys.demand(http({}))).toThrow("the http block has no admin key");
    keys.demand(http({ apiKeys: [ALICE, carol] }));
    keys.demand(http({ apiKeys: [{ ...ALICE, role: "admin" }] }));
    keys.demand(http({ adminApiKey: OTHER }));

    const named = started({ apiKeys: [{ ...ALICE, role: "admin" }] });
    // The key of the block counts from the next start on.
    expect(() => named.keys.demand(http({ adminApiKey: OTHER, apiKeys: [BOB] }))).toThrow("nobody could change");
    const fromOutside = started({ apiKeys: [ALICE] }, { BRIDGE_ADMIN_API_KEY: ADMIN });
    fromOutside.keys.demand(undefined);
  });

  test("are refused beside the same key of the start, which is still in force", () => {
    const { keys, name } = started({ adminApiKey: ADMIN });
    const next = http({ adminApiKey: OTHER, apiKeys: [{ ...ALICE, key: ADMIN }] });
    expect(() => keys.of(next)).toThrow('the API keys "admin" and "alice" are the same');
    keys.follow(next);
    expect(name(ADMIN)).toBe("admin");
  });
});
