import { isThenable } from "@bridge/ports/internal";
import { kindOf } from "../route/kind-of.ts";
import { discard } from "./discard.ts";

/** The methods that the engine calls on each kind of part. */
const METHODS = {
  session: ["connect", Symbol.asyncDispose],
  connection: ["reconcile", Symbol.asyncDispose],
  receiver: ["receive", Symbol.asyncDispose],
  sender: ["send", Symbol.asyncDispose],
  processor: ["process"],
  "dlq store": ["put", "get", "list", "count", Symbol.asyncDispose],
  "outbox store": [
    "persist",
    "claim",
    "claimOne",
    "finish",
    "status",
    "redriving",
    "backlog",
    "list",
    Symbol.asyncDispose,
  ],
  "lease store": ["read", "replace", Symbol.asyncDispose],
} as const;

type Method = string | typeof Symbol.asyncDispose;

export type PartKind = keyof typeof METHODS;

/**
 * Checks a part that a plugin has built: without a method that its kind needs, it would fail only at the first message.
 * `by` names the function that returned it. A rejected part is disposed of if possible, because it may hold a file or a
 * connection.
 * @throws Error naming the plugin's function, what is wrong with its result, and what it must return
 */
export function builtPart<Part>(part: Part, kind: PartKind, by: string): Part {
  const problem = problemOf(part, kind);
  if (problem === undefined) return part;
  discard(part);
  throw new Error(`${by} has returned ${problem}`);
}

function problemOf(part: unknown, kind: PartKind): string | undefined {
  const methods: readonly Method[] = METHODS[kind];
  const wanted = `it has to return a ${kind}, with ${methods.map(nameOf).join(", ")}`;
  if (isThenable(part)) return `a promise: ${wanted}, and not later`;
  if (typeof part !== "object" || part === null) return `${returned(part)}: ${wanted}`;
  const missing = methods.filter((method) => typeof (part as Record<Method, unknown>)[method] !== "function");
  return missing.length === 0 ? undefined : `an object without ${missing.map(nameOf).join(", ")}: ${wanted}`;
}

/** Checks the `open` that a store's plugin has built, and later the store that it opens. */
export function builtStore<Store>(
  open: (signal: AbortSignal) => Promise<Store>,
  kind: PartKind,
  plugin: string,
): (signal: AbortSignal) => Promise<Store> {
  if (typeof open !== "function") {
    discard(open);
    throw new Error(
      `create of ${plugin} has returned ${returned(open)}: it has to return a function that opens the ${kind}, (signal) => Promise`,
    );
  }
  return async (signal) => builtPart(await open(signal), kind, `the function that opens the store, of ${plugin},`);
}

function returned(value: unknown): string {
  return value === undefined ? "nothing" : kindOf(value);
}

function nameOf(method: Method): string {
  return typeof method === "symbol" ? "[Symbol.asyncDispose]()" : `${method}()`;
}
