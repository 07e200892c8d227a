import { BridgeError, ERROR_CODES, type ErrorCode } from "@bridge/ports";
import { expect, expectTypeOf, test } from "vitest";
import { type PermanentCode, PermanentError } from "../src/index.ts";

const codes = Object.entries(ERROR_CODES) as [ErrorCode, string][];
const isFinal = ([, of]: [ErrorCode, string]): boolean => of === "permanent" || of === "rejected";

test.each(codes.filter(isFinal))("%s, which is %s, is the code of a permanent failure", (code, of) => {
  const cause = new Error("why");
  const error = new PermanentError(code as PermanentCode, "the order is closed", { cause });
  expect(error).toMatchObject({ name: "PermanentError", code, class: of, message: "the order is closed", cause });
  expect(BridgeError.from(error)).toBe(error);
});

test.each([...codes.filter((entry) => !isFinal(entry)).map(([code]) => code), "OTHER", "", "__proto__", undefined, 5])(
  "%s is none, which its error says where it is made",
  (code) => {
    const made = (): unknown => new PermanentError(code as PermanentCode, "why");
    expect(made).toThrow(TypeError);
    expect(made).toThrow(/^code of a PermanentError is .*: use one of INVALID_PAYLOAD, .*BINDING_UNRESOLVED, or throw/);
  },
);

test.each([
  [undefined, "undefined"],
  [null, "null"],
  [{}, "an object"],
  [5, "a number"],
  ["OTHER", '"OTHER"'],
])("a code that is none is named as what it is: %o", (code: unknown, shown) => {
  expect(() => new PermanentError(code as PermanentCode, "why")).toThrow(`code of a PermanentError is ${shown}: use`);
});

test("its type has these codes and no others", () => {
  expectTypeOf<"REJECTED" | "FORBIDDEN">().toExtend<PermanentCode>();
  expectTypeOf<"TIMEOUT">().not.toExtend<PermanentCode>();
  // @ts-expect-error a timeout is tried again
  expect(() => new PermanentError("TIMEOUT", "late")).toThrow(TypeError);
});
