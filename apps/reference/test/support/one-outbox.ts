import { Agent } from "node:http";
import { freePort } from "@bridge/tooling/listening";
import { expect } from "vitest";
import { eventually } from "./ask.ts";
import { ADMIN_KEY } from "./folder.ts";
import type { Stage } from "./stage.ts";
import type { Target } from "./target.ts";
import { post } from "./traffic.ts";

export interface Parts {
  readonly url: string;
  readonly port: number;
  readonly admin: number;
  readonly monitor: number;
  readonly outbox: string;
  readonly version?: number;
  readonly header?: string;
}

/** What a document says; a port may be a reference. */
interface Said extends Omit<Parts, "port" | "admin" | "monitor"> {
  readonly port: number | string;
  readonly admin: number | string;
  readonly monitor: number | string;
}

/** One route with its outbox in a file. */
export const document = ({
  url,
  port,
  admin,
  monitor,
  outbox,
  version = 1,
  header = "a",
}: Said): string => `config_version: ${version}
http: {admin_addr: "127.0.0.1:${admin}", monitor_addr: "127.0.0.1:${monitor}", admin_api_key: ${ADMIN_KEY}}
bridge: {id: test}
stores: {outbox: {type: file, options: {path: "${outbox}.db"}}}
receivers: [{id: in, transport: http, options: {addr: "127.0.0.1:${port}", path: /ingest/in}}]
senders: [{id: out, transport: http, options: {url: "${url}", headers: {x-tag: "${header}"}}}]
bindings: [{id: to-out, sender_id: out}]
routes: [{id: only, receiver_id: in, delivery_mode: shared_outbox, bindings: [to-out], policy: {backoff: {initial_interval: 50ms, max_interval: 100ms}, on_permanent_failure: drop, on_expired: drop, max_replay_attempts: 100000}}]
`;

export const partsFor = async ({ url }: Target): Promise<Parts> => {
  const [port, admin, monitor] = [await freePort(), await freePort(), await freePort()];
  return { url, port, admin, monitor, outbox: "here" };
};

export async function killed(stage: Stage, signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
  stage.bridge.kill(signal);
  await stage.bridge.ended;
}

/** One message that its target does not take. */
export async function waits(stage: Stage, port: number, body = "hi"): Promise<void> {
  const agent = new Agent();
  expect(await post(port, agent, body)).toBe("202");
  await eventually(
    () => stage.admin("GET", "/outbox"),
    ({ body: outbox }) => (outbox as { depth?: number }).depth === 1,
  );
}

/** It is told what version 1 has left behind, and how to get at it. */
export async function isTold(stage: Stage, version = 1): Promise<void> {
  await eventually(
    () => stage.admin("GET", "/conditions"),
    ({ body }) => JSON.stringify(body).includes(`version ${version} has stores.outbox at another place`),
  );
}
