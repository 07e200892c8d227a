import type { MosquittoSettings } from "../../../src/harness/mosquitto.ts";
import type { EndJob } from "../job.ts";

/**
 * What makes a Mosquitto carry a topic to another one by itself, under the same name. With MQTT 5 the bridge of 2.0.11 never connects, so it is
 * 3.1.1, where the window is that of the broker.
 */
export function bridgeTo({ port, name }: EndJob, window: number): MosquittoSettings {
  const more = [
    "connection bench",
    `address 127.0.0.1:${port}`,
    "bridge_protocol_version mqttv311",
    "cleansession false",
    "notifications false",
    "try_private true",
    `topic ${name} out 1`,
  ];
  return { maxInFlight: window, more };
}
