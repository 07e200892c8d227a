import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { authority } from "@bridge/tooling/certificates";
import { PATIENCE } from "@bridge/tooling/patience";
import { ADMIN_KEY } from "./support/folder.ts";
import { Stage } from "./support/stage.ts";

type Options = Readonly<Record<string, unknown>>;

interface Wanted {
  readonly receiver?: Options;
  readonly id?: string;
  readonly http?: Options;
  readonly route?: Options;
}

const NO_FAULTS = { faults: [] };

let version = 0;
let stage: Stage;
let caller: Caller;

beforeAll(async () => {
  stage = await Stage.run(documentOf({}));
  const issuer = authority();
  const { cert, key } = issuer.issue("localhost", ["localhost"]);
  stage.folder.write("tls.crt", cert);
  stage.folder.write("tls.key", key);
  const ports = await Promise.all(["monitor", "admin"].map(async (name) => Number(new URL(await url(name)).port)));
  caller = new Caller([...ports, await receiverPort()]);
});
afterAll(async () => {
  await caller?.[Symbol.asyncDispose]();
  await stage?.[Symbol.asyncDispose]();
});

/** One change each, of what the options are without it. */
const RECEIVER = {
  path: "/elsewhere",
  api_key: "a-key-of-the-receiver",
  allow_anonymous: true,
  max_body: 4_096,
  response_timeout: "3s",
} as const;
/** Changes that ask for another socket, or for another protocol on it. */
const ELSEWHERE = ["addr", "tls"];
const SERVERS = {
  admin_addr: "127.0.0.1:1",
  monitor_addr: "127.0.0.1:2",
  admin_api_key: "another-key-of-length",
  monitor_api_key: "a-key-of-the-monitor",
  cors_origins: "https://console.example",
  tls_cert_file: { tls_cert_file: "tls.crt", tls_key_file: "tls.key" },
  tls_key_file: { tls_cert_file: "tls.crt", tls_key_file: "tls.key" },
  redact: { redact: { fields: ["card_number"] } },
  session_idle: { session_idle: "30m" },
  session_max: { session_max: "8h" },
  trust_forwarded_proto: { trust_forwarded_proto: true },
} as const;

const NAMED_KEYS = { api_keys: [{ id: "grafana", role: "viewer", key: "a-key-of-a-dashboard" }] };

describe("a client that connects all the time is never refused", () => {
  test("there is a row for each option", () => {
    const { properties, definitions } = JSON.parse(
      readFileSync(new URL("../schema/bridge.schema.json", import.meta.url), "utf8"),
    ) as {
      readonly properties: { readonly http: { readonly properties: Options } };
      readonly definitions: { readonly http_receiver: { readonly properties: Options } };
    };
    expect([...Object.keys(RECEIVER), ...ELSEWHERE].toSorted()).toEqual(
      Object.keys(definitions.http_receiver.properties).toSorted(),
    );
    expect(Object.keys({ ...SERVERS, ...NAMED_KEYS }).toSorted()).toEqual(
      Object.keys(properties.http.properties).toSorted(),
    );
  });

  test.each(Object.entries(RECEIVER))("by a change of the receiver's %s and by its return", async (key, value) => {
    expect(await through({ receiver: { [key]: value } }, {})).toMatchObject(NO_FAULTS);
  });

  test("by another name of the receiver, or another route", async () => {
    expect(
      await through(
        { id: "renamed" },
        { route: { policy: { on_permanent_failure: "drop", on_expired: "drop", max_in_flight: 3 } } },
        {},
      ),
    ).toMatchObject(NO_FAULTS);
  });

  test("by two changes of which the second comes while the first is carried out", async () => {
    expect(await through({ receiver: { max_body: 1 } }, { receiver: { max_body: 2 } }, {})).toMatchObject(NO_FAULTS);
    stage.folder.write("bridge.yaml", documentOf({ receiver: { max_body: 3 } }));
    stage.bridge.kill("SIGHUP");
    expect(await through({})).toMatchObject(NO_FAULTS);
  });

  test.each(Object.entries(SERVERS))("by a change of http.%s, which waits for a restart", async (key, value) => {
    const changed = await through({ http: typeof value === "object" ? value : { [key]: value } });
    expect(changed).toMatchObject({ ...NO_FAULTS, told: [{ restart_required: "http" }] });
    const again = await through({});
    expect(again).toMatchObject(NO_FAULTS);
    expect(again.told[0]).not.toHaveProperty("restart_required");
  });

  test("by a change of http.api_keys, which waits for nothing", async () => {
    const changed = await through({ http: NAMED_KEYS }, {});
    expect(changed).toMatchObject(NO_FAULTS);
    for (const told of changed.told) expect(told).not.toHaveProperty("restart_required");
  });

  test("and what was called by a path that is gone for good gets 404", async () => {
    await through({ receiver: { path: "/new" } });
    const base = `http://127.0.0.1:${await receiverPort()}`;
    const status = async (path: string) => (await fetch(`${base}${path}`, { method: "POST", body: "x" })).status;
    expect([await status("/ingest/in"), await status("/new")]).toEqual([404, 202]);
    await through({});
    expect([await status("/ingest/in"), await status("/new")]).toEqual([202, 404]);
  });

  test("but by a receiver that is taken away", async () => {
    await apply(
      documentOf({})
        .replace(/"routes":.*$/, '"routes":[]}')
        .replace(/"receivers":.*?\],/, '"receivers":[],'),
    );
    await caller.until(() => caller.faults.some((fault) => fault.endsWith("ECONNREFUSED")));
    // Whoever had just connected is reset instead: the system does that with the queue of a socket that is closed.
    expect(new Set(caller.faults.map((fault) => fault.split(":")[0])).size).toBe(1);
    for (const fault of caller.faults) expect(fault).toMatch(/ECONN(?:REFUSED|RESET)$/);
  });
});

async function url(name: string): Promise<string> {
  return stage.bridge.url(name as "admin" | "monitor");
}

async function receiverPort(): Promise<number> {
  return Number((await stage.bridge.logged("HTTP receiver listens"))["port"]);
}

interface Outcome {
  /** What deep health says of the configuration after each change. */
  readonly told: readonly Awaited<ReturnType<typeof apply>>[];
  readonly faults: readonly string[];
}

/** The document is changed to each of these in turn. */
async function through(...wanted: readonly Wanted[]): Promise<Outcome> {
  const told = [];
  for (const each of wanted) told.push(await apply(documentOf(each)));
  const before = caller.calls;
  await caller.until(() => caller.calls > before + 3);
  return { told, faults: caller.faults.splice(0) };
}

async function apply(document: string) {
  stage.folder.write("bridge.yaml", document);
  const { config_watch } = await stage.health(({ config_watch: { version: now } }) => now === version);
  expect(config_watch).not.toHaveProperty("last_error");
  return config_watch;
}

function documentOf({ receiver = {}, id = "in", http = {}, route = {} }: Wanted): string {
  return JSON.stringify({
    config_version: ++version,
    http: { admin_addr: "127.0.0.1:0", monitor_addr: "127.0.0.1:0", admin_api_key: ADMIN_KEY, ...http },
    bridge: { id: "test" },
    receivers: [{ id, transport: "http", options: { addr: "127.0.0.1:0", path: "/ingest/in", ...receiver } }],
    senders: [{ id: "out", transport: "memory", options: { channel: "out" } }],
    bindings: [{ id: "to-out", sender_id: "out" }],
    routes: [
      {
        id: "only",
        receiver_id: id,
        bindings: ["to-out"],
        policy: { on_permanent_failure: "drop", on_expired: "drop" },
        ...route,
      },
    ],
  });
}

/** Connects to each of some ports, one connection after another, and keeps what went wrong. */
class Caller implements AsyncDisposable {
  readonly faults: string[] = [];
  calls = 0;
  readonly #over = new AbortController();
  readonly #calling: Promise<unknown>;

  constructor(ports: readonly number[]) {
    this.#calling = Promise.all(ports.map((port) => this.#call(port)));
  }

  async until(holds: () => boolean): Promise<void> {
    for (const end = performance.now() + PATIENCE.timeout; !holds(); await delay(2)) {
      if (performance.now() > end) throw new Error("it did not happen in time");
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    await this.#calling;
  }

  async #call(port: number): Promise<void> {
    while (!this.#over.signal.aborted) {
      const fault = await new Promise<string | undefined>((resolve) => {
        const socket = connect(port, "127.0.0.1", () => {
          socket.destroy();
          resolve(undefined);
        });
        socket.on("error", (error) => resolve((error as NodeJS.ErrnoException).code));
      });
      if (fault !== undefined) this.faults.push(`${port}: ${fault}`);
      this.calls++;
      await delay(1);
    }
  }
}
