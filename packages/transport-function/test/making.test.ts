import { defineBridge } from "@bridge/core";
import { expect, expectTypeOf, test } from "vitest";
import * as v from "valibot";
import { type FunctionMessage, functionTransport, handler, type HandlerOptions, source } from "../src/index.ts";

const order = v.object({ id: v.string() });

test.each([
  [() => handler(undefined as never), "handler takes a function of a message, not undefined"],
  [() => handler(5 as never), "handler takes a function of a message, not a number"],
  [() => handler(order as never), "handler has a schema and no function: give it both, handler(schema, run)"],
  [() => handler({} as never, () => {}), /takes a schema before the function, .*not an object/],
  [
    () => handler(order, 5 as never),
    "handler takes a schema and a function of its value, and the function is a number",
  ],
  [() => handler(() => {}, 5 as never), "options of handler are a number: give it an object with rate_limit"],
  [() => handler(() => {}, { size: 5 } as never), 'handler knows no option "size": there are rate_limit'],
  [() => handler(order, () => {}, { size: 5 } as never), 'handler knows no option "size": there are rate_limit'],
  [
    () => handler.batch(() => {}, null as never),
    "options of handler.batch are null: give it an object with size, within",
  ],
  [() => handler.batch([] as never), "handler.batch takes a function of messages, not an array"],
  [() => source("abc" as never), "source takes an async iterable, or a function that returns one, not a string"],
  [() => source([] as never), "source takes an async iterable, or a function that returns one, not an array"],
  [
    () => functionTransport({ handlers: { orders: (() => {}) as never } }),
    'handler "orders" of functionTransport is a function: make it with handler(…)',
  ],
  [
    () => functionTransport({ sources: { ticks: handler(() => {}) as never } }),
    'source "ticks" of functionTransport is an object: make it with source(…)',
  ],
  [
    () => functionTransport({ handlers: { "": handler(() => {}) } }),
    "a handler of functionTransport has an empty name",
  ],
  [() => functionTransport({ sources: null as never }), /^sources of functionTransport is null: give it an object/],
])("what is no function, schema or source is refused where it is given: %#", (make, message) => {
  expect(make).toThrow(TypeError);
  expect(make).toThrow(message);
});

test.each([
  [{ size: 0 }, "size of handler.batch is 0: give an integer from 1 to 10000"],
  [{ size: 10_001 }, "size of handler.batch is 10001: give"],
  [{ size: 1.5 }, "size of handler.batch is 1.5: give"],
  [{ size: "5" as never }, 'size of handler.batch is "5": give'],
  [{ within: 50 as never }, 'within of handler.batch is 50: give a duration from "1ms" to "1m", such as "50ms"'],
  [{ within: "0s" }, 'within of handler.batch is "0s": give'],
  [{ within: "2m" }, 'within of handler.batch is "2m": give'],
  [{ timeout: 5 } as never, 'handler.batch knows no option "timeout": there are size, within, rate_limit'],
])("options of a batch that are none are refused, with what they may be: %j", (options, message) => {
  expect(() => handler.batch(() => {}, options)).toThrow(TypeError);
  expect(() => handler.batch(() => {}, options)).toThrow(message);
});

test.each([
  (options: HandlerOptions) => handler(() => {}, options),
  (options: HandlerOptions) => handler(order, () => {}, options),
  (options: HandlerOptions) => handler.batch(() => {}, options),
])("a handler may have a rate limit, which the document of a bridge in code has: %#", (make) => {
  const rate_limit = { messages_per_second: 5 };
  const bridge = defineBridge({
    id: "shop",
    routes: {
      orders: {
        from: source(async function* () {}),
        to: make({ rate_limit }),
        policy: { on_permanent_failure: "drop", on_expired: "drop" },
      },
    },
  });
  expect(bridge.document().senders).toMatchObject([{ id: "orders", rate_limit }]);
});

test("a handler with a schema has the type of what fits", () => {
  handler(order, (value, { message, signal }) => {
    expectTypeOf(value).toEqualTypeOf<{ id: string }>();
    expectTypeOf(message).toEqualTypeOf<FunctionMessage>();
    expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
  });
  // @ts-expect-error there is no such member
  handler(order, (value) => value.total);
  handler((message) => expectTypeOf(message.json<{ id: string }>().id).toEqualTypeOf<string>());
  // @ts-expect-error what a batch returns is errors, or nothing
  handler.batch(() => ["no"]);
  // @ts-expect-error a message has a payload
  source(async function* () {
    yield { id: "m1" };
  });
});
