export const BRIDGE_ID = "plant-7";
export const CONFIG_TABLE = "bridge-config";
export const TOPIC = "aws-cluster/readings";

/** What both instances run: one of them at a time takes the readings from the broker, under a lease. */
export function configuration(brokerUrl: string, queueUrl: string): object {
  return {
    config_version: 1,
    bridge: {
      id: BRIDGE_ID,
      deployment_mode: "clustered",
      log_level: "info",
      lease_ttl: "4s", // the other instance takes over sooner than with the default of 20 s
      lease_poll_interval: "500ms",
    },
    audit: { log: true },
    stores: {
      lease: { type: "dynamodb", options: { table_name: "bridge-leases" } },
      dlq: { type: "dynamodb", options: { table_name: "bridge-dead-letters" } },
    },
    sessions: [
      {
        id: "broker",
        transport: "mqtt",
        session_mode: "exclusive",
        options: { broker_urls: [brokerUrl], client_id: "bridge-aws-cluster", protocol_version: 4 },
      },
    ],
    receivers: [{ id: "readings", session_id: "broker", topics: [{ topic: TOPIC, qos: 1 }] }],
    senders: [{ id: "queue", transport: "sqs", options: { queue_url: queueUrl } }],
    bindings: [{ id: "to-queue", sender_id: "queue" }],
    routes: [{ id: "readings", receiver_id: "readings", bindings: ["to-queue"] }],
  };
}
