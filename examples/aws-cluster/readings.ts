import { setTimeout as delay } from "node:timers/promises";
import mqtt from "mqtt";
import type { Aws } from "./aws.ts";
import { TOPIC } from "./configuration.ts";

const INTERVAL_MS = 100;

/** Publishes a numbered reading ten times a second, once it is told to. */
export interface Readings extends AsyncDisposable {
  /** Readings that the broker has confirmed. */
  readonly published: number;
  /** Does nothing when it has begun. */
  begin(): void;
  end(): void;
}

export async function openReadings(url: string): Promise<Readings> {
  const client = await mqtt.connectAsync(url, { protocolVersion: 4, connectTimeout: 5_000 }, false);
  let [published, number] = [0, 0];
  const publish = (): void => {
    if (!client.connected) return;
    client.publish(TOPIC, `reading ${++number}`, { qos: 1 }, (error) => {
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

export interface Arrivals extends AsyncDisposable {
  /** Different readings that were in the queue; one that came twice counts once. */
  readonly distinct: number;
  /** Resolves when all that were published have arrived, or after ten seconds. */
  all(readings: Readings): Promise<void>;
}

/** Empties the queue until it is disposed. */
export function arrivals(aws: Aws): Arrivals {
  const seen = new Set<string>();
  const over = new AbortController();
  async function take(): Promise<void> {
    while (!over.signal.aborted) for (const body of await aws.takeMessages()) seen.add(body);
  }
  const ended = take();
  return {
    get distinct() {
      return seen.size;
    },
    async all(readings) {
      for (let tries = 0; seen.size < readings.published && tries < 50; tries++) await delay(200);
    },
    async [Symbol.asyncDispose]() {
      over.abort();
      await ended;
    },
  };
}
