import { httpTransport } from "@bridge/transport-http";
import { mqttTransport } from "@bridge/transport-mqtt";
import { ready } from "../harness/answer.ts";
import { routeJob } from "../suite/route-job.ts";
import { startBridge } from "./start-bridge.ts";

const { from, to, window } = routeJob();
const broker_urls = [`mqtt://127.0.0.1:${to.port}`];

await startBridge(
  {
    sessions: [{ id: "target", transport: "mqtt", session_mode: "persistent", options: { broker_urls } }],
    receiver: { transport: "http", options: { addr: `127.0.0.1:${from.port}`, path: from.name } },
    sender: { session_id: "target" },
    address: to.name,
    maxInFlight: window,
  },
  [mqttTransport, httpTransport()],
);
ready();
