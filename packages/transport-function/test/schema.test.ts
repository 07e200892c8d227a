import { expect, test } from "vitest";
import * as v from "valibot";
import { handler, PermanentError, type SchemaHandlerFunction, type StandardSchemaV1 } from "../src/index.ts";
import { envelope, never, parts, rejection } from "./support/parts.ts";

const order = v.object({
  id: v.string(),
  lines: v.array(v.object({ amount: v.pipe(v.number(), v.integer()) })),
  at: v.pipe(
    v.string(),
    v.transform((text) => new Date(text)),
  ),
});
const fits = { id: "o1", lines: [{ amount: 1 }], at: "2026-01-01T00:00:00Z" };

function sending(
  schema: StandardSchemaV1,
  payload: unknown,
  run: SchemaHandlerFunction<unknown> = () => {},
): Promise<void> {
  const sender = parts({ handlers: { orders: handler(schema, run) } }).sender("orders");
  return sender.send(envelope({ payload: Buffer.from(JSON.stringify(payload)) }), "", never);
}

/** A schema that says what it is told to say. */
const saying = (validate: (value: unknown) => unknown): StandardSchemaV1 => ({
  "~standard": { version: 1, vendor: "test", validate: validate as StandardSchemaV1["~standard"]["validate"] },
});

test("a handler gets what its schema made of the payload, with the message and the signal", async () => {
  const seen: unknown[] = [];
  await sending(order, fits, (value, { message, signal }) => void seen.push(value, message.id, signal.aborted));
  expect(seen).toEqual([{ ...fits, at: new Date("2026-01-01T00:00:00Z") }, "m1", false]);
});

test("a payload that does not fit is INVALID_PAYLOAD: its error says where, and quotes nothing of it", async () => {
  let called = false;
  const wrong = { id: "o1", lines: [{ amount: "secret-1" }, { amount: 0.5 }], at: "secret-2" };
  const error = await rejection(sending(order, wrong, () => (called = true)));
  expect(error).toBeInstanceOf(PermanentError);
  expect(error).toMatchObject({ code: "INVALID_PAYLOAD" });
  expect((error as Error).message).toBe(
    "the payload does not fit the handler's schema at lines.0.amount, lines.1.amount",
  );
  expect(called).toBe(false);
});

test("a payload that is no JSON never gets to the schema", async () => {
  const sender = parts({ handlers: { orders: handler(order, () => {}) } }).sender("orders");
  expect(await rejection(sender.send(envelope(), "", never))).toMatchObject({ code: "INVALID_PAYLOAD" });
});

test("a schema may take its time", async () => {
  const seen: unknown[] = [];
  const later = saying(async (value) => ({ value: [value] }));
  await sending(later, 5, async (value) => seen.push(value));
  expect(seen).toEqual([[5]]);
  const refusing = saying(async () => ({ issues: [{ message: "no" }] }));
  expect(await rejection(sending(refusing, 5))).toMatchObject({
    code: "INVALID_PAYLOAD",
    message: "the payload does not fit the handler's schema at its root",
  });
});

test("many places are counted", async () => {
  const issues = ["a", "b", "c", "d", "e"].map((key) => ({ message: "no", path: [{ key }, Symbol("s")] }));
  const error = await rejection(
    sending(
      saying(() => ({ issues })),
      5,
    ),
  );
  expect((error as Error).message).toMatch(/ at a\.Symbol\(s\), b\.Symbol\(s\), c\.Symbol\(s\), and 2 more$/);
});

test.each([
  [
    "throws",
    (): never => {
      throw new Error("broken");
    },
    "broken",
  ],
  ["rejects", (): Promise<never> => Promise.reject(new Error("broken")), "broken"],
  ["says nothing", (): unknown => undefined, "the schema of a handler is none: validate gave undefined"],
  [
    "forgets the value",
    (): unknown => ({}),
    "the schema of a handler is none: validate gave neither a value nor issues",
  ],
  ["has null for issues", (): unknown => ({ issues: null }), "validate gave neither a value nor issues"],
  ["says yes", (): unknown => true, "the schema of a handler is none: validate gave a boolean"],
] as const)("a schema that %s fails the message as transient", async (_, validate, message) => {
  const error = await rejection(sending(saying(validate), 5));
  expect(error).not.toBeInstanceOf(PermanentError);
  expect((error as Error).message).toContain(message);
});

test.each([["no"], [[null, 5, { path: 5 }, { path: [{}, undefined] }]]])(
  "issues that are none (%j) refuse as well",
  async (issues) => {
    expect(
      await rejection(
        sending(
          saying(() => ({ issues })),
          5,
        ),
      ),
    ).toMatchObject({ code: "INVALID_PAYLOAD" });
  },
);
