import { PATIENCE } from "@bridge/tooling/patience";
import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "@bridge/tooling/listening";
import { ask, eventually, probe, type Told } from "./ask.ts";
import type { AwayStore, Trouble } from "./away-store.ts";
import type { Binary } from "./binary.ts";
import { dynamodbOutbox } from "./dynamodb-outbox.ts";
import { ADMIN_KEY, Folder, HTTP } from "./folder.ts";
import { fileOutbox } from "./file-outbox.ts";
import { postgresOutbox } from "./postgres-outbox.ts";
import { Target } from "./target.ts";

/** Where an outbox is that a test takes away. */
export type StoreKind = "postgres" | "dynamodb" | "file";

const SAMPLE_MS = 50;

export const BUDGETS = { drainMs: 4_000, shutdownMs: 20_000 } as const;

/**
 * One process of the binary with two routes between web services: `kept` goes through an outbox whose service can go
 * away, `direct` does not.
 */
export class StoredBridge implements AsyncDisposable {
  readonly target: Target;
  readonly #folder: Folder;
  readonly #store: AwayStore;
  readonly #port: number;
  #bridge: Binary | undefined;
  readonly #taken = new Set<string>();
  #sent = 0;

  private constructor(folder: Folder, store: AwayStore, target: Target, port: number) {
    this.#folder = folder;
    this.#store = store;
    this.target = target;
    this.#port = port;
  }

  static async open(kind: StoreKind): Promise<StoredBridge> {
    const folder = new Folder();
    const open = { postgres: postgresOutbox, dynamodb: dynamodbOutbox, file: fileOutbox }[kind];
    const store = await open(folder);
    return new StoredBridge(folder, store, await Target.open("accepts"), await freePort());
  }

  get bridge(): Binary {
    if (this.#bridge === undefined) throw new Error("it was not started");
    return this.#bridge;
  }

  /** How many messages the bridge has taken. */
  get taken(): number {
    return this.#taken.size;
  }

  /** What the bridge has taken and its target has not seen. */
  get missing(): readonly string[] {
    return [...this.#taken].filter((body) => !this.target.accepted.includes(body));
  }

  begin(trouble: Trouble): Promise<void> {
    return this.#store.begin(trouble);
  }

  end(): Promise<void> {
    return this.#store.end();
  }

  run(): void {
    this.#folder.write("bridge.yaml", documentOf(this.#store.block, this.#port, this.target.url));
    this.#bridge = this.#store.run();
  }

  edit(from: string, to: string): void {
    const text = this.#folder.read("bridge.yaml");
    if (!text.includes(from)) throw new Error(`the document has no ${from}`);
    this.#folder.write("bridge.yaml", text.replace(from, to));
  }

  async admin(method: string, path: string, body?: unknown): Promise<Told> {
    const init = { method, ...(body !== undefined && { body: JSON.stringify(body) }) };
    const headers = { "X-API-Key": ADMIN_KEY, "Content-Type": "application/json" };
    return ask(`${await this.bridge.url("admin")}/api/v1/admin${path}`, { ...init, headers });
  }

  async commit(patch: unknown): Promise<Told> {
    const { body } = await this.admin("POST", "/config/transactions");
    const path = `/config/transactions/${(body as { readonly txn_id: string }).txn_id}`;
    await this.admin("PATCH", path, patch);
    return this.admin("POST", `${path}/commit`);
  }

  async level(): Promise<string> {
    const { body } = await this.deepHealth();
    return (body as { readonly level: string }).level;
  }

  /** Looks all along; ends with how often readiness said `full`. */
  watchLevel(): { end(): Promise<number> } {
    const over = new AbortController();
    const watch = async (): Promise<number> => {
      let full = 0;
      while (!over.signal.aborted) {
        if ((await this.level().catch(() => "unknown")) === "full") full++;
        await delay(SAMPLE_MS);
      }
      return full;
    };
    const watching = watch();
    return { end: () => (over.abort(), watching) };
  }

  async deepHealth(): Promise<Told> {
    return ask(`${await this.bridge.url("monitor")}/api/v1/monitor/deephealth`);
  }

  async until(level: "full" | "less"): Promise<void> {
    const monitor = await this.bridge.url("monitor");
    await eventually(
      () => probe(monitor, "ready"),
      ({ status }) => (status === 200) === (level === "full"),
    );
  }

  /** Sends one message; resolves to its body, and whether the bridge has taken it. */
  async send(route: "kept" | "direct", body = `${route}-${this.#sent++}`): Promise<{ body: string; taken: boolean }> {
    const answer = await fetch(`http://127.0.0.1:${this.#port}/${route}`, {
      method: "POST",
      body,
      headers: { "Idempotency-Key": body },
      signal: AbortSignal.timeout(PATIENCE.timeout),
    }).catch(() => undefined);
    await answer?.arrayBuffer();
    const taken = answer?.status === 202;
    if (taken) this.#taken.add(body);
    return { body, taken };
  }

  /** Sends one message again and again until it has been taken. */
  async insist(route: "kept" | "direct"): Promise<string> {
    const { body } = await this.send(route, undefined);
    const deadline = AbortSignal.timeout(60_000);
    while (!(await this.send(route, body)).taken) {
      if (deadline.aborted) throw new Error(`${route} takes nothing:\n${this.#bridge?.stderr.slice(-3_000)}`);
    }
    return body;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#bridge?.[Symbol.asyncDispose]();
    await this.target[Symbol.asyncDispose]();
    await this.#store[Symbol.asyncDispose]();
    this.#folder[Symbol.dispose]();
  }
}

function documentOf(outbox: string, port: number, target: string): string {
  const at = `addr: "127.0.0.1:${port}", response_timeout: 1s`;
  return `${HTTP}
bridge: {id: stored, drain_timeout: ${BUDGETS.drainMs}ms, quiesce_timeout: 1s, shutdown_timeout: ${BUDGETS.shutdownMs}ms}
config_watch: {debounce: 20ms}
stores:
  outbox: ${outbox}
  dlq: {type: memory, options: {acknowledge_volatile: true}}
receivers:
  - {id: kept, transport: http, options: {${at}, path: /kept}}
  - {id: direct, transport: http, options: {${at}, path: /direct}}
senders: [{id: out, transport: http, options: {url: "${target}"}}]
bindings: [{id: to-out, sender_id: out}, {id: by-hand, sender_id: out}]
routes:
  - id: kept
    receiver_id: kept
    delivery_mode: shared_outbox
    bindings: [to-out]
    # What is on loan when the store hangs comes back after twice this, and 30 s.
    policy: {max_in_flight: 10, send_timeout: 2s, backoff: {initial_interval: 100ms, max_interval: 500ms}}
  - id: direct
    receiver_id: direct
    bindings: [by-hand]
    policy: {max_in_flight: 20}
`;
}
