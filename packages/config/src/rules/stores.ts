import { REDACTED } from "../redacted.ts";
import type { StoreRole } from "../model.ts";
import { noStoreFactory } from "../store-factory.ts";
import type { Rule } from "./rule-context.ts";

export const STORE_ROLES: readonly StoreRole[] = ["dlq", "outbox", "lease"];

/** Store types are registered, and reach as far as the deployment needs (spec 1.6). */
export const stores: Rule = (context) => {
  const clustered = context.draft.bridge?.deployment_mode === "clustered";
  for (const role of STORE_ROLES) {
    const store = context.draft.stores?.[role];
    if (store?.type === undefined) continue;
    const place = ["stores", role, "type"];
    const registered = context.registry.stores[role];
    const plugin = registered.get(store.type);
    const hidden = context.hidden.covers(place);
    if (plugin === undefined) {
      context.report.problem(place, noStoreFactory(role, hidden ? REDACTED : store.type, registered.keys()));
    } else if (clustered && plugin.reach !== "cluster") {
      const fitting = [...registered.values()].filter(({ reach }) => reach === "cluster").map(({ type }) => type);
      context.report.problem(
        place,
        `${context.hidden.show(place, store.type)} is not shared by all instances, as deployment_mode clustered needs; stores that are: ${fitting.join(", ") || "none is registered"}`,
      );
    } else if (
      plugin.reach === "process" &&
      store.options !== undefined &&
      store.options["acknowledge_volatile"] !== true
    ) {
      context.report.problem(
        ["stores", role, "options", "acknowledge_volatile"],
        "this store loses what it holds on restart: set acknowledge_volatile: true to accept that, or choose a store that keeps it",
      );
    }
  }
};
