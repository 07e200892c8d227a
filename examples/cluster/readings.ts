import mqtt from "mqtt";

const INTERVAL_MS = 100;

/** Publishes a numbered reading ten times a second, once it is told to. */
export interface Readings extends AsyncDisposable {
  /** Readings that the broker has confirmed. */
  readonly published: number;
  /** Does nothing when it has begun. */
  begin(): void;
  end(): void;
}

export async function openReadings(url: string, topic: string): Promise<Readings> {
  const client = await mqtt.connectAsync(url, { protocolVersion: 4, connectTimeout: 5_000 }, false);
  let [published, number] = [0, 0];
  const publish = (): void => {
    if (!client.connected) return;
    client.publish(topic, `reading ${++number}`, { qos: 1 }, (error) => {
      if (!error) published++;
    });
  };
  let timer: NodeJS.Timeout | undefined;
  const end = (): void => clearInterval(timer);
  return {
    get published() {
      return published;
    },
    begin() {
      timer ??= setInterval(publish, INTERVAL_MS);
    },
    end,
    async [Symbol.asyncDispose]() {
      end();
      await client.endAsync(true);
    },
  };
}
