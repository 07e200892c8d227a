import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ConfigError, formatProblem, type Path, validateConfig } from "../src/index.ts";
import { goodDocument, type Json, parsed, withValue } from "./support/documents.ts";
import { registry } from "./support/plugins.ts";

/** Everything that validation says. */
function said(document: unknown, fromReference: readonly Path[] = []): string {
  const result = validateConfig(document, registry, { fromReference });
  return [...(result.ok ? [] : result.problems), ...result.warnings].map(formatProblem).join("\n");
}

const CANARY = "cAnArY with spaces, $ecret & more/9f8e7d6c";

/** Places of the good document that are secret by their schema. */
const SECRETS: readonly string[] = [
  "http.admin_api_key",
  "http.monitor_api_key",
  "sessions.0.options.password",
  "sessions.0.options.tls.passphrase",
  "senders.0.options.bearer",
];

function pathOf(place: string): Path {
  return place.split(".").map((key) => (/^\d+$/.test(key) ? Number(key) : key));
}

describe("a secret is never shown", () => {
  it.each(SECRETS)("not the value of %s, whatever its form", (place) => {
    for (const value of [CANARY, [CANARY], { a: CANARY }, { a: [{ b: CANARY }] }, 12_345_678, CANARY.slice(0, 6)]) {
      const text = said(withValue(place, value));
      expect(text).not.toContain("cAnAr");
      expect(text).not.toContain("12345678");
    }
  });

  it("not in a map of secrets", () => {
    const document = goodDocument();
    document["senders"] = [{ id: "out", session_id: "broker", options: { headers: { authorization: [CANARY] } } }];
    expect(said(document)).toMatch(/headers\.authorization: expected a string$/m);
    expect(said(document)).not.toContain("cAnAr");
  });

  it("not where it stands in place of the block or list that it belongs into", () => {
    expect(said(withValue("sessions.0.options.tls", CANARY))).toBe(
      "sessions[0].options.tls: expected a block of keys (got a string)",
    );
    expect(said(withValue("sessions.0.options", CANARY))).not.toContain("cAnAr");
    expect(said(withValue("senders.0", CANARY))).not.toContain("cAnAr");
    expect(said(withValue("http", CANARY))).not.toContain("cAnAr");
  });

  it("not a part of it that a plugin puts into its own words", () => {
    const text = said(withValue("senders.0.options.bearer", CANARY));
    expect(text).toBe("senders[0].options.bearer: is not valid");
  });

  it("not the user's part of a URL", () => {
    const text = said(withValue("senders.0.options.url", "http://user:pass/w@rd@example.com/x"));
    expect(text).toMatch(/^senders\[0\]\.options\.url: "http:\/\/\[REDACTED\]@example\.com\/x" does not begin with/);
    expect(text).not.toMatch(/user|pass|w@rd/);
    expect(said(withValue("sessions.0.options.broker_urls.0", "mqtt://u:secret@a b"))).not.toContain("secret");
  });

  it("not in the error that an embedder gets", () => {
    const document = withValue("http.admin_api_key", CANARY.slice(0, 10));
    expect(() => parsed(document)).toThrow(ConfigError);
    expect(() => parsed(document)).toThrow("http.admin_api_key: an API key has at least 16 characters");
    expect(() => parsed(document)).not.toThrow("cAnArY");
  });
});

/** Every place of a document with a value that is no block and no list. */
function* leaves(value: unknown, path: Path = []): Generator<Path> {
  if (typeof value !== "object" || value === null) yield path;
  else if (Array.isArray(value)) for (const [index, part] of value.entries()) yield* leaves(part, [...path, index]);
  else for (const [key, part] of Object.entries(value)) yield* leaves(part, [...path, key]);
}

/** A document that uses as many keys as there are. */
function richDocument(): Json {
  const document = goodDocument();
  const rule = { when: [{ field: "subject", op: "prefix", value: "s/" }], binding: ["to-out"] };
  document["http"] = { admin_addr: ":1", cors_origins: "https://a.example", tls_cert_file: "c", tls_key_file: "k" };
  document["bridge"] = {
    id: "plant-7",
    log_level: "info",
    deployment_mode: "standalone",
    drain_timeout: "5s",
    quiesce_timeout: "6s",
  };
  withValue("routes.0.resolver.rules", [rule], document);
  withValue("routes.0.policy", { backoff: { initial_interval: "2s", max_interval: "3s" } }, document);
  withValue("routes.0.receiver_id", "in", document);
  return document;
}

describe("what came in through a reference is never shown", { timeout: 30_000 }, () => {
  const places = [...leaves(richDocument())];

  it("wherever it stands, and whatever else is wrong", () => {
    fc.assert(
      fc.property(
        fc.subarray(places, { minLength: 1 }),
        fc.constantFrom("", "x", " ", "://u@h", "{"),
        (chosen, tail) => {
          const canary = `cAnArY-9f8e7d6c${tail}`;
          const document = richDocument();
          for (const path of chosen) withValue(path.join("."), canary, document);
          expect(said(document, chosen)).not.toContain("cAnArY");
        },
      ),
      { numRuns: 500 },
    );
  });

  it("not even as the near miss of a known word", () => {
    const document = withValue("routes.0.receiver_id", "inn");
    expect(said(document, [["routes", 0, "receiver_id"]])).toContain(
      "routes[0].receiver_id: there is no receiver [REDACTED]; receivers are in",
    );
    expect(said(withValue("receivers.0.id", "hidden-id"), [["receivers", 0, "id"]])).not.toContain("hidden-id");
    const level = withValue("bridge.log_level", "inf");
    expect(said(level, [["bridge", "log_level"]])).toBe("bridge.log_level: expected one of debug, info, warn, error");
  });

  it("not even when it is short", () => {
    for (const path of places) {
      const document = richDocument();
      const text = said(withValue(path.join("."), "in", document), [path]);
      expect(text).not.toContain('"in"');
    }
  });

  it("in secret fields of plugins, with junk all around", () => {
    fc.assert(
      fc.property(fc.constantFrom(...SECRETS), fc.jsonValue(), fc.constantFrom(...places), (place, junk, other) => {
        const document = richDocument();
        withValue(other.join("."), junk, document);
        const own = pathOf(place).slice(0, -1);
        if (other.every((key, index) => own[index] === undefined || own[index] === key)) return;
        withValue(place, CANARY, document);
        expect(said(document)).not.toContain("cAnArY");
      }),
      { numRuns: 500 },
    );
  });
});
