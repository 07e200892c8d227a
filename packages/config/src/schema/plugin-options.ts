import { describe } from "@bridge/ports/options";
import * as v from "valibot";

const OPTIONS = new WeakSet<v.GenericSchema>();

/** The options of a plugin: any block here; the plugin's own schema checks what is in it. */
export function pluginOptions(description: string) {
  const schema = describe(v.optional(v.record(v.string(), v.unknown()), {}), description);
  OPTIONS.add(schema);
  return schema;
}

/** Whether a field of the document holds {@link pluginOptions}. */
export function isPluginOptions(schema: v.GenericSchema): boolean {
  return OPTIONS.has(schema);
}
