import { describe, integer, text } from "@bridge/ports/options";
import * as v from "valibot";

/** The `audit` block: where audit events go. */
export const auditSchema = v.strictObject({
  log: describe(v.optional(v.boolean(), true), "Whether audit events are written to the log."),
  file: describe(
    v.optional(
      v.strictObject({
        path: describe(text(), "The file that events are appended to, one line of JSON each."),
        max_bytes: describe(
          v.optional(integer(4096)),
          "The size, in bytes, at which a new file is begun. Default: never.",
        ),
        keep: describe(v.optional(integer(1, 1000), 10), "How many full files are kept beside the current one."),
      }),
    ),
    "An audit file, in addition to the log.",
  ),
});
