import type { SourceMessage } from "@bridge/ports";
import { connectAsync, type IClientOptions, type IPublishPacket, type MqttClient } from "mqtt";

/** Another program that listens to a topic, and what it has got, untouched. */
export interface Witness extends AsyncDisposable {
  readonly packets: readonly IPublishPacket[];
  /** Resolves once there are `count` packets or more. */
  until(count: number): Promise<readonly IPublishPacket[]>;
}

export interface WitnessOptions {
  readonly port: number;
  readonly filter: string;
  readonly version?: 4 | 5;
}

export async function witness({ port, filter, version = 5 }: WitnessOptions): Promise<Witness> {
  const client = await program(port, version);
  const packets: IPublishPacket[] = [];
  const waiting = new Set<() => void>();
  client.on("message", (_topic, _payload, packet) => {
    packets.push(packet);
    for (const look of waiting) look();
  });
  await client.subscribeAsync(filter, { qos: 1 });
  return {
    packets,
    until: (count) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (packets.length < count) return;
          waiting.delete(look);
          resolve([...packets]);
        };
        waiting.add(look);
        look();
      }),
    async [Symbol.asyncDispose]() {
      await client.endAsync(true);
    },
  };
}

/** A client that has nothing to do with the bridge. */
export function program(port: number, version: 4 | 5 = 5, clientId?: string): Promise<MqttClient> {
  const options: IClientOptions = { protocolVersion: version, reconnectPeriod: 0 };
  if (clientId !== undefined) {
    // Whoever has a name has a session that the broker keeps.
    Object.assign(options, { clientId, clean: false });
    if (version === 5) options.properties = { sessionExpiryInterval: 600 };
  }
  return connectAsync(`mqtt://127.0.0.1:${port}`, options);
}

/** A packet in the words of the suite, read by hand. */
export function messageOf({ topic, payload, properties }: IPublishPacket): SourceMessage {
  const headers = { ...properties?.userProperties } as Record<string, string>;
  return {
    id: headers["message-id"],
    subject: topic,
    payload: payload as Buffer,
    headers,
    contentType: properties?.contentType,
    correlationId: properties?.correlationData?.toString(),
    dedupId: headers["dedup-id"],
    orderingKey: headers["ordering-key"],
    expiresAt: properties?.messageExpiryInterval && Date.now() + properties.messageExpiryInterval * 1_000,
  };
}
