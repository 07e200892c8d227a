import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { hostileOverAmqp, writeOverAmqp } from "@bridge/tooling/hostile/amqp";
import { hostileOverHttp, writeOverHttp } from "@bridge/tooling/hostile/http";
import { hostileOverMqtt, writeOverMqtt } from "@bridge/tooling/hostile/mqtt";
import { hostileOverNats } from "@bridge/tooling/hostile/nats";
import { type RawPublisher, rawPublisher } from "@bridge/tooling/hostile/nats-publisher";
import { hostileQueue, hostileSubject, hostileTopic, memoryTopic } from "../bridge/hostile-parts.ts";
import { HOSTILE_WAYS, type HostileWay, type StrangersJob } from "./job.ts";

const PAUSE_MS = 50;
/** A broker that is away for so long gets the next message instead. */
const WRITE_TIMEOUT_MS = 3_000;
/** Callers that stay, of which some have not said all yet and others wait for an answer. */
const MAX_CALLERS = 40;

type Side = StrangersJob["sides"][number];

/** Messages that nobody would write, over every transport of both bridges in turn, again and again. */
export class Feed {
  readonly written = counts();
  readonly refused = counts();
  readonly #job: StrangersJob;
  readonly #callers: Socket[] = [];
  #raw: RawPublisher | undefined;

  constructor(job: StrangersJob) {
    this.#job = job;
  }

  /** Resolves when `signal` has aborted. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      for (const way of HOSTILE_WAYS) {
        for (const side of this.#job.sides) {
          for (const message of messagesOf(way, side)) {
            if (signal.aborted) break;
            await this.#write(way, side, message);
            await sleep(PAUSE_MS, undefined, { signal }).catch(() => {});
          }
        }
      }
    }
    for (const caller of this.#callers) caller.destroy();
    await this.#raw?.[Symbol.asyncDispose]();
  }

  /** What is not taken in time is given up: its connection ends with the broker's at the latest. */
  async #write(way: HostileWay, side: Side, message: Uint8Array): Promise<void> {
    const late = new AbortController();
    const timeout: Promise<boolean> = sleep(WRITE_TIMEOUT_MS, false, { signal: late.signal });
    timeout.catch(() => {});
    const written = this.#ways[way](side, message).then(() => true);
    written.catch(() => {});
    try {
      if (await Promise.race([written, timeout])) this.written[way]++;
      else throw new Error("not taken in time");
    } catch {
      this.refused[way]++;
      if (way === "nats") this.#forgetRaw();
    } finally {
      late.abort();
    }
  }

  readonly #ways: Readonly<Record<HostileWay, (side: Side, message: Uint8Array) => Promise<void>>> = {
    mqtt: (_side, message) => writeOverMqtt(this.#job.brokers.sourceMqtt, message),
    memory: (_side, message) => writeOverMqtt(this.#job.brokers.sourceMqtt, message),
    amqp: (_side, message) => writeOverAmqp(this.#job.brokers.amqp, message),
    nats: async ({ side }, message) => {
      this.#raw ??= await rawPublisher(this.#job.brokers.sourceNats);
      this.#raw.publish(hostileSubject(side), message, "hostile");
      await this.#raw.flush();
    },
    http: async ({ ingest }, message) => {
      this.#callers.push(await writeOverHttp(ingest, message));
      if (this.#callers.length > MAX_CALLERS) this.#callers.shift()?.destroy();
    },
  };

  #forgetRaw(): void {
    const raw = this.#raw;
    this.#raw = undefined;
    void raw?.[Symbol.asyncDispose]();
  }
}

function messagesOf(way: HostileWay, { side }: Side): readonly Uint8Array[] {
  switch (way) {
    case "mqtt":
      return hostileOverMqtt(hostileTopic(side));
    case "memory":
      return hostileOverMqtt(memoryTopic(side));
    case "nats":
      return hostileOverNats();
    case "amqp":
      return hostileOverAmqp(hostileQueue(side));
    case "http":
      return hostileOverHttp();
  }
}

function counts(): Record<HostileWay, number> {
  return { mqtt: 0, nats: 0, amqp: 0, http: 0, memory: 0 };
}
