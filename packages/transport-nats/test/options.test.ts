import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { receiverOptions, sessionOptions } from "../src/options.ts";

function problems(schema: v.GenericSchema, options: object): readonly string[] {
  const { issues = [] } = v.safeParse(schema, options);
  return issues.map((issue) => `${v.getDotPath(issue) ?? ""}: ${issue.message}`);
}

const SEED = `SU${"A".repeat(56)}`;
const CREDS = `-----BEGIN NATS USER JWT-----
eyJ0.eyJq.c2ln
------END NATS USER JWT------

************************* IMPORTANT *************************
-----BEGIN USER NKEY SEED-----
${SEED}
------END USER NKEY SEED------
`;

describe("options of a session", () => {
  const servers = ["nats://a:4222", "nats://b"];

  test("have defaults", () => {
    expect(v.parse(sessionOptions, { servers })).toEqual({
      servers,
      ping_interval: 10_000,
      connect_timeout: 10_000,
      inbox_prefix: "_INBOX",
      max_message_bytes: 16_777_216,
    });
  });

  test.each([
    ["http://a", 'servers.0: expected "nats://", or with TLS "tls://"'],
    ["a:4222", 'servers.0: expected "nats://", or with TLS "tls://"'],
    ["nats://", "servers.0: a server's address needs a host"],
    ["nats://a/b", "servers.0: a server's address is a host and a port, and nothing behind it"],
    [
      "nats://me:hunter22@a",
      "servers.0: a server's address holds no credentials: use username and password, token, nkey_seed or creds",
    ],
  ])("refuse the address %s", (server, problem) => {
    expect(problems(sessionOptions, { servers: [server] })).toEqual([problem]);
  });

  test.each([
    { username: "bridge", password: "hunter22" },
    { token: "hunter22" },
    { nkey_seed: SEED },
    { nkey_seed: `${SEED}\n` },
    { creds: CREDS },
  ])("take one kind of credentials: %j", (credentials) => {
    expect(problems(sessionOptions, { servers, ...credentials })).toEqual([]);
  });

  test("refuse credentials of two kinds, of half a kind, or of none, and do not repeat them", () => {
    expect(problems(sessionOptions, { servers, token: "hunter22", nkey_seed: SEED })).toEqual([
      ": says more than once who the bridge is: set one of username, token, nkey_seed, creds",
    ]);
    expect(problems(sessionOptions, { servers, username: "bridge" })).toEqual([
      "username: goes with password: set both or none",
    ]);
    const wrong = { nkey_seed: "hunter22", creds: "hunter23" };
    const found = problems(sessionOptions, { servers, ...wrong }).join();
    expect(found).toContain("nkey_seed: not the seed of a user");
    expect(found).toContain("creds: not the text of a .creds file");
    expect(found).not.toContain("hunter2");
  });

  test("refuse tls beside an address without TLS", () => {
    const tls = { ca_file: "ca.pem" };
    expect(problems(sessionOptions, { servers: ["tls://a"], tls })).toEqual([]);
    expect(problems(sessionOptions, { servers: ["tls://a", "nats://b"], tls })).toEqual([
      'tls: has no effect without addresses with TLS: write all of them as "tls://"',
    ]);
  });

  test.each(["a.", ".a", "a..b", "a b", "a.*", "a.>"])("refuse the inbox prefix %j", (prefix) => {
    expect(problems(sessionOptions, { servers, inbox_prefix: prefix })).toHaveLength(1);
  });
});

describe("options of a receiver", () => {
  test("name a stream, and what is to be said of a consumer that the bridge makes", () => {
    expect(problems(receiverOptions, { stream: "S" })).toEqual([]);
    const made = { filter_subject: "a.*.>", deliver: "new", ack_wait: "5s", max_ack_pending: 7 };
    expect(problems(receiverOptions, { stream: "S", ...made })).toEqual([]);
    expect(problems(receiverOptions, { stream: "S", consumer: "c", create: true, ...made })).toEqual([]);
    expect(problems(receiverOptions, { stream: "S", consumer: "c", ...made })).toEqual(
      Object.keys(made).map(
        (name) => `${name}: has no effect on a consumer that is there already: set create, or remove it`,
      ),
    );
  });

  test.each([
    [{}, "stream"],
    [{ stream: "a.b" }, "stream"],
    [{ stream: "S", consumer: "a b" }, "consumer"],
    [{ stream: "S", filter_subject: "a.>.b" }, "filter_subject"],
    [{ stream: "S", filter_subject: ">.b" }, "filter_subject"],
    [{ stream: "S", ack_wait: "100ms" }, "ack_wait"],
    [{ stream: "S", max_ack_pending: 0 }, "max_ack_pending"],
  ])("refuse %j", (options, field) => {
    expect(problems(receiverOptions, options)).toEqual([expect.stringMatching(new RegExp(`^${field}: `))]);
  });
});
