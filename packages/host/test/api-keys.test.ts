import type { HttpSection } from "@bridge/config";
import { describe, expect, test } from "vitest";
import { apiKeys } from "../src/api-keys.ts";

const KEY = "0123456789abcdef";
const OTHER = "fedcba9876543210";
const http = (keys: Partial<HttpSection> = {}): HttpSection => ({
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

describe("contract 3: where the keys come from", () => {
  test("the configuration comes before the environment", () => {
    const env = { BRIDGE_ADMIN_API_KEY: OTHER, BRIDGE_MONITOR_API_KEY: OTHER };
    expect(apiKeys(http({ adminApiKey: KEY, monitorApiKey: KEY }), env)).toEqual({
      adminApiKey: KEY,
      monitorApiKey: KEY,
    });
  });

  test("the environment gives what the configuration has not", () => {
    const env = { BRIDGE_ADMIN_API_KEY: KEY, BRIDGE_MONITOR_API_KEY: OTHER };
    expect(apiKeys(http(), env)).toEqual({ adminApiKey: KEY, monitorApiKey: OTHER });
    expect(apiKeys(undefined, env)).toEqual({ adminApiKey: KEY, monitorApiKey: OTHER });
  });

  test("a monitor key is not needed", () => {
    expect(apiKeys(http({ adminApiKey: KEY }), {})).toEqual({ adminApiKey: KEY, monitorApiKey: undefined });
  });

  test("without an http block no key is needed", () => {
    expect(apiKeys(undefined, { BRIDGE_ADMIN_API_KEY: "" })).toEqual({
      adminApiKey: undefined,
      monitorApiKey: undefined,
    });
  });

  test("an http block without an admin key is refused", () => {
    expect(() => apiKeys(http({ monitorApiKey: KEY }), {})).toThrow(/admin_api_key.*BRIDGE_ADMIN_API_KEY/);
  });

  test.each(["BRIDGE_ADMIN_API_KEY", "BRIDGE_MONITOR_API_KEY"])(
    "spec 5.4: a short key in %s is refused unseen",
    (name) => {
      const short = KEY.slice(1);
      const refused = () =>
        apiKeys(http({ adminApiKey: name === "BRIDGE_ADMIN_API_KEY" ? "" : KEY }), { [name]: short });
      expect(refused).toThrow(`the key in the environment variable ${name} is too short: use at least 16 characters`);
    },
  );
});
