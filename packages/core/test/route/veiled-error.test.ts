import { BridgeError } from "@bridge/ports";
import { expect, test } from "vitest";
import { veiledError } from "../../src/route/veiled-error.ts";

const veil = (text: string): string => text.replaceAll("secret", "***");

test("what quotes nothing that must not be seen is told as it was thrown", () => {
  for (const thrown of [new BridgeError("REJECTED", "no"), new Error("no"), "no"]) {
    expect(veiledError(thrown, veil)).toBe(thrown);
  }
});

test("what quotes it is told without, with all that decides what becomes of the message", () => {
  const told = { retryAfterMs: 7, charged: false };
  expect(veiledError(new BridgeError("THROTTLED", "a secret", told), veil)).toMatchObject({
    code: "THROTTLED",
    message: "a ***",
    ...told,
  });
  expect(veiledError("a secret", veil)).toMatchObject({ code: "INTERNAL", message: "a ***", charged: true });
});

test("an error tells where it was thrown, also without what must not be seen", () => {
  const thrown = new TypeError("a secret");
  const told = veiledError(thrown, veil);
  expect(told).toBeInstanceOf(Error);
  expect(told).not.toBeInstanceOf(BridgeError);
  expect(told).toMatchObject({ message: "a ***", stack: veil(thrown.stack ?? "") });
});

test("an error of another realm, which is no Error in this one, decides as much", () => {
  const foreign = { code: "THROTTLED", message: "a secret", retryAfterMs: 7, charged: false };
  Object.defineProperty(foreign, Symbol.for("@bridge/error"), { value: true });
  expect(veiledError(foreign, veil)).toMatchObject({ ...foreign, message: "a ***" });
});
