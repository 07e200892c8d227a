import type { Problem } from "@bridge/config";

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
  if ((document as { readonly metrics?: unknown }).metrics === "none") {
    for (const key of ["metrics_namespace", "metrics_interval"]) forbids(key, 'metrics is "none"');
  }
  return problems;
}
