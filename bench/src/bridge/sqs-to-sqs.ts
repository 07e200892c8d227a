import { sqs } from "@bridge/transport-sqs";
import { CREDENTIALS } from "../baseline/sqs-client.ts";
import { ready } from "../harness/answer.ts";
import { queueUrl } from "../load/sqs-peer.ts";
import { routeJob } from "../suite/route-job.ts";
import { startBridge } from "./start-bridge.ts";

const { from, to, window } = routeJob();

await startBridge(
  {
    receiver: { transport: "sqs", options: { queue_url: queueUrl(from.port, from.name) } },
    sender: { transport: "sqs" },
    address: queueUrl(to.port, to.name),
    maxInFlight: window,
  },
  [sqs({ client: CREDENTIALS })],
);
ready();
