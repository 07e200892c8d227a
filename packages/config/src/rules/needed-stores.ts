import type { Path } from "../problem.ts";
import type { StoreRole } from "../model.ts";
import type { Rule, RuleContext } from "./rule-context.ts";

const POLICIES = ["on_permanent_failure", "on_expired", "on_filtered"] as const;

/** What says that something is kept has a store to keep it in. */
export const neededStores: Rule = (context) => {
  if (context.draft.stores === undefined) return;
  for (const { part, path } of context.parts("routes")) {
    const keeping = POLICIES.filter((name) => part.policy?.[name] === "dlq");
    if (keeping.length > 0) {
      need(
        context,
        "dlq",
        [...path, "policy"],
        `${keeping.join(" and ")} ${keeping.length === 1 ? "says" : "say"} dlq`,
        "say drop",
      );
    }
    if (part.delivery_mode === "shared_outbox") {
      need(context, "outbox", [...path, "delivery_mode"], "shared_outbox keeps messages", "choose direct_hold");
    }
  }
  for (const { part, path } of context.parts("sessions")) {
    if (part.session_mode === "exclusive") {
      need(
        context,
        "lease",
        [...path, "session_mode"],
        "an exclusive session is held under a lease",
        "choose persistent",
      );
    }
  }
};

function need(context: RuleContext, role: StoreRole, path: Path, why: string, otherwise: string): void {
  const block = context.draft.stores?.[role];
  const none = block !== undefined && block.type === undefined && !context.written(["stores", role, "type"]);
  if (context.written(["stores", role]) && !none) return;
  context.report.problem(path, `${why}, but stores.${role} is not configured: configure it, or ${otherwise}`);
}
