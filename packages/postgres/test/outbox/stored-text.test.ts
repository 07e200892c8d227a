import fc from "fast-check";
import { expect, test } from "vitest";
import { storedText, textOf } from "../../src/outbox/stored-text.ts";

// Code units of all kinds, halves of pairs among them, and what the form itself is made of.
const anyText = fc.string({
  unit: fc.oneof(
    fc.constantFrom("\0", "\\", "\\u0000", "\\u", "u", "0", "\ud83d", "\ude80", "🚀", '"', "'"),
    fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
  ),
});

test("every text comes back, and what stands for it the server can hold", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const stored = storedText(text);
      expect(textOf(stored)).toBe(text);
      expect(stored).not.toContain("\0");
      expect(stored.isWellFormed()).toBe(true);
    }),
  );
});

test("what is usual stays as it is", () => {
  for (const text of ["", "orders/7", "Zürich 東京 🚀", "a 'b' \"c\" {d,e}"]) expect(storedText(text)).toBe(text);
});
