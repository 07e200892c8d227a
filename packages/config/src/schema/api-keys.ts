import { PERMISSIONS, ROLES } from "@bridge/ports/internal";
import { apiKey, describe } from "@bridge/ports/options";
import * as v from "valibot";

const NAME = /^[a-z0-9._-]{1,64}$/;

/** An element of `http.api_keys`. */
export const apiKeySchema = v.pipe(
  v.strictObject({
    id: describe(
      v.pipe(
        v.string("expected a string"),
        v.regex(NAME, "the name of a key is 1 to 64 of a-z, 0-9, '.', '_' and '-'"),
        v.metadata({ format: "id" }),
      ),
      "Names the key; audit events name its caller by this. `admin` and `monitor` are reserved.",
    ),
    key: describe(apiKey(), "What callers send, at least 16 characters."),
    role: describe(
      v.optional(v.picklist(Object.keys(ROLES) as (keyof typeof ROLES)[])),
      "What the key opens. `viewer` reads, without payloads. `operator` works with messages: reads, marks, redrives and deletes dead letters, injects, pauses routes. `admin` may do everything. Give this or permissions.",
    ),
    permissions: describe(
      v.optional(
        v.pipe(
          v.array(v.picklist(PERMISSIONS)),
          v.minLength(1, "must name at least one"),
          v.metadata({ uniqueItems: true }),
        ),
      ),
      "What the key opens, as single permissions instead of a role.",
    ),
  }),
  v.check(
    ({ role, permissions }) => (role === undefined) !== (permissions === undefined),
    "needs either a role or permissions",
  ),
  v.metadata({ allOf: [{ oneOf: [{ required: ["role"] }, { required: ["permissions"] }] }] }),
);
