import { describe, text } from "@bridge/ports/options";
import * as v from "valibot";
import { pluginOptions } from "./plugin-options.ts";

const store = () =>
  v.optional(
    v.strictObject({
      type: describe(text(), "The kind of store."),
      options: pluginOptions("The options of this kind of store."),
    }),
  );

/** The `stores` block: one store a role (spec 1.6). */
export const storesSchema = v.strictObject({
  dlq: describe(store(), "Keeps dead letters. Needed by every route whose policy says `dlq`."),
  outbox: describe(store(), "Keeps accepted messages until they are sent. Needed by `shared_outbox` routes."),
  lease: describe(store(), "Decides which instance holds an exclusive session. Needed by those."),
});
