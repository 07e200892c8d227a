import { expect, it } from "vitest";
import { type Logger } from "../src/index.ts";
import { steadyLogger } from "../src/internal.ts";

function fails(): never {
  throw new Error("the disk of the log is full");
}

const LEVELS = ["debug", "info", "warn", "error"] as const;

/** What a logger does when it is told a line at each level. */
function sayAll(logger: Logger): void {
  for (const level of LEVELS) logger[level]("a line", { a: 1 });
}

it("a logger that throws throws nothing through it, and neither does its child", () => {
  const bad: Logger = { debug: fails, info: fails, warn: fails, error: fails, child: fails };
  expect(() => sayAll(steadyLogger(bad))).not.toThrow();
  expect(() => sayAll(steadyLogger(bad).child({ route_id: "r" }))).not.toThrow();
});

it("a child that throws only when it writes throws nothing either", () => {
  const bad: Logger = { debug: fails, info: fails, warn: fails, error: fails, child: () => bad };
  expect(() => sayAll(steadyLogger(bad).child({}))).not.toThrow();
});

it("a promise that a call returns may reject", async () => {
  const unhandled: unknown[] = [];
  const told = (reason: unknown): void => void unhandled.push(reason);
  process.on("unhandledRejection", told);
  const later = (): never => Promise.reject(new Error("the disk of the log is full")) as never;
  sayAll(steadyLogger({ debug: later, info: later, warn: later, error: later, child: fails }));
  await new Promise((resolve) => setTimeout(resolve, 10));
  process.off("unhandledRejection", told);
  expect(unhandled).toEqual([]);
});

it("hands each line on as it is, to the logger as its own", () => {
  const lines: unknown[] = [];
  class Bound implements Logger {
    readonly #bound: object;
    constructor(bound: object) {
      this.#bound = bound;
    }
    debug = this.#at("debug");
    info = this.#at("info");
    warn = this.#at("warn");
    error(message: string, fields?: object): void {
      lines.push(["error", message, { ...this.#bound, ...fields }]);
    }
    child(fields: object): Logger {
      return new Bound({ ...this.#bound, ...fields });
    }
    #at(level: string) {
      return (message: string, fields?: object): void =>
        void lines.push([level, message, { ...this.#bound, ...fields }]);
    }
  }
  const steady = steadyLogger(new Bound({}));
  steady.info("one", { a: 1 });
  steady.child({ b: 2 }).error("two");
  expect(lines).toEqual([
    ["info", "one", { a: 1 }],
    ["error", "two", { b: 2 }],
  ]);
  expect(steadyLogger(steady)).toBe(steady);
});

it("the console will do, which has no children", () => {
  const { debug, info, warn, error } = { ...console, debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const steady = steadyLogger({ debug, info, warn, error } as unknown as Logger);
  expect(() => sayAll(steady.child({ a: 1 }))).not.toThrow();
});
