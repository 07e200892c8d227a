import { browserSessions, corsOrigins, id, listenAddress, optionalId } from "@bridge/config/documents";
import { tableName } from "@bridge/dynamodb";
import { describe, filePath, positiveDuration } from "@bridge/ports/options";
import * as v from "valibot";

export const ADMIN_ADDR = ":8080";
export const MONITOR_ADDR = ":8081";

const text = () => v.optional(v.string("expected a string"), "");
const path = () => v.optional(filePath({ mayBeEmpty: true }), "");

function secretName() {
  return v.pipe(
    text(),
    v.check(
      (name) => !/\s/.test(name),
      "expected the name of an SSM parameter, such as /bridge/admin-key, or the ARN of a Secrets Manager secret",
    ),
  );
}

function namespace() {
  return v.pipe(
    v.optional(v.string("expected a string"), "Bridge"),
    v.regex(/^(?!AWS\/)[\w./#:-]{1,255}$/, "a namespace has 1 to 255 letters, digits and ./#:_- and is none of AWS"),
  );
}

/** What an instance is started with: who it is, where its configuration and its keys are, and where it listens. */
export const bootstrapSchema = v.strictObject({
  bridge_id: describe(id(), "Names the bridge: all of its instances have the same. Used as `bridge.id`."),
  instance_id: describe(
    optionalId(),
    "Names this instance. Used as `bridge.instance_id`. Default: what is written there, else the id and 8 random characters.",
  ),
  config_source: describe(
    v.picklist(["file", "dynamodb"]),
    "Where the configuration is: in a file, or in a DynamoDB table that all instances share.",
  ),
  config_file_path: describe(
    path(),
    "With `file`: the file of the configuration, YAML or JSON. It need not exist yet.",
  ),
  config_table: describe(
    v.optional(v.union([v.literal(""), tableName()]), ""),
    "With `dynamodb`: the table. The configuration in it is that of `bridge_id`, and need not exist yet.",
  ),
  poll_interval: describe(
    v.optional(positiveDuration(), "30s"),
    "How often the keys, and a configuration in a table, are read again. Used as `config_watch.poll_interval` there.",
  ),
  admin_api_key_param: describe(
    secretName(),
    "Where the key of the admin server is: the name of an SSM parameter, or the ARN of a Secrets Manager secret. Empty: in BRIDGE_ADMIN_API_KEY.",
  ),
  monitor_api_key_param: describe(
    secretName(),
    "The same for the key of the monitor server. Empty: in BRIDGE_MONITOR_API_KEY. The admin key opens that server, too.",
  ),
  admin_addr: describe(v.optional(listenAddress(), ADMIN_ADDR), "Where the admin server listens. Needs an admin key."),
  monitor_addr: describe(v.optional(listenAddress(), MONITOR_ADDR), "Where the monitor server listens."),
  cors_origins: describe(
    v.optional(corsOrigins(), ""),
    "The origins whose web pages may call the servers, separated by commas. `*` is not allowed.",
  ),
  ...browserSessions,
  tls_cert_file: describe(path(), "The certificate chain of both servers, a PEM file. Needs tls_key_file."),
  tls_key_file: describe(path(), "The private key of the certificate, a PEM file. Needs tls_cert_file."),
  metrics: describe(
    v.optional(v.picklist(["emf", "none"]), "emf"),
    "Whether metrics are written to standard output, in the embedded metric format of CloudWatch.",
  ),
  metrics_namespace: describe(namespace(), "With `emf`: the namespace of the metrics."),
  metrics_interval: describe(v.optional(positiveDuration(), "60s"), "With `emf`: how often they are written."),
});

export type BootstrapDocument = v.InferOutput<typeof bootstrapSchema>;
