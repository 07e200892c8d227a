import { describe } from "@bridge/ports/options";
import * as v from "valibot";

export const receiverOptions = (names: readonly string[]) =>
  v.strictObject({
    source: describe(nameOf(names, "source"), "The name of the source that messages are taken from."),
  });

export const senderOptions = (names: readonly string[]) =>
  v.strictObject({
    handler: describe(nameOf(names, "handler"), "The name of the handler that messages are given to."),
  });

/** One of the registered names, which a refusal tells. */
function nameOf(names: readonly string[], kind: string): v.GenericSchema<string> {
  if (names.length > 0) return v.picklist(names);
  const nothing = `names a ${kind}, and none is registered: give functionTransport({ ${kind}s: { … } }) one`;
  return v.pipe(
    v.string("expected a string"),
    v.check(() => false, nothing),
  );
}
