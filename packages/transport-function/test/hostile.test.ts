import { deserialize, serialize } from "node:v8";
import { describeHostileSource, type ServerPlace } from "@bridge/conformance";
import { functionTransport, source, type SourceItem } from "../src/index.ts";

/** There is no wire: what goes as bytes is what a program yields, as another thread would hand it over. */
const items: unknown[] = [];
let wake = Promise.withResolvers<void>();

function put(item: unknown): void {
  items.push(item);
  wake.resolve();
  wake = Promise.withResolvers();
}

const lines = source({
  [Symbol.asyncIterator]: () => ({
    async next() {
      while (items.length === 0) await wake.promise;
      return { done: false, value: items.shift() as SourceItem };
    },
  }),
});

describeHostileSource("function", {
  plugin: functionTransport({ sources: { lines } }),
  openServer: async (): Promise<ServerPlace> => ({
    source: {
      receiver: { options: { source: "lines" } },
      publish: async (message) => put({ ...message }),
    },
    messages: [...hostile()].map((item) => serialize(item)),
    write: async (written) => {
      for (const one of written) put(deserialize(one));
    },
    async [Symbol.asyncDispose]() {},
  }),
});

const FIELDS = [
  "payload",
  "id",
  "subject",
  "headers",
  "key",
  "contentType",
  "correlationId",
  "dedupId",
  "expiresAt",
  "settled",
];

function* values(): Generator {
  yield* [undefined, null, true, 0, -1, Number.NaN, Infinity, 5n, "", "\0", "\ud800", "x".repeat(70_000), [], {}];
  yield* [new Date(0), new Map([["a", 1]]), new Set(), /x/, new Error("e"), Object(1n), Object("boxed")];
  yield* [new ArrayBuffer(3), new Uint8Array(3), new Float64Array(3), new DataView(new ArrayBuffer(3))];
  for (const name of [
    "",
    "__proto__",
    "constructor",
    "toString",
    "then",
    "X-Bridge.Dedup-Id",
    "ordering-key",
    "\ud800",
  ]) {
    yield JSON.parse(`{${JSON.stringify(name)}:${JSON.stringify(name)}}`);
  }
}

function* hostile(): Generator {
  for (const value of values()) {
    yield value;
    for (const field of FIELDS) yield { payload: "hostile", [field]: value };
    yield { payload: { nested: value }, headers: { name: value } };
  }
  for (let code = 0; code < 256; code++) {
    const text = `a${String.fromCharCode(code)}b`;
    yield { id: text, subject: text, payload: text, headers: { [text]: text }, key: text, contentType: text };
  }
  yield { payload: "hostile", headers: Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`h${at}`, "v"])) };
  yield { payload: Buffer.alloc(4_000_000) };
}
