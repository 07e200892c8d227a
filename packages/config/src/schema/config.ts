import { describe, text } from "@bridge/ports/options";
import * as v from "valibot";

/** The `config` block: what changes of this document may do. The admin API cannot change it. */
export const configSchema = v.strictObject({
  references: describe(
    v.optional(
      v.strictObject({
        allow: describe(
          v.optional(v.array(text()), []),
          "References that a change over the admin API may add, such as `env:SITE_*` or `file:/run/secrets/*`: `*` stands for anything without a `/`, `**` for anything. References that the document already has may stay where they are without it.",
        ),
      }),
      {},
    ),
    "What changes may refer to.",
  ),
});
