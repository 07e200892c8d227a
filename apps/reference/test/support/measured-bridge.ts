import { request } from "node:https";
import { certificates } from "@bridge/tooling/certificates";
import { OtlpCollector } from "@bridge/tooling/otlp-collector";
import { type ParsedFamily, parseExposition } from "@bridge/tooling/parse-exposition";
import type { Binary } from "./binary.ts";
import { Folder } from "./folder.ts";
import { until } from "./until.ts";
import { WebService } from "./web-service.ts";

const ADMIN_KEY = "an-admin-key-for-tests";
const MONITOR_KEY = "a-monitor-key-for-tests";

/** A built bridge with one of everything that there are metrics of, and with traffic. */
export class MeasuredBridge implements AsyncDisposable {
  readonly #parts: AsyncDisposableStack;
  readonly #bridge: Binary;
  readonly #ca: string;

  private constructor(parts: AsyncDisposableStack, bridge: Binary, ca: string) {
    this.#parts = parts;
    this.#bridge = bridge;
    this.#ca = ca;
  }

  static async start(): Promise<MeasuredBridge> {
    await using parts = new AsyncDisposableStack();
    const folder = parts.use(new Folder());
    const made = parts.use(certificates("server"));
    const refusing = parts.use(await WebService.open());
    const collector = parts.use(await OtlpCollector.open());
    const [certificate, key] = [made.path("server.crt"), made.path("server.key")];
    folder.write("bridge.yaml", documentOf({ refusing: refusing.url, collector: collector.url, certificate, key }));
    const bridge = parts.use(folder.run());
    const measured = new MeasuredBridge(parts.move(), bridge, made.authority.cert);
    try {
      // Before that an inject is refused.
      await bridge.logged("bridge started");
      await measured.#traffic(refusing);
      // A reload and a commit count too.
      bridge.kill("SIGHUP");
      await bridge.logged("configuration reloaded");
      return measured;
    } catch (error) {
      await measured[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** The metrics as a scraper gets them: over TLS, with the monitor key as a bearer token. */
  async scrape(): Promise<{ readonly text: string; readonly type: string | undefined }> {
    const monitor = await this.#bridge.url("monitor");
    const authorization = `Bearer ${MONITOR_KEY}`;
    return this.#ask("GET", `${monitor}/api/v1/monitor/metrics`, { authorization });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts[Symbol.asyncDispose]();
  }

  /** One message that is delivered at once, one over the outbox, and one that its target refuses. */
  async #traffic(refusing: WebService): Promise<void> {
    const admin = `${await this.#bridge.url("admin")}/api/v1/admin`;
    const inject = (route: string) =>
      this.#ask("POST", `${admin}/routes/${route}/inject`, { "x-api-key": ADMIN_KEY }, { subject: "s", payload: "" });
    await Promise.all([inject("direct"), inject("boxed")]);
    const refused = inject("refused");
    await refusing.called;
    refusing.answer(400);
    await refused;
    const told = ["bridge_hold_duration_seconds", "bridge_outbox_delivery_age_seconds"];
    const measured = async (): Promise<boolean> => {
      const families = parseExposition((await this.scrape()).text);
      return told.every((name) => observed(families.get(name)) > 0);
    };
    await until("measured", measured, () => 0, 30_000);
  }

  #ask(method: string, url: string, headers: Readonly<Record<string, string>>, body?: object) {
    return new Promise<{ text: string; type: string | undefined }>((resolve, reject) => {
      const options = { method, ca: this.#ca, headers, agent: false, family: 4, timeout: 30_000 } as const;
      request(url.replace("127.0.0.1", "localhost"), options, (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (part: string) => (text += part));
        response.on("end", () => resolve({ text, type: response.headers["content-type"] }));
      })
        .on("error", reject)
        .end(body === undefined ? undefined : JSON.stringify(body));
    });
  }
}

/** How many observations a histogram has, over all of its labels. */
export function observed(family: ParsedFamily | undefined): number {
  const counts = (family?.samples ?? []).filter(({ name }) => name.endsWith("_count"));
  return counts.reduce((sum, { value }) => sum + value, 0);
}

interface Around {
  readonly refusing: string;
  readonly collector: string;
  readonly certificate: string;
  readonly key: string;
}

/** `direct` ends in the channel that `boxed` reads, so that what is injected there is also received and held. */
function documentOf({ refusing, collector, certificate, key }: Around): string {
  return `
bridge: {id: measured, instance_id: measured-a}
http:
  admin_addr: "127.0.0.1:0"
  monitor_addr: "127.0.0.1:0"
  admin_api_key: ${ADMIN_KEY}
  monitor_api_key: ${MONITOR_KEY}
  tls_cert_file: ${JSON.stringify(certificate)}
  tls_key_file: ${JSON.stringify(key)}
telemetry: {otlp: {endpoint: "${collector}"}}
audit: {log: true, file: {path: audit.jsonl}}
stores:
  dlq: {type: memory, options: {acknowledge_volatile: true}}
  outbox: {type: memory, options: {acknowledge_volatile: true}}
  lease: {type: memory, options: {acknowledge_volatile: true}}
sessions: [{id: broker, transport: memory, session_mode: exclusive}]
receivers:
  - {id: unused, transport: memory, options: {channel: unused}}
  - {id: between, session_id: broker, options: {channel: between}}
  - {id: never, transport: memory, options: {channel: never}}
senders:
  - {id: memory, transport: memory, options: {discard: true}}
  - {id: forward, transport: memory, options: {channel: between}}
  - {id: web, transport: http, options: {url: "${refusing}"}}
bindings:
  - {id: to-between, sender_id: forward}
  - {id: to-nothing, sender_id: memory, address: nothing}
  - {id: to-web, sender_id: web, address: /}
routes:
  - {id: direct, receiver_id: unused, bindings: [to-between]}
  - {id: boxed, receiver_id: between, delivery_mode: shared_outbox, bindings: [to-nothing]}
  - {id: refused, receiver_id: never, bindings: [to-web]}
`;
}
