import { atOnce } from "@bridge/ports/internal";
import { describe, expect, it } from "vitest";
import { changesBetween } from "../../src/transaction/changes.ts";
import { goodDocument, type Json, withValue } from "../support/documents.ts";

function changes(after: Json, before: Json = goodDocument()): unknown {
  return atOnce(changesBetween(before, after));
}

describe("what differs between two documents", () => {
  it("is told by the ids of parts, with what was in force before", () => {
    expect(changes(withValue("routes.0.policy", { max_in_flight: 7 }))).toEqual([
      { path: "routes[alarms].policy.max_in_flight", before: 100, after: 7 },
    ]);
  });

  it("is told for parts that are new or gone as a whole", () => {
    const before = withValue("processors", [{ id: "only-alarms", type: "filter" }]);
    const after = withValue("processors", [{ id: "new", type: "filter", options: { keep: "x" } }]);
    expect(changes(after, before)).toEqual([
      { path: "processors[new]", after: { id: "new", type: "filter" } },
      { path: "processors[only-alarms]", before: { id: "only-alarms", type: "filter" } },
    ]);
  });

  it("hides secrets, references, options and the users of URLs", () => {
    const before = withValue("http", { admin_api_key: "secret-0123456789", tls_cert_file: "cert.pem" });
    const after = withValue("http", { admin_api_key: "Secret-0123456789", tls_cert_file: "${env:CERT}" });
    withValue("sessions.0.options.password", "secret", after);
    withValue("bindings.0.address", "https://me:secret@x", after);
    expect(changes(after, before)).toEqual([
      { path: "http.admin_api_key", before: "[REDACTED]", after: "[REDACTED]" },
      { path: "http.tls_cert_file", before: "cert.pem", after: "[REDACTED]" },
      { path: "sessions[broker].options", before: "[REDACTED]", after: "[REDACTED]" },
      { path: "bindings[to-out].address", before: "/ingest/{device}", after: "https://[REDACTED]@x" },
    ]);
  });

  it("is bounded", () => {
    const many = Array.from({ length: 1200 }, (_, index) => ({ id: `p${index}`, type: "filter" }));
    const found = atOnce(changesBetween(goodDocument(), withValue("processors", many)));
    expect(found).toHaveLength(1001);
    expect(found.at(-1)).toEqual({ path: "and 201 more" });
  });

  it("leaves out the version, and what is the same in other words", () => {
    expect(changes(withValue("config_version", 9))).toEqual([]);
    expect(changes(withValue("bridge.log_level", "info"))).toEqual([]);
  });
});
