import { httpTransport } from "@bridge/transport-http";
import { mqttTransport } from "@bridge/transport-mqtt";
import { ready } from "../harness/answer.ts";
import { routeJob } from "../suite/route-job.ts";
import { startBridge } from "./start-bridge.ts";

const { from, to, window } = routeJob();
const broker_urls = [`mqtt://127.0.0.1:${from.port}`];

await startBridge(
  {
    sessions: [{ id: "source", transport: "mqtt", session_mode: "persistent", options: { broker_urls } }],
    receiver: { session_id: "source", topics: [{ topic: from.name, qos: 1 }] },
    sender: { transport: "http", options: { url: `http://127.0.0.1:${to.port}`, max_connections: window } },
    address: to.name,
    maxInFlight: window,
  },
  [mqttTransport, httpTransport()],
);
ready();
