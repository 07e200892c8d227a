import { describe, expect, test } from "vitest";
import { ask, eventually, probe } from "./support/ask.ts";
import type { Binary } from "./support/binary.ts";
import { ADMIN_KEY, Folder, HTTP } from "./support/folder.ts";
import { Mosquitto, noMosquitto } from "./support/mosquitto.ts";
import { publish } from "./support/publish.ts";
import { Target } from "./support/target.ts";
import { until } from "./support/until.ts";

const MESSAGES = 400;

/** A change of the file, made while messages flow through route `r`, and what becomes of it. */
interface Row {
  readonly change: string;
  readonly edit: (document: string, taken: string) => string;
  /** What deep health says of it then. */
  readonly error?: RegExp;
}

const second = (receiver: string, url: string): string => `
receivers: [{id: in, session_id: broker, topics: [{topic: in, qos: 1}]}, {id: more, transport: http, options: {addr: "${receiver}"}}]
senders: [{id: out, transport: http, options: {url: "TARGET"}}, {id: away, transport: http, options: {url: "${url}"}}]
bindings: [{id: to-out, sender_id: out}, {id: to-away, sender_id: away}]
`;

const ROWS: readonly Row[] = [
  { change: "a valid one", edit: (text) => text.replace("max_in_flight: 10", "max_in_flight: 12") },
  {
    change: "one that is no YAML",
    edit: (text) => `${text}  - [`,
    error: /bridge\.yaml:\d+:\d+/,
  },
  {
    change: "one that names what is not there",
    edit: (text) => text.replace("bindings: [to-out]", "bindings: [to-nowhere]"),
    error: /to-nowhere/,
  },
  {
    change: "a target that cannot be reached",
    edit: (text) => withSecond(text, "127.0.0.1:0", "http://127.0.0.1:1"),
  },
  {
    change: "a port that is taken",
    edit: (text, taken) => withSecond(text, taken, "http://127.0.0.1:1"),
    error: /cannot listen/,
  },
];

describe.skipIf(noMosquitto).concurrent.each(["direct_hold", "shared_outbox"])("under traffic in %s", (mode) => {
  test.each(ROWS)("$change: nothing is lost, and what runs is what deep health says", async ({ edit, error }) => {
    using folder = new Folder();
    await using broker = await Mosquitto.start(folder);
    await using target = await Target.open("accepts");
    folder.write("bridge.yaml", documentOf(mode, broker.port, target.url));
    await using bridge = folder.run();
    const monitor = await bridge.url("monitor");
    await eventually(
      () => probe(monitor, "ready"),
      ({ status }) => status === 200,
    );
    const published = publish(broker.port, ["-t", "in"], numbers());
    published.catch(() => {});
    await until(
      "some arrived",
      () => target.accepted.length > 0,
      () => target.accepted.length,
    );
    folder.write("bridge.yaml", edit(folder.read("bridge.yaml"), new URL(monitor).host));
    const { body } = await eventually(
      () => deepHealth(bridge),
      (told) => watchOf(told.body).last_error !== undefined || watchOf(told.body).last_reload_at !== undefined,
    );
    expect(watchOf(body).last_error ?? "").toMatch(error ?? /^$/);
    await published;
    await until(
      "all arrived",
      () => new Set(target.accepted).size === MESSAGES,
      () => target.accepted.length,
    );
    expect(await metric(monitor, "bridge_unaccounted_messages")).toBe(0);
    expect(await ask(`${await bridge.url("admin")}/api/v1/admin/dlq`)).toMatchObject({ body: { count: 0 } });
    bridge.kill("SIGTERM");
    expect(await bridge.ended).toBe(0);
  });
});

function withSecond(document: string, receiver: string, url: string): string {
  const [, target = ""] = /id: out, transport: http, options: {url: "([^"]+)"/.exec(document) ?? [];
  const kept = document.split("\n").filter((line) => !/^(receivers|senders|bindings):/.test(line));
  const route = "  - {id: more, receiver_id: more, bindings: [to-away]}\n";
  return kept.join("\n") + route + second(receiver, url).replace("TARGET", target);
}

function documentOf(mode: string, port: number, target: string): string {
  return `${HTTP}
bridge: {id: matrix}
config_watch: {debounce: 20ms}
stores:
  dlq: {type: file, options: {path: dlq.db}}
  outbox: {type: file, options: {path: outbox.db}}
sessions: [{id: broker, transport: mqtt, session_mode: persistent, options: {broker_urls: ["mqtt://127.0.0.1:${port}"]}}]
receivers: [{id: in, session_id: broker, topics: [{topic: in, qos: 1}]}]
senders: [{id: out, transport: http, options: {url: "${target}"}}]
bindings: [{id: to-out, sender_id: out}]
routes:
  - id: r
    receiver_id: in
    delivery_mode: ${mode}
    bindings: [to-out]
    policy: {max_in_flight: 10}
`;
}

function* numbers(): Generator<string> {
  for (let number = 0; number < MESSAGES; number++) yield String(number);
}

async function deepHealth(bridge: Binary): ReturnType<typeof ask> {
  return ask(`${await bridge.url("monitor")}/api/v1/monitor/deephealth`);
}

function watchOf(body: unknown): { readonly last_error?: string; readonly last_reload_at?: string } {
  return (body as { config_watch?: { last_error?: string; last_reload_at?: string } }).config_watch ?? {};
}

async function metric(monitor: string, name: string): Promise<number> {
  const response = await fetch(`${monitor}/api/v1/monitor/metrics`, { headers: { "X-API-Key": ADMIN_KEY } });
  const line = (await response.text()).split("\n").find((each) => each.startsWith(`${name} `));
  return Number(line?.split(" ")[1] ?? Number.NaN);
}
