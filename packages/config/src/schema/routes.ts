import { describe } from "@bridge/ports/options";
import * as v from "valibot";
import { id } from "./id.ts";
import { policySchema } from "./policy.ts";
import { rateLimitSchema } from "./rate-limit.ts";
import { resolverSchema } from "./resolver.ts";

/** An element of `routes`: from a receiver to bindings (spec 2.3). */
export const routeSchema = v.strictObject({
  id: describe(id(), "Names the route."),
  receiver_id: describe(id(), "The receiver that feeds it."),
  delivery_mode: describe(
    v.optional(v.picklist(["direct_hold", "shared_outbox"]), "direct_hold"),
    "`direct_hold`: the source keeps a message until the target has it. `shared_outbox`: the outbox keeps it.",
  ),
  dispatch_mode: describe(
    v.optional(v.picklist(["single", "fan_out"]), "single"),
    "`single`: each message goes to one binding. `fan_out`: to all that the resolver chooses.",
  ),
  processors: describe(v.optional(v.array(id()), []), "The processors that each message passes, in this order."),
  resolver: describe(
    v.optional(resolverSchema),
    "Which bindings get a message. Default: the first one in `single`, all in `fan_out`.",
  ),
  bindings: describe(
    v.pipe(v.array(id()), v.minLength(1, "must name at least one binding"), v.metadata({ uniqueItems: true })),
    "The bindings that messages can go to.",
  ),
  policy: describe(v.optional(policySchema, {}), "Limits, retries and failures."),
  rate_limit: describe(
    v.optional(rateLimitSchema),
    "How fast messages are taken from the receiver; what an operator injects or redrives does not count. Default: no limit. A change applies without stopping anything.",
  ),
});
