import type { Problem } from "@bridge/config";
import { hostAndPort, meet } from "@bridge/config/documents";
import { ADMIN_ADDR, MONITOR_ADDR } from "./schema.ts";

interface Addresses {
  readonly admin_addr?: unknown;
  readonly monitor_addr?: unknown;
}

/** What is wrong between the keys of a document, whatever is wrong with each of them. */
export function crossProblems(document: unknown): readonly Problem[] {
  if (typeof document !== "object" || document === null || Array.isArray(document)) return [];
  const given = (key: string): boolean =>
    Object.hasOwn(document, key) && (document as Readonly<Record<string, unknown>>)[key] !== "";
  const { config_source: source } = document as { readonly config_source?: unknown };
  const problems: Problem[] = [];
  const needs = (key: string, because: string): void => {
    if (!given(key)) problems.push({ path: [key], message: `is required because ${because}` });
  };
  const forbids = (key: string, because: string): void => {
    if (given(key)) problems.push({ path: [key], message: `means nothing, because ${because}: remove it` });
  };

  if (source === "file") {
    needs("config_file_path", 'config_source is "file"');
    forbids("config_table", 'config_source is "file"');
  }
  if (source === "dynamodb") {
    needs("config_table", 'config_source is "dynamodb"');
    forbids("config_file_path", 'config_source is "dynamodb"');
  }
  if (given("tls_cert_file")) needs("tls_key_file", "tls_cert_file is given");
  if (given("tls_key_file")) needs("tls_cert_file", "tls_key_file is given");
  const { admin_addr: admin = ADMIN_ADDR, monitor_addr: monitor = MONITOR_ADDR } = document as Addresses;
  const isAdminMeant = given("admin_addr") || given("admin_api_key_param");
  if (isAdminMeant && typeof admin === "string" && typeof monitor === "string") {
    if (meet(hostAndPort(admin), hostAndPort(monitor)))
      problems.push({
        path: ["monitor_addr"],
        message: "admin_addr listens on this address already: give each an address of its own",
      });
  }
  if ((document as { readonly metrics?: unknown }).metrics === "none") {
    for (const key of ["metrics_namespace", "metrics_interval"]) forbids(key, 'metrics is "none"');
  }
  return problems;
}
