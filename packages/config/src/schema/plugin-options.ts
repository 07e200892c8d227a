import { describe } from "@bridge/ports/options";
import * as v from "valibot";

/** The options of a plugin: any block here; the plugin's own schema checks what is in it. */
export function pluginOptions(description: string) {
  return describe(v.optional(v.record(v.string(), v.unknown()), {}), description);
}
