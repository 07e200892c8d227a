import { describe, fileToKeep, integer, lengthOf, secret } from "@bridge/ports/options";
import * as v from "valibot";

const MIN_KEY_LENGTH = 32;

/** The `audit` block: where audit events go, besides each other. It is read at the start of the process. */
export const auditSchema = v.strictObject({
  log: describe(v.optional(v.boolean(), true), "Whether audit events are written to the log."),
  file: describe(
    v.optional(
      v.strictObject({
        path: describe(
          fileToKeep(),
          "The file that events are appended to, one line of JSON each, chained by hashes. A relative path starts at the working directory; the folder is made if missing.",
        ),
        max_bytes: describe(
          v.optional(integer(4096), 64 * 1024 * 1024),
          "The size, in bytes, at which a new file is started. The full one gets the number of its last record as a suffix.",
        ),
        keep: describe(
          v.optional(integer(1, 1000), 10),
          "How many full files are kept beside the current one; older ones are deleted.",
        ),
        hmac_key: describe(
          v.optional(
            v.pipe(
              secret(),
              v.metadata({ pattern: `^(|[\\s\\S]{${MIN_KEY_LENGTH},})$` }),
              v.check(
                (key) => key === "" || lengthOf(key) >= MIN_KEY_LENGTH,
                `an HMAC key has at least ${MIN_KEY_LENGTH} characters`,
              ),
            ),
            "",
          ),
          "A key of at least 32 characters that makes the hashes HMACs: nobody can forge the file without it. Empty: plain SHA-256.",
        ),
      }),
    ),
    "An audit file, in addition to the log.",
  ),
});
