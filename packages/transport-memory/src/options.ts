import { describe, duration, integer, text } from "@bridge/ports/options";
import * as v from "valibot";

export const sessionOptions = v.strictObject({});

export const receiverOptions = v.strictObject({
  channel: describe(text(), "The channel that messages are taken from."),
  redelivery_delay: describe(
    v.optional(duration(), "0s"),
    "How long a message that was not settled waits before it is handed out again.",
  ),
  counts: describe(v.optional(v.boolean(), true), "Whether deliveries say how often they have been handed out."),
  releasable: describe(
    v.optional(v.boolean(), true),
    "Whether the channel takes a delivery back to hand it out later.",
  ),
});

export const senderOptions = v.strictObject({
  channel: describe(
    v.optional(v.string("expected a string"), ""),
    "The channel of messages whose binding has no address.",
  ),
  max_messages: describe(
    v.optional(integer(1)),
    "Sends fail as UNAVAILABLE while the channel holds this many messages. Default: the hub's limit, 100,000.",
  ),
  discard: describe(v.optional(v.boolean(), false), "Counts messages instead of keeping them."),
});
