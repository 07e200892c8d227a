import { atOnce } from "@bridge/ports/internal";
import fc from "fast-check";
import { expect, test } from "vitest";
import { veiledBody } from "../src/veiled-body.ts";

const veil = (text: string): string => text.replaceAll("secret", "[REDACTED]");

test("what others have said is shown without what must not be seen, wherever it stands; data is shown as it is", () => {
  const body = {
    id: "secret-1",
    subject: "secret",
    error: "secret is away",
    errors: [{ id: "secret-1", error: "at secret: no" }],
    routes: [{ id: "r", reason: "binding secret: nothing" }],
    envelope: { headers: { error: "secret", reason: "secret" } },
    validation_errors: ["at secret"],
    set_aside: ["/secret.db"],
    reason: "secret",
    bytes: new Uint8Array([1]),
  };
  expect(atOnce(veiledBody(body, veil))).toEqual({
    ...body,
    error: "[REDACTED] is away",
    errors: [{ id: "secret-1", error: "at [REDACTED]: no" }],
    routes: [{ id: "r", reason: "binding [REDACTED]: nothing" }],
    validation_errors: ["at [REDACTED]"],
    set_aside: ["/[REDACTED].db"],
  });
});

test("a body that has nothing of it is the same", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (body) => {
      expect(atOnce(veiledBody(body, (text) => text))).toBe(body);
    }),
  );
});
