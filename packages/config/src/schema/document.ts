import { describe } from "@bridge/ports/options";
import * as v from "valibot";
import { MAX_CONFIG_VERSION } from "../config-version.ts";
import { auditSchema } from "./audit.ts";
import { bindingSchema } from "./bindings.ts";
import { bridgeSchema } from "./bridge.ts";
import { configSchema } from "./config.ts";
import { configWatchSchema } from "./config-watch.ts";
import { httpSchema } from "./http.ts";
import { processorSchema } from "./processors.ts";
import { receiverSchema } from "./receivers.ts";
import { routeSchema } from "./routes.ts";
import { senderSchema } from "./senders.ts";
import { sessionSchema } from "./sessions.ts";
import { storesSchema } from "./stores.ts";
import { telemetrySchema } from "./telemetry.ts";

const list = <const Item extends v.GenericSchema>(item: Item) => v.optional(v.array(item), []);

function countedVersion() {
  const wanted = `expected an integer from 0 to ${MAX_CONFIG_VERSION}: leave it out, and the bridge counts from 0`;
  return v.pipe(v.number(wanted), v.integer(wanted), v.minValue(0, wanted), v.maxValue(MAX_CONFIG_VERSION, wanted));
}

/** The whole document that people write (contract §1), each block on its own; rules check what joins them. */
export const documentSchema = v.strictObject({
  config_version: describe(
    v.optional(countedVersion(), 0),
    "Counts the changes made through the admin API. The bridge writes it; leave it alone.",
  ),
  bridge: describe(bridgeSchema, "The instance as a whole."),
  config: describe(
    v.optional(configSchema, {}),
    "What changes over the admin API may do. They cannot change this block.",
  ),
  config_watch: describe(v.optional(configWatchSchema, {}), "How changes of this document are noticed."),
  http: describe(v.optional(httpSchema), "The two servers. Without this block: the defaults of the application."),
  audit: describe(v.optional(auditSchema, {}), "Where audit events go."),
  telemetry: describe(v.optional(telemetrySchema, {}), "What is exported, besides the metrics of the monitor server."),
  stores: describe(v.optional(storesSchema, {}), "The stores, one for each role."),
  sessions: describe(list(sessionSchema), "Connections to brokers."),
  receivers: describe(list(receiverSchema), "Where messages come from. Each feeds exactly one route."),
  senders: describe(list(senderSchema), "Where messages go."),
  bindings: describe(list(bindingSchema), "Addresses at senders; routes name them."),
  processors: describe(list(processorSchema), "Steps that messages pass before they are sent; routes name them."),
  routes: describe(list(routeSchema), "From a receiver to bindings."),
});

/** A document that the schema has accepted: defaults filled in, durations in milliseconds, names as written. */
export type ConfigDocument = v.InferOutput<typeof documentSchema>;
