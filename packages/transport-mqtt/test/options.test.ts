import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { parseBrokerUrl } from "../src/broker-url.ts";
import { clientIdOf, clientOptions } from "../src/link-options.ts";
import { senderOptions, sessionOptions } from "../src/options.ts";

const URLS = { broker_urls: ["mqtt://host"] };

function problems(options: unknown, schema: v.GenericSchema = sessionOptions): string[] {
  const { issues = [] } = v.safeParse(schema, options);
  return issues.map((issue) => `${v.getDotPath(issue) ?? ""}: ${issue.message}`);
}

describe("session options", () => {
  test("have the defaults that the README names", () => {
    expect(v.parse(sessionOptions, URLS)).toEqual({
      broker_urls: ["mqtt://host"],
      protocol_version: 5,
      keep_alive: 30_000,
      connect_timeout: 10_000,
      session_expiry: 86_400_000,
      ack_order: "connection",
      retain_as_published: false,
      id_property: "message-id",
      max_message_bytes: 16_777_216,
    });
  });

  test.each([
    [{ broker_urls: [] }, /^broker_urls: name at least one broker/],
    [{ broker_urls: ["host:1883"] }, /^broker_urls\.0: .*mqtt:\/\//],
    [{ broker_urls: ["http://host"] }, /^broker_urls\.0: expected "mqtt:\/\/"/],
    [{ broker_urls: ["mqtt://user:pass@host"] }, /^broker_urls\.0: .*use username and password/],
    [{ broker_urls: ["mqtt://host/path"] }, /^broker_urls\.0: .*no path/],
    [{ ...URLS, protocol_version: 3 }, /^protocol_version: expected 5/],
    [{ ...URLS, keep_alive: "0s" }, /^keep_alive: expected a duration from 1s/],
    [{ ...URLS, keep_alive: 30 }, /^keep_alive: a duration is a string/],
    [{ ...URLS, connect_timeout: "2m" }, /^connect_timeout: expected a duration up to 55s/],
    [{ ...URLS, tls: {} }, /^tls: has no effect/],
    [{ broker_urls: ["mqtts://host"], tls: { cert_file: "c.pem" } }, /^tls\.cert_file: goes with key_file/],
    [{ ...URLS, protocol_version: 4, password: "p" }, /^password: needs a username/],
    [{ ...URLS, protocol_version: 4, receive_maximum: 5 }, /^receive_maximum: is known to MQTT 5 only/],
    [{ ...URLS, receive_maximum: 0 }, /^receive_maximum: expected an integer from 1/],
    [{ ...URLS, will: { topic: "a/#" } }, /^will\.topic: not a topic/],
    [{ ...URLS, will: { topic: "a", qos: 3 } }, /^will\.qos: expected 0, 1 or 2/],
    [{ ...URLS, clientId: "x" }, /clientId/],
  ])("%j are refused", (options, problem) => {
    expect(problems(options)).toEqual([expect.stringMatching(problem)]);
  });

  test("show no password that stands in an address", () => {
    expect(problems({ broker_urls: ["mqtt://user:hunter22@host"] }).join()).not.toContain("hunter22");
    expect(problems({ broker_urls: ["http://user:hunter22@host"] }).join()).not.toContain("hunter22");
  });
});

test("a sender's qos is 0 or 1", () => {
  expect(v.parse(senderOptions, {})).toEqual({ qos: 1, retain: false });
  expect(problems({ qos: 2 }, senderOptions)).toEqual([expect.stringMatching(/^qos: expected 0 or 1/)]);
});

test.each([
  ["mqtt://host", { tls: false, host: "host", port: 1883, label: "mqtt://host:1883" }],
  ["tcp://host:1884", { tls: false, host: "host", port: 1884, label: "mqtt://host:1884" }],
  ["mqtts://host", { tls: true, host: "host", port: 8883, label: "mqtts://host:8883" }],
  ["ssl://[::1]:1", { tls: true, host: "::1", port: 1, label: "mqtts://[::1]:1" }],
])("the address %s", (text, parsed) => {
  expect(parseBrokerUrl(text)).toEqual(parsed);
});

describe("a connection", () => {
  const context = {
    bridgeId: "north",
    id: "plant",
    role: "source",
    sessionMode: "persistent",
    maxInFlight: 7,
  } as const;
  const broker = parseBrokerUrl("mqtt://host");

  test("is named after its bridge and session, and differently for sending", () => {
    const options = v.parse(sessionOptions, URLS);
    expect(clientIdOf(options, context)).toBe("bridge-north:plant");
    expect(clientIdOf(options, { ...context, role: "target" })).toBe("bridge-north:plant-target");
    expect(clientIdOf(options, { ...context, replica: "north-2" })).toBe("bridge-north:plant:north-2");
    const named = v.parse(sessionOptions, { ...URLS, client_id: "me" });
    expect(clientIdOf(named, context)).toBe("me");
    expect(clientIdOf(named, { ...context, role: "target" })).toBe("me-target");
  });

  test("takes the window of the routes, unless it is given one", async () => {
    const options = v.parse(sessionOptions, URLS);
    expect(await clientOptions(options, context, broker)).toMatchObject({
      clean: false,
      properties: { receiveMaximum: 7, sessionExpiryInterval: 86_400 },
    });
    const given = v.parse(sessionOptions, { ...URLS, receive_maximum: 3 });
    expect(await clientOptions(given, context, broker)).toMatchObject({ properties: { receiveMaximum: 3 } });
    const wide = await clientOptions(options, { ...context, maxInFlight: 100_000 }, broker);
    expect(wide.properties?.receiveMaximum).toBe(65_535);
  });

  test("leaves nothing at the broker when it is ephemeral, or sends", async () => {
    const options = v.parse(sessionOptions, URLS);
    const ephemeral = await clientOptions(options, { ...context, sessionMode: "ephemeral" }, broker);
    expect(ephemeral).toMatchObject({ clean: true, properties: { receiveMaximum: 7 } });
    expect(ephemeral.properties?.sessionExpiryInterval).toBeUndefined();
    expect(await clientOptions(options, { ...context, role: "target" }, broker)).toMatchObject({
      clean: true,
      properties: {},
    });
    expect(await clientOptions(options, { ...context, sessionMode: "exclusive" }, broker)).toMatchObject({
      clean: false,
    });
  });

  test("names the TLS file that it cannot read", async () => {
    const options = v.parse(sessionOptions, { broker_urls: ["mqtts://host"], tls: { ca_file: "/nowhere/ca.pem" } });
    await expect(clientOptions(options, context, parseBrokerUrl("mqtts://host"))).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: 'tls.ca_file "/nowhere/ca.pem" cannot be read: ENOENT',
    });
  });
});
