import { REDACTED } from "../redacted.ts";
import type { StoreRole } from "../model.ts";
import { noStoreFactory } from "../store-factory.ts";
import type { Rule, RuleContext } from "./rule-context.ts";

export const STORE_ROLES: readonly StoreRole[] = ["dlq", "outbox", "lease"];

/** Store types are registered, and reach as far as the deployment needs (spec 1.6). */
export const stores: Rule = (context) => {
  const clustered = context.draft.bridge?.deployment_mode === "clustered";
  for (const role of STORE_ROLES) {
    const store = context.draft.stores?.[role];
    if (store === undefined) continue;
    if (store.type === undefined) {
      typeless(role, context);
      continue;
    }
    const place = ["stores", role, "type"];
    const registered = context.registry.stores[role];
    const plugin = registered.get(store.type);
    const hidden = context.hidden.covers(place);
    if (plugin === undefined) {
      const program = hidden ? undefined : context.registry.elsewhere.get(store.type);
      const remedy = program === undefined ? "" : `; ${program} has it`;
      context.report.problem(place, noStoreFactory(role, hidden ? REDACTED : store.type, registered.keys()) + remedy);
    } else if (clustered && plugin.reach !== "cluster") {
      const fitting = [...registered.values()].filter(({ reach }) => reach === "cluster").map(({ type }) => type);
      context.report.problem(
        place,
        `${context.hidden.show(place, store.type)} is not shared by all instances, as deployment_mode clustered needs; stores that are: ${fitting.join(", ") || "none is registered"}`,
      );
    } else if (
      plugin.reach === "process" &&
      store.options !== undefined &&
      !acknowledged(store.options["acknowledge_volatile"], volatile(role), context)
    ) {
      context.report.problem(
        volatile(role),
        "this store loses what it holds on restart: set acknowledge_volatile: true to accept that, or choose a store that keeps it",
      );
    }
  }
};

const volatile = (role: StoreRole): readonly string[] => ["stores", role, "options", "acknowledge_volatile"];

/** A reference stands for text, also where it says true. */
function acknowledged(value: unknown, place: readonly string[], { hidden }: RuleContext): boolean {
  return value === true || (typeof value === "string" && value.trim() === "true" && hidden.cameIn(place));
}

/** Without a type there is no store, and nothing but what becomes of a former one can be said of it. */
function typeless(role: StoreRole, context: RuleContext): void {
  const block = ["stores", role];
  if (context.written([...block, "type"])) return;
  const store = context.draft.stores?.[role];
  const abandons = store !== undefined && "abandon_backlog" in store && store.abandon_backlog === true;
  if (!abandons) context.report.problem([...block, "type"], "is required");
  else if (context.written([...block, "options"]))
    context.report.problem([...block, "options"], "options of no store: name its type, or remove them");
}
