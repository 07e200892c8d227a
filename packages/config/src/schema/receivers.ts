import { describe, text } from "@bridge/ports/options";
import * as v from "valibot";
import { id, optionalId } from "./id.ts";
import { pluginOptions } from "./plugin-options.ts";

const topicSchema = v.strictObject({
  topic: describe(text(), "The topic or topic filter, as the broker writes it."),
  qos: describe(v.optional(v.picklist([0, 1, 2]), 1), "The quality of service to ask for."),
});

/** An element of `receivers`: where messages come from. */
export const receiverSchema = v.strictObject({
  id: describe(
    v.pipe(id(), v.notValue("inject", "this id stands for messages of the admin API: choose another")),
    "Names the receiver; it is the source id of its messages.",
  ),
  transport: describe(v.optional(v.string("expected a string"), ""), "The transport. Default: that of the session."),
  session_id: describe(optionalId(), "The session that messages come over, if the transport has sessions."),
  topics: describe(v.optional(v.array(topicSchema), []), "What to listen to, if the transport has topics."),
  options: pluginOptions("The options that this transport has for receivers."),
});
