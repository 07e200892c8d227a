import { readSmallFile, repeatedKey } from "@bridge/ports/internal";
import { formatProblem } from "@bridge/config";
import { checkStrictly } from "@bridge/config/documents";
import type { HostProcess } from "@bridge/host";
import type { Bootstrap } from "./bootstrap.ts";
import { crossProblems } from "./cross-problems.ts";
import { type BootstrapDocument, bootstrapSchema } from "./schema.ts";

export type LoadedBootstrap =
  | { readonly ok: true; readonly bootstrap: Bootstrap }
  /** Lines for people. */
  | { readonly ok: false; readonly problems: readonly string[] };

const JSON_VARIABLE = "BRIDGE_BOOTSTRAP_JSON";
const FILE_VARIABLE = "BRIDGE_BOOTSTRAP_FILE";
const MAX_BYTES = 64 * 1024;

/** Reads the bootstrap document from where the environment says, with every problem at once. Never rejects. */
export async function loadBootstrap(env: HostProcess["env"]): Promise<LoadedBootstrap> {
  const { [JSON_VARIABLE]: json = "", [FILE_VARIABLE]: file = "" } = env;
  if (json !== "" && file !== "")
    return refused("the environment", [`${JSON_VARIABLE} and ${FILE_VARIABLE} are both set: set one`]);
  if (json !== "") return parsed(JSON_VARIABLE, json);
  if (file === "")
    return refused("the environment", [`no bootstrap document: set ${JSON_VARIABLE} or ${FILE_VARIABLE}`]);
  try {
    return parsed(file, (await readSmallFile(file, MAX_BYTES)).toString("utf8"));
  } catch (error) {
    const code = error instanceof Error && "code" in error ? ` (${String(error.code)})` : "";
    const why = code === "" ? `: ${(error as Error).message}` : code;
    return refused(file, [`the bootstrap document cannot be read${why}`]);
  }
}

function parsed(source: string, text: string): LoadedBootstrap {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    // The parser's own words quote the text.
    return refused(source, ["the bootstrap document is not JSON"]);
  }
  const repeated = repeatedKey(text);
  if (repeated !== undefined)
    return refused(source, [`the key "${repeated.slice(0, 64)}" is there twice: remove one of them`]);
  const checked = checkStrictly(bootstrapSchema, document);
  const problems = [...(checked.ok ? [] : checked.problems), ...crossProblems(document)];
  if (!checked.ok || problems.length > 0) return refused(source, problems.map(formatProblem));
  return { ok: true, bootstrap: bootstrapOf(checked.output, document) };
}

function refused(source: string, problems: readonly string[]): LoadedBootstrap {
  return { ok: false, problems: problems.map((problem) => `${source}: ${problem}`) };
}

function bootstrapOf(document: BootstrapDocument, written: unknown): Bootstrap {
  return {
    bridgeId: document.bridge_id,
    instanceId: document.instance_id,
    configSource:
      document.config_source === "file"
        ? { kind: "file", path: document.config_file_path }
        : { kind: "dynamodb", tableName: document.config_table },
    pollIntervalMs: document.poll_interval,
    adminKeyParam: document.admin_api_key_param || undefined,
    monitorKeyParam: document.monitor_api_key_param || undefined,
    listeners: {
      adminAddr: document.admin_addr,
      monitorAddr: document.monitor_addr,
      corsOrigins: document.cors_origins,
      sessions: {
        idleMs: document.session_idle,
        maxMs: document.session_max,
        trustForwardedProto: document.trust_forwarded_proto,
      },
      tlsCertFile: document.tls_cert_file,
      tlsKeyFile: document.tls_key_file,
    },
    wantsAdmin: Object.hasOwn(written as object, "admin_addr"),
    metrics:
      document.metrics === "emf"
        ? { namespace: document.metrics_namespace, intervalMs: document.metrics_interval }
        : undefined,
  };
}
