import mqtt from "mqtt";

const INTERVAL_MS = 200;
const CONNECT_TIMEOUT_MS = 5_000;
const DEVICES = ["pump-1", "pump-2", "valve-7"];

/** Publishes a reading and an order five times a second, once it is told to. */
export interface Publisher extends AsyncDisposable {
  /** Messages that the broker has confirmed. */
  readonly published: number;
  begin(): void;
  end(): void;
}

/** @throws Error when what listens there is no broker that lets us in */
export async function openPublisher(url: string, root: string): Promise<Publisher> {
  const client = await mqtt
    .connectAsync(url, { protocolVersion: 4, connectTimeout: CONNECT_TIMEOUT_MS }, false)
    .catch((error: unknown) => {
      const why = error instanceof Error ? error.message : String(error);
      throw new Error(`no MQTT broker answers at ${url} (${why}); choose another port: npm start -- --broker PORT`);
    });
  let [published, number] = [0, 0];
  const publish = (topic: string, message: object): void => {
    if (!client.connected) return; // nothing is kept for later: the quickstart need not catch up
    client.publish(topic, JSON.stringify(message), { qos: 1 }, (error) => {
      if (!error) published++;
    });
  };
  const tick = (): void => {
    number++;
    publish(`${root}/readings/${DEVICES[number % DEVICES.length]}`, { pressure: 990 + (number % 40) });
    publish(`${root}/orders`, { number, item: "gasket" });
  };
  let timer: NodeJS.Timeout | undefined;
  const end = (): void => clearInterval(timer);
  return {
    get published() {
      return published;
    },
    begin() {
      timer = setInterval(tick, INTERVAL_MS);
    },
    end,
    async [Symbol.asyncDispose]() {
      end();
      await client.endAsync(true);
    },
  };
}
