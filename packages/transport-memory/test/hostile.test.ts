import { deserialize, serialize } from "node:v8";
import { describeHostileSource, type ServerPlace } from "@bridge/conformance";
import type { SourceMessage } from "@bridge/ports";
import { memoryHub } from "../src/index.ts";
import { memoryTransport } from "../src/memory-transport.ts";
import { memoryPlace } from "./memory-place.ts";

const hub = memoryHub();

describeHostileSource("memory", { plugin: memoryTransport(hub), openServer: () => ownChannel() });

/** There is no wire: what goes as bytes is a message, as another thread would hand it over. */
async function ownChannel(): Promise<ServerPlace> {
  const place = await memoryPlace(hub, { session: true });
  if (place.source === undefined) throw new Error("the place has no source");
  const channel = place.id ?? "";
  return {
    source: {
      ...place.source,
      publish: async (message) => hub.publish(channel, { ...message }),
    },
    messages: [...messages()].map((message) => serialize(message)),
    write: async (written) => {
      for (const one of written) hub.publish(channel, deserialize(one) as SourceMessage);
    },
    [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
  };
}

function* messages(): Generator<SourceMessage> {
  const payload = Buffer.from("hostile");
  const message = (fields: Partial<SourceMessage>): SourceMessage => ({ subject: "hostile", payload, ...fields });
  for (let code = 0; code < 256; code++) {
    const text = `a${String.fromCharCode(code)}b`;
    yield message({ id: text, subject: text, headers: { [text]: text }, contentType: text, correlationId: text });
  }
  for (const name of [
    "",
    "__proto__",
    "constructor",
    "X-Bridge.Dedup-Id",
    "ordering-key",
    "\ud800",
    "x".repeat(70_000),
  ]) {
    yield message({ headers: { [name]: name } });
    yield message({ id: name, dedupId: name, orderingKey: name, subject: name });
  }
  for (const expiresAt of [0, -1, Number.NaN, Infinity, Number.MAX_VALUE]) yield message({ expiresAt });
  yield message({ headers: Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`h${index}`, "v"])) });
  yield message({ payload: new Uint8Array(0) });
  yield message({ payload: Buffer.alloc(4_000_000) });
}
