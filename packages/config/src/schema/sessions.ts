import { describe, text } from "@bridge/ports/options";
import * as v from "valibot";
import { id } from "./id.ts";
import { pluginOptions } from "./plugin-options.ts";

/** An element of `sessions`: a connection to a broker. */
export const sessionSchema = v.strictObject({
  id: describe(id(), "Names the session."),
  transport: describe(text(), "The transport that it belongs to."),
  session_mode: describe(
    v.optional(v.picklist(["ephemeral", "persistent", "exclusive"]), "persistent"),
    "`ephemeral`: the broker forgets the session with its connection. `persistent`: the broker keeps it, with what was not settled. `exclusive`: persistent, and held by one instance at a time.",
  ),
  options: pluginOptions("The options that this transport has for sessions."),
});
