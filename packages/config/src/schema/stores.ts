import { describe, text } from "@bridge/ports/options";
import * as v from "valibot";
import { pluginOptions } from "./plugin-options.ts";

const block = {
  type: describe(text(), "The kind of store."),
  options: pluginOptions("The options of this kind of store."),
};

/** A store that keeps messages. Without a type it is none, and only says what becomes of the one that was there. */
const keeping = () =>
  v.optional(
    v.strictObject({
      ...block,
      type: describe(
        v.optional(text()),
        "The kind of store. May be left out only beside `abandon_backlog`: then there is no store.",
      ),
      abandon_backlog: describe(
        v.optional(v.boolean(), false),
        "Lets the change that adds it leave messages behind where nobody delivers or sees them. Counts once: for a later change, take it out and add it again.",
      ),
    }),
  );

/** The `stores` block: one store a role (spec 1.6). */
export const storesSchema = v.strictObject({
  dlq: describe(keeping(), "Keeps dead letters. Needed by every route whose policy says `dlq`."),
  outbox: describe(keeping(), "Keeps accepted messages until they are sent. Needed by `shared_outbox` routes."),
  lease: describe(
    v.optional(v.strictObject(block)),
    "Decides which instance holds an exclusive session. Needed when there is such a session.",
  ),
});
