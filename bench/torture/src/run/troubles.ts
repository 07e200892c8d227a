import { setTimeout as sleep } from "node:timers/promises";
import type { TcpProxy } from "@bridge/conformance/tcp-proxy";
import type { Broker } from "../parts/broker.ts";
import type { HttpTarget } from "../parts/http-target.ts";
import type { Dice } from "../plan/dice.ts";
import { type KindOf, type LaneName, type Trouble, troublesOf } from "../plan/troubles.ts";
import type { Behaviour } from "../target/job.ts";
import type { BrokerLane, LinkLane } from "./ends.ts";
import type { Stage } from "./stage.ts";

/** Ends what an act has begun. */
type Mend = () => Promise<void> | void;
export type Act = () => Promise<Mend> | Mend;
type Acts<Name extends LaneName> = Readonly<Record<KindOf<Name>, Act>>;

/** The wall clock may be anywhere within this of the real time. */
const CLOCK_RANGE_MS = [-3_600_000, 3_600_000] as const;
const DELAY_MS = [5, 250] as const;

/** A trouble that happened, in milliseconds since the beginning. */
export interface TroubleNote extends Pick<Trouble, "lane" | "kind" | "forMs"> {
  readonly atMs: number;
}

/** What troubles are made for. */
export type Wreckable = Pick<Stage, "brokers" | "links" | "bridge" | "web" | "disks" | "auditor">;

export interface TroublesOptions {
  readonly stage: Stage;
  readonly lanes: readonly LaneName[];
  readonly dice: Dice;
  readonly onTrouble: (note: TroubleNote) => void;
}

/**
 * Makes trouble in all lanes until `signal` aborts, and mends everything then.
 * @throws Error when a part of the torture does not do what it should
 */
export async function makeTrouble(
  { stage, lanes, dice, onTrouble }: TroublesOptions,
  signal: AbortSignal,
): Promise<void> {
  const acts = actsOn(stage, dice.fork("details"));
  await Promise.all(lanes.map((lane) => keepLane(lane, acts[lane])));

  async function keepLane(lane: LaneName, kinds: Readonly<Record<string, Act>> | undefined): Promise<void> {
    if (kinds === undefined) return;
    for (const { kind, afterMs, forMs } of troublesOf(lane, dice)) {
      await sleep(afterMs, undefined, { signal }).catch(() => {});
      const act = kinds[kind];
      if (signal.aborted || act === undefined) return;
      onTrouble({ lane, kind, forMs, atMs: Date.now() - stage.began });
      const mend = await act();
      await sleep(forMs, undefined, { signal }).catch(() => {});
      await mend();
    }
  }
}

/** What can be done to each part that is there. */
export function actsOn(stage: Wreckable, dice: Dice): { readonly [Name in LaneName]: Acts<Name> | undefined } {
  const { brokers, links, bridge, web } = stage;
  const broker = (lane: BrokerLane) => ifThere(brokers.get(lane), brokerActs);
  const durable = (lane: BrokerLane) => ifThere(brokers.get(lane), durableBrokerActs);
  const link = (lane: LinkLane) => ifThere(links.get(lane), (there) => linkActs(there, dice));
  return {
    source_broker: broker("source_broker"),
    target_broker: broker("target_broker"),
    amqp_broker: durable("amqp_broker"),
    nats_source_broker: durable("nats_source_broker"),
    nats_target_broker: durable("nats_target_broker"),
    http_target: ifThere(web, webActs),
    http_answers: ifThere(web, answerActs),
    source_link: link("source_link"),
    target_link: link("target_link"),
    http_source_link: link("http_source_link"),
    http_target_link: link("http_target_link"),
    amqp_source_link: link("amqp_source_link"),
    amqp_target_link: link("amqp_target_link"),
    nats_source_link: link("nats_source_link"),
    nats_target_link: link("nats_target_link"),
    clock: {
      jump: () => {
        bridge.setClock(Math.round(dice.between(CLOCK_RANGE_MS)));
        return () => {};
      },
    },
    dlq_disk: diskActs(stage, "dlq_disk"),
    outbox_disk: diskActs(stage, "outbox_disk"),
  };
}

function ifThere<Part, Found>(part: Part | undefined, acts: (part: Part) => Found): Found | undefined {
  return part === undefined ? undefined : acts(part);
}

function brokerActs(broker: Broker): Acts<"source_broker"> {
  return {
    pause: () => {
      broker.pause();
      return () => broker.resume();
    },
    restart: async () => {
      await broker.stop();
      return () => broker.start();
    },
  };
}

function durableBrokerActs(broker: Broker): Acts<"amqp_broker"> {
  return {
    ...brokerActs(broker),
    kill: async () => {
      await broker.kill();
      return () => broker.start();
    },
  };
}

function webActs(web: HttpTarget): Acts<"http_target"> {
  return {
    pause: () => {
      web.pause();
      return () => web.resume();
    },
    restart: async () => {
      await web.kill();
      return () => web.start();
    },
  };
}

function answerActs(web: HttpTarget): Acts<"http_answers"> {
  const behaves = (behaviour: Behaviour): Act => {
    return () => {
      web.behave(behaviour);
      return () => web.behave("healthy");
    };
  };
  return {
    unavailable: behaves("unavailable"),
    throttled: behaves("throttled"),
    slow: behaves("slow"),
    hanging: behaves("hanging"),
    kept_then_error: behaves("kept_then_error"),
    kept_then_silence: behaves("kept_then_silence"),
  };
}

function linkActs(link: TcpProxy, dice: Dice): Acts<"source_link"> {
  const does = (begin: () => void): Act => {
    return () => {
      begin();
      return () => link.restore();
    };
  };
  return {
    cut: does(() => link.cut()),
    reset: does(() => link.reset()),
    refuse: does(() => {
      link.refuse();
      link.cut();
    }),
    freeze: does(() => link.freeze()),
    delay: does(() => link.delay(Math.round(dice.between(DELAY_MS)))),
  };
}

function diskActs({ disks, auditor }: Wreckable, name: "dlq_disk" | "outbox_disk"): Acts<"dlq_disk"> | undefined {
  const disk = disks.get(name);
  if (disk === undefined) return undefined;
  const tell = async (on: boolean): Promise<void> => {
    if (name === "outbox_disk") await auditor.hinder("outbox_full", on);
  };
  return {
    full: async () => {
      await tell(true);
      await disk.fill();
      return async () => {
        await disk.free();
        await tell(false);
      };
    },
  };
}
