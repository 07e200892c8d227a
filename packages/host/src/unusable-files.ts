import type { BridgeConfig, FileFault, FileNamed } from "@bridge/config";
import { whyUnusable } from "./unusable-file.ts";

/**
 * What of the files of servers and audit, as they are overruled, would keep a start on this machine from them, in words
 * that begin with the field.
 */
export function unusableFiles({ http, audit }: BridgeConfig, now: number): readonly FileFault[] {
  const [cert, key, log] = [http?.tlsCertFile, http?.tlsKeyFile, audit.file?.path];
  const files: readonly (readonly [
    field: string,
    file: Omit<FileNamed, "place" | "path">,
    path: string | undefined,
  ])[] = [
    ["http.tls_cert_file", { use: "read", pem: { role: "certificate" } }, cert],
    ["http.tls_key_file", { use: "read", pem: { role: "key", certificate: cert } }, key],
    ["audit.file.path", { use: "kept" }, log],
  ];
  return files.flatMap(([field, file, path]) => {
    const fault = path === undefined || path === "" ? undefined : whyUnusable({ ...file, path }, now, false);
    return fault === undefined ? [] : [{ kind: fault.kind, words: `${field}: ${JSON.stringify(path)} ${fault.words}` }];
  });
}
