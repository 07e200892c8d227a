import type { BridgeDocument } from "@bridge/config";

/** What needs a header of each message. */
export type LooksAt = "address" | "header_map" | "rules";

type Route = NonNullable<BridgeDocument["routes"]>[number];

/** Each message that is to arrive has this header. */
export const KIND = { kind: "order" };
const SEPARATOR = "/";

/** A document whose addresses or whose resolver need the header. A message that has it goes to all bindings of its route. */
export function lookedAt(document: BridgeDocument, looksAt: LooksAt): BridgeDocument {
  if (looksAt !== "address")
    return { ...document, routes: (document.routes ?? []).map((route) => resolved(route, looksAt)) };
  const addressed = (document.bindings ?? []).map((binding) => ({
    ...binding,
    address: `${binding.address}${SEPARATOR}{kind}${SEPARATOR}{$subject}`,
  }));
  return { ...document, bindings: addressed };
}

/** The target that an address names, whatever else of the message is in it. */
export function targetIn(address: string): string {
  return address.split(SEPARATOR, 1)[0] ?? address;
}

/** A route whose bindings have other ids, which its resolver knows too. */
export function withBindings(route: Route, bindings: readonly string[]): Route {
  const type = route.resolver?.type;
  const rebound = { ...route, bindings: [...bindings] };
  return type === "header_map" || type === "rules" ? resolved(rebound, type) : rebound;
}

function resolved(route: Route, type: "header_map" | "rules"): Route {
  const binding = [...(route.bindings ?? [])];
  const resolver: Route["resolver"] =
    type === "header_map"
      ? { type, header: "Kind", map: { [KIND.kind]: binding, other: binding } }
      : {
          type,
          rules: [
            { when: { field: "$.device.kind", op: "exists" }, binding },
            { when: { field: "subject", op: "prefix", value: "none/" }, binding },
            { when: { field: "header.kind", op: "eq", value: KIND.kind }, binding },
          ],
        };
  return { ...route, resolver };
}
