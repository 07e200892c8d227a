import { randomUUID } from "node:crypto";
import { tcpProxy } from "@bridge/conformance";
import { PostgresCluster } from "@bridge/tooling/postgres-cluster";
import { connect } from "amqplib";
import { ask } from "./ask.ts";
import { ADMIN_KEY, Folder, HTTP } from "./folder.ts";
import { Mosquitto } from "./mosquitto.ts";
import { Target } from "./target.ts";
import { until } from "./until.ts";

export const SEND_TIMEOUT_MS = 2_000;
const POLICY = `policy: {send_timeout: ${SEND_TIMEOUT_MS}ms, on_permanent_failure: drop, on_expired: drop, backoff: {initial_interval: 200ms, max_interval: 500ms}, max_replay_attempts: 1000}`;

/** The RabbitMQ that stands ready; what is made there has a name of its own. */
const RABBITMQ = "amqp://127.0.0.1:5672";
const MEMORY = `{id: in, transport: memory, options: {channel: in}}`;

/** What can stand in the way of a route, and what is to be done to bring that about and to end it. */
interface Trouble {
  /** The parts of the document besides the receiver; of the one route what follows its receiver. */
  readonly document: string;
  readonly route: string;
  /** Default: one that nothing comes from but what is injected. */
  readonly receiver?: string;
  readonly begin: () => void | Promise<void>;
  readonly end: () => void | Promise<void>;
}

type Cause = (parts: AsyncDisposableStack, folder: Folder) => Promise<Trouble>;

const toTopic = (port: number): string => `
sessions: [{id: broker, transport: mqtt, options: {broker_urls: ["mqtt://127.0.0.1:${port}"]}}]
senders: [{id: out, transport: mqtt}]
bindings: [{id: to-out, sender_id: out, session_id: broker, address: out}]`;
const toWeb = (url: string): string => `
senders: [{id: out, transport: http, options: {url: "${url}"}}]
bindings: [{id: to-out, sender_id: out, address: /}]`;

async function target(parts: AsyncDisposableStack, manner: "hangs" | "refuses"): Promise<Trouble> {
  const web = parts.use(await Target.open("accepts"));
  return {
    document: toWeb(web.url),
    route: "",
    begin: () => void (web.manner = manner),
    end: () => void (web.manner = "accepts"),
  };
}

const CAUSES = {
  "a frozen broker": async (parts, folder) => {
    const broker = parts.use(await Mosquitto.start(folder));
    return { document: toTopic(broker.port), route: "", begin: () => broker.freeze(), end: () => broker.thaw() };
  },
  "a half-open connection": async (parts, folder) => {
    const broker = parts.use(await Mosquitto.start(folder));
    const proxy = parts.use(await tcpProxy({ target: { port: broker.port } }));
    return { document: toTopic(proxy.port), route: "", begin: () => proxy.freeze(), end: () => proxy.restore() };
  },
  "a silent target": (parts) => target(parts, "hangs"),
  "a target that refuses everything": (parts) => target(parts, "refuses"),
  "a cancelled consumer": async (parts) => {
    const queue = `bridge-progress-${randomUUID()}`;
    const connection = await connect(RABBITMQ);
    parts.defer(() => connection.close());
    const channel = await connection.createChannel();
    const made = async (): Promise<void> => void (await channel.assertQueue(queue, { durable: true }));
    const deleted = async (): Promise<void> => void (await channel.deleteQueue(queue));
    await made();
    parts.defer(deleted);
    const session = `{id: rabbit, transport: amqp, options: {url: "${RABBITMQ}", username: guest, password: guest}}`;
    return {
      document: `
sessions: [${session}]
senders: [{id: out, transport: memory, options: {discard: true}}]
bindings: [{id: to-out, sender_id: out, address: out}]`,
      route: "",
      receiver: `{id: in, session_id: rabbit, transport: amqp, options: {queue: ${queue}}}`,
      begin: deleted,
      end: made,
    };
  },
  "a hung store": async (parts, folder) => {
    const [postgres, web] = [parts.use(await PostgresCluster.start()), parts.use(await Target.open("accepts"))];
    const store = `{type: postgres, options: {url: "${postgres.url}"}}`;
    const stores = `stores: {outbox: ${store}}`;
    folder.write("tables.yaml", `bridge: {id: progress}\n${stores}\n`);
    await using tables = folder.run(["-create-tables", "-config", "tables.yaml"]);
    await tables.ended;
    return {
      document: `${toWeb(web.url)}\n${stores}`,
      route: "delivery_mode: shared_outbox, ",
      begin: () => postgres.freeze(),
      end: () => postgres.thaw(),
    };
  },
} as const satisfies Record<string, Cause>;

export type CauseName = keyof typeof CAUSES;
export const CAUSE_NAMES = Object.keys(CAUSES) as readonly CauseName[];

interface Told {
  readonly progress: string;
  readonly reason?: string;
}

/** What a built bridge said of its route while it was in trouble. */
export interface Course {
  readonly before: string;
  /** The first word that was neither `moving` nor `idle`, with why, and how long after the trouble had begun. */
  readonly named: Told;
  readonly afterMs: number;
  /** When the trouble was over. */
  readonly finally: string;
}

/** Sends messages through a built bridge, all the while, and brings the trouble about. */
export async function courseOf(name: CauseName): Promise<Course> {
  await using parts = new AsyncDisposableStack();
  using folder = new Folder();
  const cause: Cause = CAUSES[name];
  const trouble = await cause(parts, folder);
  folder.write(
    "bridge.yaml",
    `${HTTP}bridge: {id: progress}
receivers: [${trouble.receiver ?? MEMORY}]
${trouble.document}
routes: [{id: only, receiver_id: in, bindings: [to-out], ${trouble.route}${POLICY}}]
`,
  );
  const bridge = parts.use(folder.run());
  const [monitor, admin] = [await bridge.url("monitor"), await bridge.url("admin")];
  const progress = async (): Promise<Told> => {
    const { body } = await ask(`${monitor}/api/v1/monitor/deephealth`);
    return (body as { routes: readonly Told[] }).routes[0] as Told;
  };
  // Whoever injects waits for the end of the message, so that these are its traffic and never more than that.
  const over = new AbortController();
  const traffic = Array.from({ length: 3 }, () => inject(admin, over.signal));
  try {
    await until(
      "moving",
      async () => (await progress()).progress === "moving",
      () => 0,
    );
    const before = (await progress()).progress;
    const from = performance.now();
    await trouble.begin();
    let named = await progress();
    await until(
      "named",
      async () => !isWell((named = await progress())),
      () => 0,
    );
    const afterMs = performance.now() - from;
    await trouble.end();
    let last = named;
    await until(
      "well again",
      async () => isWell((last = await progress())),
      () => 0,
    );
    return { before, named, afterMs, finally: last.progress };
  } finally {
    await trouble.end();
    over.abort();
    await Promise.all(traffic);
  }
}

function isWell({ progress }: Told): boolean {
  return progress === "moving" || progress === "idle";
}

/** One message after the other, until `over`. */
async function inject(admin: string, over: AbortSignal): Promise<void> {
  const init = {
    method: "POST",
    headers: { "X-API-Key": ADMIN_KEY },
    body: JSON.stringify({ subject: "s", payload: "" }),
  };
  while (!over.aborted) {
    await ask(`${admin}/api/v1/admin/routes/only/inject`, { ...init, signal: over }).catch(() => {});
  }
}
