import { atOnce } from "@bridge/ports/internal";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { OverlayError } from "../../src/index.ts";
import { mergeOverlay } from "../../src/transaction/merge-overlay.ts";
import { documents } from "../support/arbitrary-documents.ts";
import { goodDocument, type Json, withValue } from "../support/documents.ts";

function merged(overlay: Json, document: Json = goodDocument()): Json {
  return atOnce(mergeOverlay(document, overlay));
}

function refusal(overlay: unknown, document: Json = goodDocument()): string {
  const before = structuredClone(document);
  try {
    atOnce(mergeOverlay(document, overlay as Json));
  } catch (error) {
    expect(error).toBeInstanceOf(OverlayError);
    expect(document).toEqual(before);
    return (error as Error).message;
  }
  throw new Error("it was merged");
}

describe("an overlay is decoded strictly (spec 4.9.1)", () => {
  it.each([
    [{ brigde: {} }, 'brigde: unknown field; did you mean "bridge"?'],
    [{ bridge: { colour: "red" } }, "bridge.colour: unknown field"],
    [
      { sessions: [{ id: "broker", options: { broker_urls: [] } }] },
      "sessions[0].options: unknown field: plugin options change in the document itself, not through a PATCH",
    ],
    [{ stores: { dlq: { options: {} } } }, "stores.dlq.options: unknown field"],
    [{ options: {} }, "options: unknown field"],
    [{ bridge: null }, "bridge: must not be null: leave the field out to keep its value"],
    [{ routes: [null] }, "routes[0]: must not be null"],
    [{ bridge: [] }, "bridge: expected an object (got a list)"],
    [{ bridge: "" }, "bridge: expected an object (got a string)"],
    [{ bridge: { log_level: 3 } }, "bridge.log_level: expected a string (got a number)"],
    [{ bridge: { drain_timeout: 30 } }, "bridge.drain_timeout: expected a string (got a number)"],
    [{ config_version: "3" }, "config_version: expected a number (got a string)"],
    [{ audit: { log: 0 } }, "audit.log: expected true or false (got a number)"],
    [{ routes: { id: "alarms" } }, "routes: expected a list (got an object)"],
    [{ routes: [{ policy: {} }] }, "routes[0].id: is required: it says which element is meant"],
    [{ routes: [{ id: "" }] }, "routes[0].id: is required"],
    [{ routes: [{ id: "alarms", bindings: ["a", 1] }] }, "routes[0].bindings[1]: expected a string (got a number)"],
    [{ routes: [{ id: "alarms", resolver: { binding: 1 } }] }, "binding: expected a string or a list (got a number)"],
    [{ routes: [{ id: "alarms", resolver: { map: { a: null } } }] }, "map.a: must not be null"],
    [JSON.parse('{"__proto__": {"x": 1}}') as Json, "__proto__: unknown field"],
    [{ routes: [{ id: "alarms", resolver: { map: { constructor: "to-out" } } }] }, "map.constructor: unknown field"],
  ])("%j: %s", (overlay, message) => {
    expect(refusal(overlay)).toContain(message);
  });

  it("tells several faults at once, and counts what is beyond five", () => {
    const overlay = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`x${index}`, 1]));
    expect(refusal(overlay)).toMatch(/^x0: unknown field; x1: .*x4: unknown field; and 4 more$/);
  });

  it("never shows a value", () => {
    expect(refusal({ http: { admin_api_key: ["cAnArY"], tls: "cAnArY" } })).not.toContain("cAnArY");
  });

  it("whatever is sent, it is merged or refused with a reason", () => {
    const junk = fc.oneof(
      fc.dictionary(fc.constantFrom("bridge", "http", "routes", "options", "id", "stores", "x"), fc.jsonValue()),
      fc.record({ routes: fc.array(fc.dictionary(fc.constantFrom("id", "policy", "resolver"), fc.jsonValue())) }),
    );
    fc.assert(
      fc.property(documents, junk, (document, overlay) => {
        const before = structuredClone(document);
        try {
          const after = atOnce(mergeOverlay(document, overlay));
          for (const key of Object.keys(before)) expect(after).toHaveProperty([key]);
        } catch (error) {
          expect(error).toBeInstanceOf(OverlayError);
        }
        expect(document).toEqual(before);
      }),
    );
  });
});

describe("an overlay is merged, and never removes anything (spec 4.9.2; contract §2)", () => {
  it("merges objects field by field", () => {
    const document = withValue("bridge.log_level", "debug");
    expect(merged({ bridge: { drain_timeout: "20s" } }, document)["bridge"]).toEqual({
      id: "plant-7",
      log_level: "debug",
      drain_timeout: "20s",
    });
  });

  it("adds blocks that are not there yet", () => {
    expect(merged({ http: { cors_origins: "https://a.example" } })["http"]).toEqual({
      cors_origins: "https://a.example",
    });
  });

  it("merges lists of parts by their ids: those known field by field, new ones at the end", () => {
    const overlay = {
      routes: [
        { id: "new", receiver_id: "in-2", bindings: ["to-out"], delivery_mode: "", processors: [] },
        { id: "alarms", policy: { max_in_flight: 7 } },
      ],
    };
    const [known, added, ...others] = merged(overlay)["routes"] as readonly Json[];
    expect(known).toEqual({ ...(goodDocument()["routes"] as readonly Json[])[0], policy: { max_in_flight: 7 } });
    expect(added).toEqual({ id: "new", receiver_id: "in-2", bindings: ["to-out"] });
    expect(others).toEqual([]);
  });

  it("replaces other lists when the new one is not empty", () => {
    expect(merged({ routes: [{ id: "alarms", processors: ["a", "b"] }] })).toMatchObject({
      routes: [{ processors: ["a", "b"] }],
    });
    expect(merged({ receivers: [{ id: "in", topics: [{ topic: "t" }] }] })).toMatchObject({
      receivers: [{ topics: [{ topic: "t" }] }],
    });
  });

  it.each([
    {},
    { bridge: {} },
    { bridge: { id: "", log_level: "" } },
    { bridge: "[REDACTED]" },
    { http: {} },
    { http: { cors_origins: "", tls_cert_file: "[REDACTED]", admin_api_key: "[REDACTED]" } },
    { receivers: [{ id: "in", topics: [], session_id: "" }], routes: [], senders: ["[REDACTED]"] },
    { routes: [{ id: "alarms", resolver: { rules: [] }, policy: {} }] },
  ])("%j keeps what is there", (overlay) => {
    const document = goodDocument();
    expect(atOnce(mergeOverlay(document, overlay))).toBe(document);
  });

  it.each([
    { bridge: { log_level: "info", drain_timeout: "30s" } },
    { config_watch: { mode: "notify" }, audit: { log: true } },
    { receivers: [{ id: "in", topics: [{ topic: "s/#" }] }] },
    {
      routes: [
        { id: "alarms", delivery_mode: "direct_hold", policy: { max_in_flight: 100, backoff: { jitter: 0.2 } } },
      ],
    },
  ])("%j is in force already, and is not written", (overlay) => {
    const document = goodDocument();
    expect(atOnce(mergeOverlay(document, overlay))).toBe(document);
  });

  it("takes false and 0 for values", () => {
    const overlay = {
      audit: { log: false },
      routes: [{ id: "alarms", policy: { allow_unfenced: false, backoff: { jitter: 0 } } }],
    };
    const document = withValue("routes.0.policy", { allow_unfenced: true });
    expect(merged(overlay, document)).toMatchObject({
      audit: { log: false },
      routes: [{ policy: { allow_unfenced: false, backoff: { jitter: 0 } } }],
    });
  });

  it("ignores config_version", () => {
    const document = goodDocument();
    expect(atOnce(mergeOverlay(document, { config_version: 99 }))).toBe(document);
  });

  it("stores references as they are sent", () => {
    const document = withValue("http", { admin_api_key: "key-0123456789abcdef", monitor_api_key: "${env:OLD}" });
    expect(
      merged({ http: { admin_api_key: "${env:KEY}", monitor_api_key: "${file:/key}" } }, document)["http"],
    ).toEqual({
      admin_api_key: "${env:KEY}",
      monitor_api_key: "${file:/key}",
    });
  });

  it("overwrites a secret with any other value, verbatim (spec 4.9.3)", () => {
    const document = withValue("http", { admin_api_key: "${env:KEY}" });
    expect(merged({ http: { admin_api_key: " new key, as it is " } }, document)["http"]).toEqual({
      admin_api_key: " new key, as it is ",
    });
  });

  it("keeps what is shown as the marker in the same place of a list, and refuses the marker elsewhere", () => {
    const document = withValue("receivers.0.topics", [{ topic: "${env:TOPIC}", qos: 0 }, { topic: "b" }]);
    const topics = [{ topic: "[REDACTED]", qos: 2 }, { topic: "c" }];
    expect(merged({ receivers: [{ id: "in", topics }] }, document)).toMatchObject({
      receivers: [{ topics: [{ topic: "${env:TOPIC}", qos: 2 }, { topic: "c" }] }],
    });
    expect(refusal({ receivers: [{ id: "in", topics: topics.toReversed() }] }, document)).toBe(
      "receivers[0].topics[1].topic: holds [REDACTED], which stands for no value here: send the value itself",
    );
    expect(refusal({ bindings: [{ id: "to-out", address: "https://[REDACTED]@new.example" }] })).toContain(
      "[REDACTED]",
    );
  });

  it("knows a part whose id is hidden by its place", () => {
    const document = withValue("routes.0.id", "${env:SITE}");
    expect(merged({ routes: [{ id: "[REDACTED]", policy: { max_in_flight: 3 } }] }, document)).toMatchObject({
      routes: [{ id: "${env:SITE}", policy: { max_in_flight: 3 } }],
    });
    expect(refusal({ routes: [{ id: "[REDACTED]", policy: { max_in_flight: 3 } }] })).toContain(
      "routes[0].id: holds [REDACTED]",
    );
  });
});

describe("finding 4.9.5: what an element of a list with ids may say", () => {
  const NOTHING = /holds \[REDACTED\], which stands for no value here/;

  it.each([
    { bindings: [{ id: "new", sender_id: "out", address: "[REDACTED]" }] },
    { bindings: [{ id: "new", sender_id: "[REDACTED]" }] },
    { senders: [{ id: "new", rate_limit: { messages_per_second: "[REDACTED]" } }] },
    { routes: [{ id: "new", receiver_id: "in", bindings: ["to-out", "[REDACTED]"] }] },
    { routes: [{ id: "new", receiver_id: "in", policy: { max_replay_attempts: "[REDACTED]" } }] },
    { bindings: ["[REDACTED]", "[REDACTED]"] },
    { bindings: [{ id: "[REDACTED]" }, { id: "[REDACTED]" }] },
  ])("[REDACTED] stands for nothing in a new one: %j", (overlay) => {
    expect(refusal(overlay)).toMatch(NOTHING);
  });

  it("in one that is there it keeps what is there", () => {
    const document = withValue("bindings.0.address", "${env:PLANT}");
    expect(merged({ bindings: [{ id: "to-out", address: "[REDACTED]" }] }, document)).toBe(document);
    expect(merged({ bindings: ["[REDACTED]"] }, document)).toBe(document);
  });

  it.each(["bindings", "routes", "senders"])("an id of %s stands once", (list) => {
    const [{ id } = { id: "" }] = goodDocument()[list] as { id: string }[];
    expect(refusal({ [list]: [{ id }, { id }] })).toMatch(`${list}[1].id: stands twice`);
    expect(refusal({ [list]: [{ id: "new" }, { id }, { id: "new" }] })).toMatch(`${list}[2].id: stands twice`);
  });
});
