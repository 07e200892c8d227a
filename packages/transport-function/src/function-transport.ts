import { defineFactory, type ReceiverContext, type SenderContext, type TransportPlugin } from "@bridge/ports";
import { Feed } from "./feed.ts";
import { FunctionReceiver } from "./function-receiver.ts";
import { Handler } from "./handler-definition.ts";
import { kindOf } from "@bridge/ports/internal";
import { receiverOptions, senderOptions } from "./options.ts";
import { Source } from "./source-definition.ts";

/** The functions that the configuration may name. */
export interface Functions {
  /** What `handler` makes, by the names that senders give in their option `handler`. */
  readonly handlers?: Readonly<Record<string, Handler>>;
  /** What `source` makes, by the names that receivers give in their option `source`. */
  readonly sources?: Readonly<Record<string, Source>>;
}

/**
 * The transport `function`: messages from and to the code of this program. Give each bridge of a process a transport of its
 * own: what a source has yielded and is not settled is known to the returned value alone.
 *
 * @example
 * const plugins = {
 *   transports: [functionTransport({ handlers: { orders: handler((message) => save(message.json())) } })],
 * };
 * @throws TypeError when something was not made by `handler` or `source`
 */
export function functionTransport({ handlers = {}, sources = {} }: Functions = {}): TransportPlugin {
  const ownHandlers = checked(handlers, Handler, "handler");
  const feeds = new Map(
    [...checked(sources, Source, "source")].map(([name, source]) => [name, new Feed(name, source)]),
  );
  return {
    type: "function",
    receiver: {
      needsSession: false,
      topics: "refused",
      // Within the process, as in memory.
      redelivers: "always",
      ...defineFactory({
        options: receiverOptions([...feeds.keys()]),
        create: (options, context: ReceiverContext) =>
          new FunctionReceiver(registered(feeds, "source", options.source), context),
      }),
    },
    sender: {
      needsSession: false,
      addressProblem: (address) => (address === "" ? undefined : "is of no use: a function has no address; remove it"),
      ...defineFactory({
        options: senderOptions([...ownHandlers.keys()]),
        create: (options, context: SenderContext) =>
          registered(ownHandlers, "handler", options.handler).sender(options.handler, context),
      }),
    },
  };
}

function checked<Part extends Handler | Source>(
  parts: unknown,
  of: abstract new (...args: never[]) => Part,
  kind: "handler" | "source",
): ReadonlyMap<string, Part> {
  if (typeof parts !== "object" || parts === null) {
    throw new TypeError(`${kind}s of functionTransport is ${kindOf(parts)}: give it an object, { name: ${kind}(…) }`);
  }
  const entries = Object.entries(parts).map(([name, part]: [string, unknown]): [string, Part] => {
    if (name === "") throw new TypeError(`a ${kind} of functionTransport has an empty name`);
    if (part instanceof of) return [name, part];
    throw new TypeError(`${kind} "${name}" of functionTransport is ${kindOf(part)}: make it with ${kind}(…)`);
  });
  return new Map(entries);
}

function registered<Part>(parts: ReadonlyMap<string, Part>, kind: string, name: string): Part {
  const part = parts.get(name);
  if (part === undefined) throw new TypeError(`${kind} "${name}" was not validated`);
  return part;
}
