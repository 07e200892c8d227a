import { atOnce, recordedText, toldText } from "@bridge/ports/internal";
import { describe, expect, test } from "vitest";
import { checkDocument } from "../../src/index.ts";
import { newReferences } from "../../src/transaction/new-references.ts";
import { goodDocument, type Json } from "../support/documents.ts";
import { registry } from "../support/plugins.ts";

const DOCUMENT = {
  config: { references: { allow: ["env:SITE_*", "file:/run/secrets/*"] } },
  http: { admin_api_key: "${env:ADMIN_KEY}" },
  bindings: [
    { id: "a", address: "${env:PLANT}/x" },
    { id: "b", address: "b" },
  ],
};

const withAddress = (address: string): object => ({
  ...DOCUMENT,
  bindings: [DOCUMENT.bindings[0], { id: "b", address }],
});

describe("finding 4.6: references that a change brings", () => {
  test.each([
    "plain",
    "$${file:/etc/passwd}",
    "${env:PLANT}",
    "${env:SITE_7}/${env:PLANT}",
    "${file:/run/secrets/site}",
  ])("%s may come", (address) => {
    expect(atOnce(newReferences(DOCUMENT, withAddress(address)))).toEqual([]);
  });

  test.each([
    "${file:/etc/passwd}",
    "${env:HOME}",
    "x${env:PLANT}${file:audit.key}y",
    "${file:/run/secrets/deeper/site}",
    "${file:/run/secrets/..}",
    "${env:SITE_/../X}",
    "${secret:other-kind}",
    "${file:/etc/passwd",
  ])("%s may not", (address) => {
    expect(atOnce(newReferences(DOCUMENT, withAddress(address)))).toEqual([
      {
        path: ["bindings", 1, "address"],
        message: expect.arrayContaining([expect.stringContaining("config.references.allow")]) as string[],
      },
    ]);
  });

  test("nor anywhere else", () => {
    const telemetry = { otlp: { headers: { x: "${file:/etc/passwd}" }, endpoint: "http://${env:HOME}" } };
    const found = atOnce(
      newReferences(DOCUMENT, { ...DOCUMENT, telemetry, routes: [{ id: "r", bindings: ["${env:HOME}"] }] }),
    );
    expect(found.map(({ path }) => path.join("."))).toEqual([
      "telemetry.otlp.headers.x",
      "telemetry.otlp.endpoint",
      "routes.0.bindings.0",
    ]);
  });

  describe("a secret becomes another key of the servers or of the audit, and goes nowhere else", () => {
    const SECRETS = {
      ...DOCUMENT,
      config: { references: { allow: ["env:SITE_*"] } },
      http: { admin_api_key: "${env:SITE_KEY}", api_keys: [{ id: "ci", key: "${env:ADMIN_KEY}" }] },
      senders: [{ id: "out", transport: "http", options: { url: "http://target", bearer: "${env:DB_PW}" } }],
    };
    const [out] = SECRETS.senders;
    const PLACES: readonly (readonly [string, (reference: string) => object])[] = [
      ["a header of another sender", (x) => ({ senders: [out, { ...out, id: "b", options: { headers: { x } } }] })],
      ["the URL of another sender", (x) => ({ senders: [out, { ...out, id: "b", options: { url: `http://${x}` } }] })],
      ["a new sender's secret", (x) => ({ senders: [out, { id: "new", options: { bearer: x } }] })],
      ["a receiver's secret", (x) => ({ receivers: [{ id: "in", options: { api_key: x } }] })],
      ["a session's password", (x) => ({ sessions: [{ id: "s", options: { auth: { password: x } } }] })],
      ["a store's options", (x) => ({ stores: { dlq: { type: "file", options: { path: x } } } })],
      ["a processor's options", (x) => ({ processors: [{ id: "p", options: { to: [x] } }] })],
      ["a binding's address", (x) => ({ bindings: [{ id: "b", address: `b/${x}` }] })],
      ["a header of the telemetry", (x) => ({ telemetry: { otlp: { headers: { x } } } })],
      ["an origin of the server", (x) => ({ http: { ...SECRETS.http, cors_origins: [x] } })],
    ];

    test.each(PLACES)("not %s", (_, with_) => {
      for (const reference of ["${env:SITE_KEY}", "${env:ADMIN_KEY}", "${env:DB_PW}"])
        expect(atOnce(newReferences(SECRETS, { ...SECRETS, ...with_(reference) }))).toHaveLength(1);
    });

    test("and one of plugin options anywhere in these, but none of the servers' keys", () => {
      for (const changes of [{ headers: { x: "${env:DB_PW}" } }, { url: "http://t/${env:DB_PW}" }]) {
        const senders = [{ ...out, options: { ...out?.options, ...changes } }];
        expect(atOnce(newReferences(SECRETS, { ...SECRETS, senders }))).toEqual([]);
        const keys = JSON.parse(JSON.stringify(senders).replaceAll("DB_PW", "ADMIN_KEY")) as unknown;
        expect(atOnce(newReferences(SECRETS, { ...SECRETS, senders: keys })).length).toBeGreaterThan(0);
      }
    });

    test("but a key that is no server's may go where the document allows it", () => {
      const allowing = { ...SECRETS, config: { references: { allow: ["env:**"] } } };
      for (const [, with_] of PLACES) {
        expect(atOnce(newReferences(allowing, { ...allowing, ...with_("${env:DB_PW}") }))).toEqual([]);
        expect(atOnce(newReferences(allowing, { ...allowing, ...with_("${env:ADMIN_KEY}") }))).toMatchObject([
          { message: expect.arrayContaining([expect.stringContaining("stays where it stands")]) as string[] },
        ]);
      }
    });

    test("one of the servers' keys", () => {
      for (const reference of ["${env:SITE_KEY}", "${env:ADMIN_KEY}", "${env:DB_PW}"]) {
        const http = { ...SECRETS.http, monitor_api_key: reference };
        expect(atOnce(newReferences(SECRETS, { ...SECRETS, http }))).toEqual([]);
      }
    });
  });

  test("a reference stays where it is, when others come before its part", () => {
    const [a, b] = DOCUMENT.bindings;
    expect(atOnce(newReferences(DOCUMENT, { ...DOCUMENT, bindings: [{ id: "new", address: "n" }, b, a] }))).toEqual([]);
  });
});

describe("contract A.4: what came in through a reference and is not shown stays so", () => {
  const HIDDEN = "${env:PLANT}";
  const BEFORE = (): Json => {
    const document = goodDocument();
    const [sender] = document["senders"] as Json[];
    const [route] = document["routes"] as Json[];
    Object.assign(document["bridge"] as Json, { instance_id: "one", drain_timeout: "5s", recent_legs: 5 });
    Object.assign(sender ?? {}, { rate_limit: { messages_per_second: 5, burst: 2 } });
    Object.assign(route ?? {}, { policy: { max_replay_attempts: 7 }, delivery_mode: "direct_hold" });
    Object.assign(document, { audit: { log: true }, telemetry: { otlp: { endpoint: "http://127.0.0.1:4318" } } });
    (document["bindings"] as Json[]).push({ id: "second", sender_id: "out", address: HIDDEN });
    return document;
  };

  /** The places of all values, but for those in plugin options. */
  function* places(value: unknown, path: readonly (string | number)[] = []): Generator<readonly (string | number)[]> {
    if (path.at(-1) === "options") return;
    if (typeof value !== "object" || value === null) return void (yield path);
    for (const [key, part] of Object.entries(value))
      yield* places(part, [...path, Array.isArray(value) ? Number(key) : key]);
  }

  function valueIn(document: unknown, path: readonly (string | number)[]): unknown {
    return path.reduce((block, key) => (block as Json)[key], document);
  }

  function moved(path: readonly (string | number)[]): Json {
    const document = structuredClone(BEFORE());
    const block = valueIn(document, path.slice(0, -1)) as Json;
    block[path.at(-1) ?? ""] = HIDDEN;
    return document;
  }

  const PLACES = [...places(BEFORE())].map((path) => ({ at: path.join("."), path }));
  /** Where what comes in is taken out of everything that is shown, or leads nowhere because nothing has such a name. */
  const VEILED = /address$|\.topic$|transport$|(?:processors\.0|dlq)\.type$|endpoint$/;

  test.each(PLACES)("it does not come to $at, unless it is taken out of all that is shown there", ({ at, path }) => {
    const refused = atOnce(newReferences(BEFORE(), moved(path))).map((problem) => problem.path.join("."));
    expect(refused).toEqual(VEILED.test(at) ? [] : [at]);
  });

  test.each(PLACES)("where it may come, at $at, its value is veiled", async ({ path }) => {
    const document = moved(path);
    if (atOnce(newReferences(BEFORE(), document)).length > 0) return;
    const sources = { env: () => "out-of-sight-7", file: () => Promise.reject(new Error("there is none")) };
    const checked = await checkDocument(document, registry, sources, new AbortController().signal);
    const said = checked.ok ? [] : checked.problems.map(({ message }) => message);
    expect(checked.ok ? checked.config.veils : ["out-of-sight-7"]).toContain("out-of-sight-7");
    expect(said.join()).not.toContain("out-of-sight-7");
  });

  test("one whose value is shown already may become another name, and what is allowed may go anywhere", () => {
    const named: Json = { ...BEFORE(), processors: [{ id: HIDDEN, type: "filter" }] };
    const after = structuredClone(named);
    Object.assign((after["bindings"] as Json[])[1] ?? {}, { id: HIDDEN });
    expect(atOnce(newReferences(named, after))).toEqual([]);
    const allowed = { ...BEFORE(), config: { references: { allow: ["env:PLANT"] } } };
    expect(atOnce(newReferences(allowed, { ...moved(["bindings", 0, "id"]), config: allowed.config }))).toEqual([]);
  });

  test("the message names the reference, which no record has, and says what to do", () => {
    const [{ message } = { message: "" }] = atOnce(newReferences(BEFORE(), moved(["bindings", 1, "id"])));
    expect(toldText(message)).toMatch(/"env:PLANT" is shown nowhere, .* config\.references\.allow/);
    expect(recordedText(message)).toMatch(/the reference is shown nowhere, .* config\.references\.allow/);
  });
});
