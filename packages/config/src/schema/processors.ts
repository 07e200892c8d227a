import { describe, text } from "@bridge/ports/options";
import * as v from "valibot";
import { id } from "./id.ts";
import { pluginOptions } from "./plugin-options.ts";

/** An element of `processors`: a step that looks at messages before they are sent. */
export const processorSchema = v.strictObject({
  id: describe(id(), "Names the processor."),
  type: describe(text(), "The kind of processor."),
  options: pluginOptions("The options of this kind of processor."),
});
