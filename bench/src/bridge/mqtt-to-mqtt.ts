import { mqttTransport } from "@bridge/transport-mqtt";
import { ready } from "../harness/answer.ts";
import { routeJob } from "../suite/route-job.ts";
import { startBridge } from "./start-bridge.ts";

const { from, to, window, outbox } = routeJob();

await startBridge(
  {
    sessions: [
      { id: "source", transport: "mqtt", session_mode: "persistent", options: { broker_urls: [url(from.port)] } },
      { id: "target", transport: "mqtt", session_mode: "persistent", options: { broker_urls: [url(to.port)] } },
    ],
    receiver: { session_id: "source", topics: [{ topic: from.name, qos: 1 }] },
    sender: { session_id: "target" },
    address: to.name,
    maxInFlight: window,
    outbox,
  },
  [mqttTransport],
);
ready();

function url(port: number): string {
  return `mqtt://127.0.0.1:${port}`;
}
