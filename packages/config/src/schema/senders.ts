import { describe } from "@bridge/ports/options";
import * as v from "valibot";
import { id, optionalId } from "./id.ts";
import { pluginOptions } from "./plugin-options.ts";

/** An element of `senders`: where messages go. */
export const senderSchema = v.strictObject({
  id: describe(id(), "Names the sender."),
  transport: describe(v.optional(v.string("expected a string"), ""), "The transport. Default: that of the session."),
  session_id: describe(optionalId(), "The session that messages go over, if the transport has sessions."),
  options: pluginOptions("The options that this transport has for senders."),
});
