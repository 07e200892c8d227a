import { describe, expect, it } from "vitest";
import { erasedOptions } from "../../src/transaction/erased-options.ts";
import { goodDocument, type Json, withValue } from "../support/documents.ts";

describe("options that a change would erase (spec 4.9.4)", () => {
  it.each<[string, Json, readonly unknown[]]>([
    ["the type of a store", withValue("stores.dlq.type", "table"), [["stores", "dlq", "options"]]],
    ["the transport of a session", withValue("sessions.0.transport", "http"), [["sessions", 0, "options"]]],
    ["the transport of a sender", withValue("senders.0.transport", "mqtt"), [["senders", 0, "options"]]],
    ["the whole entry", withValue("stores", {}), [["stores", "dlq", "options"]]],
  ])("%s", (_, after, erased) => {
    expect(erasedOptions(goodDocument(), after)).toEqual(erased);
  });

  it("a receiver's, when the transport that it takes from its session becomes another", () => {
    const before = withValue("receivers.0.options", { path: "/x" });
    const after = withValue("sessions.0.transport", "http", structuredClone(before));
    expect(erasedOptions(before, after)).toEqual([
      ["sessions", 0, "options"],
      ["receivers", 0, "options"],
    ]);
  });

  it("none where there were none, nor when a transport is only spelled out", () => {
    expect(erasedOptions(goodDocument(), withValue("processors.0.type", "opaque"))).toEqual([]);
    const before = withValue("receivers.0.options", { path: "/x" });
    expect(erasedOptions(before, withValue("receivers.0.transport", "mqtt", structuredClone(before)))).toEqual([]);
  });
});
