/* oxlint-disable unicorn/no-thenable -- what is a promise is what this is about */
import { expect, test } from "vitest";
import { discard } from "../../src/runtime/discard.ts";
import { discardParts } from "../../src/runtime/discard-parts.ts";
import { runtimeOf } from "../support/runtime-of.ts";

test("what cannot even be looked at is discarded like everything else: nothing is thrown", () => {
  const unreadable = {
    get then(): never {
      throw new Error("not to be read");
    },
  };
  expect(() => discard(unreadable)).not.toThrow();
});

test("what a promise of any kind comes to is ended, also of a function with a then", async () => {
  const ended: string[] = [];
  const made = (name: string) => ({ [Symbol.dispose]: () => void ended.push(name) });
  const later = (name: string) => (resolve: (value: unknown) => void) => resolve(made(name));
  discard({ then: later("object") });
  discard(Object.assign(() => {}, { then: later("function") }));
  await new Promise((resolve) => setImmediate(resolve));
  expect(ended).toEqual(["object", "function"]);
});

test("all that was built for a runtime that is not to be is ended: sessions, receivers, senders and processors", () => {
  const processors = [{ process: () => Promise.reject(new Error("is not asked")) }];
  const { parts } = runtimeOf({ session: true, processors }).runtime;
  const ended = new Set<object>();
  const built = [
    ...[...parts.links.values()].map(({ session }) => session),
    ...[...parts.intakes.values()].map(({ receiver }) => receiver),
    ...parts.senders.values(),
    ...[...parts.processors.values()].map(({ processor }) => processor),
  ];
  for (const part of built) Object.assign(part, { [Symbol.asyncDispose]: async () => void ended.add(part) });
  discardParts(parts);
  expect([built.length, [...ended]]).toEqual([5, built]);
});
