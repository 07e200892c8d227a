import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import type { BridgeConfig } from "@bridge/config";

/**
 * What of the files that a configuration names would keep a start on this machine from them, in words that begin with the
 * field. Opens none and makes none.
 */
export async function unusableFiles({ http, audit }: BridgeConfig): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const [field, path] of [
    ["http.tls_cert_file", http?.tlsCertFile],
    ["http.tls_key_file", http?.tlsKeyFile],
  ] as const) {
    if (path === undefined || path === "") continue;
    const why = await whyUnreadable(path);
    if (why !== undefined)
      problems.push(`${field}: ${JSON.stringify(path)} ${why}: name a PEM file that this user can read`);
  }
  const path = audit.file?.path;
  const kind = path === undefined ? undefined : await stat(path).catch(() => undefined);
  if (kind !== undefined && !kind.isFile())
    problems.push(
      `audit.file.path: ${JSON.stringify(path)} is ${kind.isDirectory() ? "a folder" : "no regular file"}: name a file, which is made when it is missing`,
    );
  return problems;
}

async function whyUnreadable(path: string): Promise<string | undefined> {
  try {
    if (!(await stat(path)).isFile()) return "is no file";
    await access(path, constants.R_OK);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? "is not there" : "cannot be read";
  }
}
