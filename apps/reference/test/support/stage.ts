import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ask, eventually, type Told } from "./ask.ts";
import type { Binary } from "./binary.ts";
import { ADMIN_KEY, Folder } from "./folder.ts";

interface Health {
  readonly ready_for_traffic: boolean;
  readonly config_watch: {
    readonly version: number;
    readonly last_reload_at?: string;
    readonly last_error?: string;
    readonly restart_required?: string;
  };
}

/** A bridge on a file of its own, and what an operator does to it. */
export class Stage implements AsyncDisposable {
  readonly folder: Folder;
  bridge: Binary;
  readonly #env: Readonly<Record<string, string>>;

  private constructor(folder: Folder, env: Readonly<Record<string, string>>) {
    this.folder = folder;
    this.#env = env;
    this.bridge = folder.run([], env);
  }

  static async run(
    document: string,
    env: Readonly<Record<string, string>> = {},
    folder: Folder = new Folder(),
  ): Promise<Stage> {
    folder.write("bridge.yaml", document);
    const stage = new Stage(folder, env);
    await stage.bridge.logged("bridge started");
    return stage;
  }

  /** What is in the file. */
  get text(): string {
    return readFileSync(join(this.folder.path, "bridge.yaml"), "utf8");
  }

  async restart(): Promise<void> {
    await this.bridge[Symbol.asyncDispose]();
    this.bridge = this.folder.run([], this.#env);
    await this.bridge.logged("bridge started");
  }

  async admin(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Told> {
    return ask(`${await this.bridge.url("admin")}/api/v1/admin${path}`, {
      method,
      headers: { "X-API-Key": ADMIN_KEY },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal !== undefined && { signal }),
    });
  }

  /** Opens a transaction and patches it; resolves to its path. */
  async opened(overlay?: object): Promise<string> {
    const { body } = await this.admin("POST", "/config/transactions", {});
    const path = `/config/transactions/${(body as { txn_id: string }).txn_id}`;
    const patched = overlay && (await this.admin("PATCH", path, overlay));
    if (patched !== undefined && patched.status !== 200) throw new Error(JSON.stringify(patched));
    return path;
  }

  async commit(overlay: object): Promise<Told> {
    return this.admin("POST", `${await this.opened(overlay)}/commit`);
  }

  async health(wanted: (health: Health) => boolean): Promise<Health> {
    const url = `${await this.bridge.url("monitor")}/api/v1/monitor/deephealth`;
    return (
      await eventually(
        () => ask(url),
        ({ body }) => wanted(body as Health),
      )
    ).body as Health;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.bridge[Symbol.asyncDispose]();
    this.folder[Symbol.dispose]();
  }
}
