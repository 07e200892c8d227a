import { createRegistry, validateConfig, configJsonSchema } from "@bridge/config";
import { memory } from "@bridge/transport-memory";
import { describe, expect, test } from "vitest";
import { type Functions, functionTransport, handler, source } from "../src/index.ts";

const run = (): void => {};
const functions: Functions = {
  handlers: { orders: handler(run), invoices: handler.batch(run) },
  sources: { ticks: source(async function* () {}) },
};
const nothing: Functions = {};

/** The problems of a document with one route. */
function problems(
  registered: Functions,
  options: { readonly receiver?: object; readonly sender?: object; readonly address?: string },
) {
  const registry = createRegistry({ transports: [functionTransport(registered), memory()] });
  const { receiver = { source: "ticks" }, sender = { handler: "orders" }, address } = options;
  const checked = validateConfig(
    {
      bridge: { id: "test" },
      receivers: [{ id: "in", transport: "function", options: receiver }],
      senders: [{ id: "out", transport: "function", options: sender }],
      bindings: [{ id: "to-out", sender_id: "out", ...(address !== undefined && { address }) }],
      routes: [
        {
          id: "r",
          receiver_id: "in",
          bindings: ["to-out"],
          policy: { on_permanent_failure: "drop", on_expired: "drop" },
        },
      ],
    },
    registry,
  );
  return checked.ok ? checked.warnings : checked.problems.map(({ path, message }) => `${path.join(".")}: ${message}`);
}

test("a document may name what is registered", () => {
  expect(problems(functions, {})).toEqual([]);
  expect(problems(functions, { sender: { handler: "invoices" } })).toEqual([]);
});

describe("a name that is not registered is refused, with those that are", () => {
  test.each([
    [
      functions,
      { sender: { handler: "order" } },
      'senders.0.options.handler: expected one of orders, invoices; did you mean "orders"? (got "order")',
    ],
    [
      functions,
      { sender: { handler: "__proto__" } },
      'senders.0.options.handler: expected one of orders, invoices (got "__proto__")',
    ],
    [functions, { sender: {} }, "senders.0.options.handler: is required"],
    [
      functions,
      { receiver: { source: "tocks" } },
      'receivers.0.options.source: expected ticks; did you mean "ticks"? (got "tocks")',
    ],
    [functions, { receiver: { source: 5 } }, "receivers.0.options.source: expected ticks (got 5)"],
    [
      nothing,
      {},
      'receivers.0.options.source: names a source, and none is registered: give functionTransport({ sources: { … } }) one (got "ticks")',
    ],
    [functions, { address: "there" }, 'bindings.0.address: "there" is of no use: a function has no address; remove it'],
  ])("%#", (registered, options, problem) => {
    expect(problems(registered, options)).toContain(problem);
  });
});

test.each([functions, nothing])("editors get a schema that names them: %#", (registered) => {
  const registry = createRegistry({ transports: [functionTransport(registered)] });
  const schema = JSON.stringify(configJsonSchema(registry));
  expect(schema.includes('"enum":["orders","invoices"]')).toBe(registered === functions);
  expect(schema).not.toContain('"enum":[]');
});
