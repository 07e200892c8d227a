import { BridgeError, defineFactory, type PluginContext, type ProcessorAdapter, processorAdapter } from "@bridge/ports";
import { describe, text } from "@bridge/ports/options";
import * as v from "valibot";

const options = v.strictObject({
  field: describe(text(), "The number in a JSON payload to look at."),
  min: describe(v.number("expected a number"), "Messages with less are filtered out."),
});

/** The processor `threshold`: lets messages pass whose JSON payload has a number that is large enough. */
export const threshold: ProcessorAdapter<v.InferInput<typeof options>> = processorAdapter({
  type: "threshold",
  ...defineFactory({
    options,
    create: ({ field, min }, _context: PluginContext) => ({
      process(envelope) {
        const value = numberAt(envelope.payload, field);
        if (value < min) return { kind: "filter", reason: `${field} is below ${min}` };
        // A changed message is a new envelope; a header is how a resolver or an address sees what was found out.
        const headers = { ...envelope.headers, [field]: String(value) };
        return { kind: "pass", envelope: { ...envelope, headers } };
      },
    }),
  }),
});

/** What is thrown here goes by the route's failure policy; the code says which part of it. */
function numberAt(payload: Uint8Array, field: string): number {
  let value: unknown;
  try {
    value = (JSON.parse(new TextDecoder().decode(payload)) as Readonly<Record<string, unknown>> | null)?.[field];
  } catch (cause) {
    throw new BridgeError("INVALID_PAYLOAD", "the payload is not JSON", { cause });
  }
  if (typeof value === "number") return value;
  throw new BridgeError("SCHEMA_VIOLATION", `the payload has no number "${field}"`);
}
