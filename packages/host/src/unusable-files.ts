import type { BridgeConfig } from "@bridge/config";
import { whyUnusable } from "./unusable-file.ts";

/**
 * What of the files of servers and audit, as they are overruled, would keep a start on this machine from them, in words that
 * begin with the field.
 */
export function unusableFiles({ http, audit }: BridgeConfig): readonly string[] {
  const files = [
    ["http.tls_cert_file", http?.tlsCertFile, "read"],
    ["http.tls_key_file", http?.tlsKeyFile, "read"],
    ["audit.file.path", audit.file?.path, "kept"],
  ] as const;
  return files.flatMap(([field, path, use]) => {
    const why = path === undefined || path === "" ? undefined : whyUnusable(path, use);
    return why === undefined ? [] : [`${field}: ${JSON.stringify(path)} ${why}`];
  });
}
