import type { TransportMaker } from "@bridge/ports";
import { functionTransport } from "./function-transport.ts";
import { Handler } from "./handler-definition.ts";
import { Source } from "./source-definition.ts";

/** Registers what the routes of a bridge in code name, under the ids of their parts. */
export const FUNCTIONS: TransportMaker = {
  type: "function",
  plugin: ({ receivers, senders }) =>
    functionTransport({
      handlers: named(senders, (part) => part instanceof Handler),
      sources: named(receivers, (part) => part instanceof Source),
    }),
};

function named<Part, Own extends Part>(
  parts: ReadonlyMap<string, Part>,
  isOwn: (part: Part) => part is Own,
): Readonly<Record<string, Own>> {
  return Object.fromEntries([...parts].filter((entry): entry is [string, Own] => isOwn(entry[1])));
}
