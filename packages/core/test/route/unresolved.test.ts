import { BridgeError } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { unresolved } from "../../src/route/unresolved.ts";

describe("a message whose target cannot be worked out", () => {
  test("keeps the code and the words of a final failure", () => {
    const thrown = new BridgeError("INVALID_PAYLOAD", "no device in the payload");
    expect(unresolved("the resolver", thrown)).toMatchObject({
      code: "INVALID_PAYLOAD",
      message: "no device in the payload",
      cause: thrown,
      charged: false,
    });
  });

  test.each([
    ["a failure that passes", new BridgeError("UNAVAILABLE", "no registry")],
    ["an error of another kind", new Error("no registry")],
  ])("is BINDING_UNRESOLVED for %s: a repeat does not help", (_, thrown) => {
    expect(unresolved("the resolver", thrown)).toMatchObject({
      code: "BINDING_UNRESOLVED",
      message: "the resolver failed: no registry",
      cause: thrown,
      charged: false,
    });
  });
});
