import { describe } from "@bridge/ports/options";
import * as v from "valibot";
import { id, optionalId } from "./id.ts";
import { pluginOptions } from "./plugin-options.ts";
import { rateLimitSchema } from "./rate-limit.ts";

/** An element of `senders`: where messages go. */
export const senderSchema = v.strictObject({
  id: describe(id(), "Names the sender."),
  transport: describe(v.optional(v.string("expected a string"), ""), "The transport. Default: that of the session."),
  session_id: describe(optionalId(), "The session that messages go over, if the transport has sessions."),
  rate_limit: describe(
    v.optional(rateLimitSchema),
    "How fast messages are sent, by all bindings of this sender together. A wait does not count as an attempt. Default: no limit. A change applies without stopping anything.",
  ),
  options: pluginOptions("The options that this transport has for senders."),
});
