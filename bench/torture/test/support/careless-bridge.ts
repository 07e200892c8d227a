/** A bridge that loses messages: it acknowledges what it has received at once, and sends it a moment later. @module */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { connectAsync } from "mqtt";

const MOMENT_MS = 400;

interface Configuration {
  readonly http: { readonly admin_addr: string; readonly monitor_addr: string };
  readonly sessions: readonly { readonly id: string; readonly options: { readonly broker_urls: readonly [string] } }[];
}

const { http, sessions } = JSON.parse(readFileSync(process.argv[3] ?? "", "utf8")) as Configuration;
const url = (session: string): string => sessions.find(({ id }) => id === session)?.options.broker_urls[0] ?? "";

const target = await connectAsync(url("target"), { clientId: "careless-target", protocolVersion: 5 });
const source = await connectAsync(url("mqtt-mqtt"), {
  clientId: "careless-source",
  protocolVersion: 5,
  clean: false,
  properties: { sessionExpiryInterval: 3_600 },
});
source.on("message", (_topic, payload) => {
  void sleep(MOMENT_MS).then(() => target.publishAsync("out/0", payload, { qos: 1 }));
});
await source.subscribeAsync("in/mqtt-mqtt", { qos: 1 });

serve(http.admin_addr, JSON.stringify({ messages: [], has_more: false }));
serve(http.monitor_addr, "bridge_unaccounted_messages 0\n");
process.on("SIGTERM", () => process.exit(0));

function serve(addr: string, body: string): void {
  const [host, port] = addr.split(":");
  createServer((_request, response) => response.end(body)).listen(Number(port), host);
}
