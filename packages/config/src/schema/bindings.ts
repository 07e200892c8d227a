import { describe } from "@bridge/ports/options";
import * as v from "valibot";
import { id, optionalId } from "./id.ts";

const TEMPLATE = /^(?:[^{}]|\{(?!\.*\})[^{}]+\})*$/;

/** An element of `bindings`: an address at a sender. */
export const bindingSchema = v.strictObject({
  id: describe(id(), "Names the binding."),
  sender_id: describe(id(), "The sender that sends for it."),
  session_id: describe(
    optionalId(),
    "The session that its messages go over; the bridge then manages it. Default: that of the sender.",
  ),
  address: describe(
    v.optional(
      v.pipe(
        v.string("expected a string"),
        v.regex(TEMPLATE, 'the braces do not pair up: a placeholder is a header name in braces, such as "{device}"'),
      ),
      "",
    ),
    "The address at the target. `{name}` stands for the value of that header, `{$subject}` and `{$id}` for subject and id of the message. In a topic of MQTT and a subject of NATS a value is one level, except for `{$subject}` and `{name...}`.",
  ),
});
