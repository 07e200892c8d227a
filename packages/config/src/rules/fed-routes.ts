import { formatPath } from "../problem.ts";
import type { Rule } from "./rule-context.ts";

/** A receiver feeds exactly one route: with two, nobody could say when a delivery is settled. */
export const fedRoutes: Rule = (context) => {
  const firstFed = new Map<string, string>();
  for (const { part, path } of context.parts("routes")) {
    if (part.receiver_id === undefined) continue;
    const first = firstFed.get(part.receiver_id);
    if (first === undefined) {
      firstFed.set(part.receiver_id, formatPath(path));
      continue;
    }
    const place = [...path, "receiver_id"];
    const shown = context.hidden.show(place, part.receiver_id);
    context.report.problem(
      place,
      `the receiver ${shown} feeds ${first} already: join the two into one route with dispatch_mode: fan_out, or add a receiver`,
    );
  }
};
