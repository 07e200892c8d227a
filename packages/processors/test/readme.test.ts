import { readFileSync } from "node:fs";
import { createRegistry, validateConfig } from "@bridge/config";
import { memory } from "@bridge/transport-memory";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { circuitBreaker, filter, schema, transform } from "../src/index.ts";
import { bound, envelopeOf, json, make, text } from "./support/parts.ts";

const PLUGINS = [filter, transform, schema, circuitBreaker];
const README = readFileSync(new URL("../README.md", import.meta.url), "utf8");

interface Example {
  readonly processors: readonly { readonly id: string; readonly options: unknown }[];
}

function example(): Example {
  return parse(/```yaml\n(.*?)```/s.exec(README)?.[1] ?? "") as Example;
}

test("the README's example is a configuration, and makes what it seems to make", async () => {
  const document = {
    bridge: { id: "example" },
    receivers: [{ id: "in", transport: "memory", options: { channel: "in" } }],
    senders: [{ id: "out", transport: "memory" }],
    bindings: [{ id: "to-out", sender_id: "out", address: "out" }],
    stores: { dlq: { type: "none" } },
    ...example(),
  };
  const registry = createRegistry({ transports: [memory()], processors: PLUGINS });
  const result = validateConfig(document, registry);
  expect(result.ok ? [] : result.problems.map(({ path }) => path[0])).toEqual(["stores"]);

  await using shape = make(transform, example().processors.find(({ id }) => id === "shape")?.options);
  const headers = { site: "north", "x-raw": "1" };
  const made = await shape.process(envelopeOf({ headers, payload: json({ id: "d1", temp: 212 }) }), bound());
  expect(made).toMatchObject({ kind: "pass", envelope: { headers: { site: "north", kind: "alarm" } } });
  expect(made.kind === "pass" && text(made.envelope.payload)).toBe('{"device":"d1","celsius":100,"site":"north"}');
});

test("the README's table has every option", () => {
  for (const plugin of PLUGINS) {
    const { entries } =
      (plugin.options as unknown as { pipe?: readonly [{ entries: object }]; entries?: object }).pipe?.[0] ??
      (plugin.options as unknown as { entries: object });
    for (const option of Object.keys(entries)) expect(README).toContain(`\`${option}\``);
  }
});
