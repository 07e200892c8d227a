import { mqtt } from "@bridge/transport-mqtt";
import { sqs } from "@bridge/transport-sqs";
import { CREDENTIALS } from "../baseline/sqs-client.ts";
import { ready } from "../harness/answer.ts";
import { queueUrl } from "../load/sqs-peer.ts";
import { routeJob } from "../suite/route-job.ts";
import { startBridge } from "./start-bridge.ts";

const { from, to, window } = routeJob();
const options = { broker_urls: [`mqtt://127.0.0.1:${from.port}`] };

await startBridge(
  {
    sessions: [{ id: "source", transport: "mqtt", session_mode: "persistent", options }],
    receiver: { session_id: "source", topics: [{ topic: from.name, qos: 1 }] },
    sender: { transport: "sqs" },
    address: queueUrl(to.port, to.name),
    maxInFlight: window,
  },
  [mqtt, sqs({ client: CREDENTIALS })],
);
ready();
