import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Binary } from "./binary.ts";

export const ADMIN_KEY = "an-admin-key-for-tests";

/** Servers on free ports, with {@link ADMIN_KEY}. */
export const HTTP = `http: {admin_addr: "127.0.0.1:0", monitor_addr: "127.0.0.1:0", admin_api_key: ${ADMIN_KEY}}\n`;

/** A folder of its own for a test, to run the binary in. */
export class Folder implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), "bridge-reference-"));

  /** Writes a file; returns its path. */
  write(name: string, text: string): string {
    const path = join(this.path, name);
    writeFileSync(path, text);
    return path;
  }

  read(name: string): string {
    return readFileSync(join(this.path, name), "utf8");
  }

  run(args: readonly string[] = [], env?: Readonly<Record<string, string>>, node?: string): Binary {
    return new Binary(args, { cwd: this.path, env, node });
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
