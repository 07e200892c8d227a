import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { AwsSecrets } from "@bridge/tooling/aws-secrets";
import { BinaryProcess } from "@bridge/tooling/binary-process";
import { EXAMPLE } from "./synthesized.ts";

/** What was built before the tests. */
const BINARY = fileURLToPath(new URL("../../../../apps/aws-profile/dist/main.js", import.meta.url));

export const KEY = "an-admin-key-for-tests";

/** A folder, and the parameters that the example's stack is told of. */
export class Place implements AsyncDisposable {
  readonly path = mkdtempSync(join(tmpdir(), "bridge-deploy-"));
  readonly #secrets: AwsSecrets;

  private constructor(secrets: AwsSecrets) {
    this.#secrets = secrets;
  }

  static async open(): Promise<Place> {
    const secrets = await AwsSecrets.start();
    const { admin_api_key_param = "", monitor_api_key_param = "", readable_secrets = [] } = EXAMPLE;
    for (const name of [admin_api_key_param, monitor_api_key_param, ...readable_secrets]) {
      secrets.parameters.set(name, { value: KEY });
    }
    return new Place(secrets);
  }

  run(bootstrap: string, args: readonly string[] = [], env: Readonly<Record<string, string>> = {}): BinaryProcess {
    const all = { ...this.#secrets.env, ...env, BRIDGE_BOOTSTRAP_JSON: bootstrap };
    return new BinaryProcess(BINARY, args, { cwd: this.path, env: all });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    rmSync(this.path, { recursive: true, force: true });
    await this.#secrets[Symbol.asyncDispose]();
  }
}
