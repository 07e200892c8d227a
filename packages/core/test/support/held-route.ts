import type { Delivery, Settlement, SourceMessage } from "@bridge/ports";
import { expect } from "vitest";
import { partKey } from "../../src/change/part-graph.ts";
import type { RouteParts, Target } from "../../src/route/route-parts.ts";
import { Route } from "../../src/route/route.ts";
import { Strays } from "../../src/route/strays.ts";
import { HeldSender } from "./held-sender.ts";
import { bound, type MemoryBridgeOptions } from "./memory-bridge.ts";
import { partsOf } from "./parts-of.ts";

export const sourceMessage = (id: string): SourceMessage => ({ id, subject: "s", payload: new Uint8Array() });

/** A route whose bindings send through a sender that a test answers for. */
export function heldRoute(
  options: MemoryBridgeOptions = {},
  change: (parts: RouteParts) => Partial<RouteParts> = () => ({}),
) {
  const { bridge, parts } = partsOf(options);
  const built = parts.routes.get(partKey.route("r"));
  if (built === undefined) throw new Error("the bridge has no route");
  const { clock } = bridge;
  const sender = new HeldSender();
  const targets = new Map<string, Target>(
    [...built.targets].map(([id, target]) => [id, { ...target, sender, strays: new Strays(clock) }]),
  );
  const own = { ...built, targets };
  const bugs: unknown[] = [];
  const route = new Route({ ...own, ...change(own) }, (bug) => void bugs.push(bug));
  const settled: Settlement[] = [];
  const receive = (id: string, more: Partial<Delivery> = {}): void => {
    expect(route.admission.admit(bound())).toBe(true);
    route.receive({ message: sourceMessage(id), settle: (settlement) => void settled.push(settlement), ...more });
  };
  return { clock, parts: own, route, sender, settled, bugs, receive };
}
