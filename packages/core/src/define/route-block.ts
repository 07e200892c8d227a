import type { BridgeDocument, Path } from "@bridge/config";
import type { ProcessorDefinition, ReceiverDefinition } from "@bridge/ports";
import type { RouteDefinition, Target } from "./bridge-definition.ts";
import type { DocumentParts } from "./document-parts.ts";
import { INHERITS, inherits } from "./own-names.ts";
import { kindOf, noPart, plainly } from "./part-kinds.ts";
import { type NamedTarget, resolverOf, targetOf, targetsOf } from "./targets.ts";

type RouteBlock = NonNullable<BridgeDocument["routes"]>[number];

const ALL = { type: "all" } as const;

/** A route of a document, whose parts are added to `parts`. */
export function routeBlock(parts: DocumentParts, id: string, route: RouteDefinition): RouteBlock {
  const { from, to, processors = [], resolver, ...others } = route;
  const place: Path = ["routes", id];
  parts.places.set(["routes", parts.routes++], place);
  addReceiver(parts, id, from);
  const targets = targetsOf(id, to);
  if (inheritsTargets(to)) parts.problems.push({ path: [...place, "to"], message: INHERITS });
  else if (targets.length === 0) parts.problems.push({ path: [...place, "to"], message: noPart(to, "target") });
  for (const target of targets) addTarget(parts, target, [...place, "to", ...target.place]);
  const several = targets.length > 1 || targets.some((target) => target.place.length > 0);
  const steps = stepsOf(parts, processors, [...place, "processors"]).map((step, index) =>
    stepId(parts, step, id, index),
  );
  return {
    ...(several && (resolver ?? ALL).type === "all" && { dispatch_mode: "fan_out" }),
    ...others,
    id,
    receiver_id: id,
    ...(steps.length > 0 && { processors: steps }),
    ...(resolver !== undefined && { resolver: resolverOf(resolver, targets) }),
    bindings: targets.map(({ bindingId }) => bindingId),
  };
}

function inheritsTargets(to: unknown): boolean {
  return typeof to === "object" && to !== null && !Array.isArray(to) && kindOf(to) === undefined && inherits(to);
}

function addReceiver(parts: DocumentParts, id: string, from: unknown): void {
  const place = ["routes", id, "from"];
  if (kindOf(from) === "receiver") parts.receiver(from as ReceiverDefinition, place, id);
  else parts.problems.push({ path: place, message: noPart(from, "receiver") });
}

function addTarget(parts: DocumentParts, { target, bindingId }: NamedTarget, place: Path): void {
  const kind = kindOf(target);
  if (kind !== "target" && kind !== "sender") {
    parts.problems.push({ path: place, message: noPart(target, "target") });
    return;
  }
  const { sender, address } = targetOf(target as Target);
  parts.binding({ id: bindingId, sender_id: parts.sender(sender, place, bindingId), address }, place);
}

function stepsOf(parts: DocumentParts, steps: unknown, place: Path): readonly unknown[] {
  if (Array.isArray(steps)) return steps;
  parts.problems.push({ path: place, message: `is ${plainly(steps)}: give it a list of processors` });
  return [];
}

function stepId(parts: DocumentParts, step: unknown, routeId: string, index: number): string {
  const place = ["routes", routeId, "processors", index];
  if (kindOf(step) === "processor") {
    const processor = step as ProcessorDefinition;
    return parts.processor(processor, place, `${routeId}.${processor.plugin.type}`);
  }
  parts.problems.push({ path: place, message: noPart(step, "processor") });
  return "";
}
