import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Certificates extends Disposable {
  readonly dir: string;
  /** Contents of PEM files: `ca.crt`, and `NAME.crt` and `NAME.key` for each name. */
  readonly files: Readonly<Record<string, Buffer>>;
}

/** An authority of one's own, and certificates that it has signed for `localhost`, by name. */
export function certificates(...names: readonly string[]): Certificates {
  const dir = mkdtempSync(join(tmpdir(), "bridge-certificates-"));
  const openssl = (...args: readonly string[]): void => {
    execFileSync("openssl", [...args], { cwd: dir, stdio: "ignore" });
  };
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  openssl("req", "-x509", ...key, "-keyout", "ca.key", "-out", "ca.crt", "-days", "2", "-subj", "/CN=test authority");
  for (const name of names) {
    openssl(
      "req",
      ...key,
      "-keyout",
      `${name}.key`,
      "-out",
      `${name}.csr`,
      "-subj",
      `/CN=${name}`,
      "-addext",
      "subjectAltName=DNS:localhost,IP:127.0.0.1",
    );
    openssl(
      "x509",
      "-req",
      "-in",
      `${name}.csr`,
      "-CA",
      "ca.crt",
      "-CAkey",
      "ca.key",
      "-CAcreateserial",
      "-out",
      `${name}.crt`,
      "-days",
      "2",
      "-copy_extensions",
      "copy",
    );
  }
  const wanted = ["ca.crt", ...names.flatMap((name) => [`${name}.crt`, `${name}.key`])];
  return {
    dir,
    files: Object.fromEntries(wanted.map((file) => [file, readFileSync(join(dir, file))])),
    [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true }),
  };
}
