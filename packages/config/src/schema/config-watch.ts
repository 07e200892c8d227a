import { describe, duration, positiveDuration } from "@bridge/ports/options";
import * as v from "valibot";

/** The `config_watch` block. */
export const configWatchSchema = v.strictObject({
  mode: describe(
    v.optional(v.picklist(["notify", "poll"]), "notify"),
    "How a change of this document is noticed. `notify`: the operating system reports it. `poll`: the bridge looks now and then.",
  ),
  poll_interval: describe(v.optional(positiveDuration(), "30s"), "How often the bridge looks, in either mode."),
  debounce: describe(v.optional(duration(), "100ms"), "How long a change must have settled before it is read."),
});
