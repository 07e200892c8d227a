import { PATIENCE } from "@bridge/tooling/patience";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { AwsSecrets } from "@bridge/tooling/aws-secrets";
import { BinaryProcess } from "@bridge/tooling/binary-process";

/** What was built before the tests. */
export const BINARY = fileURLToPath(new URL("../../dist/main.js", import.meta.url));

export const ADMIN_KEY = "an-admin-key-for-tests";
export const ADMIN_PARAM = "/bridge/test/admin-key";

type Document = Readonly<Record<string, unknown>>;

/** A place to run instances in: a folder, and the secrets of AWS with an admin key. */
export class Site implements AsyncDisposable {
  readonly path = mkdtempSync(join(tmpdir(), "bridge-aws-"));
  readonly secrets: AwsSecrets;
  /** Of every process that is run here. */
  readonly env: Record<string, string>;

  private constructor(secrets: AwsSecrets) {
    this.secrets = secrets;
    this.env = { ...secrets.env };
  }

  static async open(): Promise<Site> {
    const secrets = await AwsSecrets.start();
    secrets.parameters.set(ADMIN_PARAM, { value: ADMIN_KEY });
    return new Site(secrets);
  }

  /** Writes a file; returns its path. */
  write(name: string, text: string): string {
    const path = join(this.path, name);
    writeFileSync(path, text);
    return path;
  }

  read(name: string): string {
    return readFileSync(join(this.path, name), "utf8");
  }

  /** A bootstrap document of an instance on free ports, with the key of the site. */
  bootstrap(more: Document = {}): Document {
    return {
      bridge_id: "test",
      config_source: "file",
      config_file_path: "bridge.yaml",
      admin_api_key_param: ADMIN_PARAM,
      admin_addr: "127.0.0.1:0",
      monitor_addr: "127.0.0.1:0",
      ...more,
    };
  }

  run(bootstrap: Document, args: readonly string[] = [], env: Readonly<Record<string, string>> = {}): BinaryProcess {
    return this.runIn({ BRIDGE_BOOTSTRAP_JSON: JSON.stringify(bootstrap), ...env }, args);
  }

  runIn(env: Readonly<Record<string, string>>, args: readonly string[] = []): BinaryProcess {
    return new BinaryProcess(BINARY, args, { cwd: this.path, env: { ...this.env, ...env } });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    rmSync(this.path, { recursive: true, force: true });
    await this.secrets[Symbol.asyncDispose]();
  }
}

/** A configuration with one route that carries messages inside of the process. */
export const INSIDE = `
bridge: {id: test}
receivers: [{id: in, transport: memory, options: {channel: in}}]
senders: [{id: out, transport: memory, options: {channel: out}}]
bindings: [{id: to-out, sender_id: out}]
routes: [{id: only, receiver_id: in, bindings: [to-out], policy: {on_permanent_failure: drop, on_expired: drop}}]
`;

export interface Told {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Asks a server of an instance, as its log says where it listens. */
export async function ask(
  instance: BinaryProcess,
  server: "admin" | "monitor",
  path: string,
  { key = ADMIN_KEY, ...init }: RequestInit & { readonly key?: string } = {},
): Promise<Told> {
  const response = await fetch(`${await instance.url(server)}/api/v1/${server}/${path}`, {
    headers: { "X-API-Key": key },
    signal: AbortSignal.timeout(PATIENCE.timeout),
    ...init,
  });
  return { status: response.status, body: (await response.json()) as Told["body"] };
}
