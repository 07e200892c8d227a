import { join } from "node:path";
import { type TcpProxy, tcpProxy } from "@bridge/conformance/tcp-proxy";
import type { EndPorts } from "../auditor/job.ts";
import type { Auditor } from "../parts/auditor.ts";
import type { Broker } from "../parts/broker.ts";
import type { Guard } from "../parts/guard.ts";
import { freePorts } from "@bridge/tooling/listening";
import { startMosquitto } from "../parts/mosquitto.ts";
import { startNats } from "../parts/nats.ts";
import { startRabbitmq } from "../parts/rabbitmq.ts";
import type { LaneName } from "../plan/troubles.ts";
import type { EndName } from "../routes.ts";

export type BrokerLane = Extract<LaneName, `${string}_broker`>;
export type LinkLane = Extract<LaneName, `${string}_link`>;

/** The broker at each end, by the lane of its troubles, and the link to it. */
const LANES_OF: Readonly<Record<EndName, { readonly broker?: BrokerLane; readonly link: LinkLane }>> = {
  source_mqtt: { broker: "source_broker", link: "source_link" },
  target_mqtt: { broker: "target_broker", link: "target_link" },
  source_amqp: { broker: "amqp_broker", link: "amqp_source_link" },
  target_amqp: { broker: "amqp_broker", link: "amqp_target_link" },
  source_nats: { broker: "nats_source_broker", link: "nats_source_link" },
  target_nats: { broker: "nats_target_broker", link: "nats_target_link" },
  source_http: { link: "http_source_link" },
  target_http: { link: "http_target_link" },
};

export interface BrokersOptions {
  readonly ends: ReadonlySet<EndName>;
  readonly folder: string;
  readonly guard: Guard;
}

/** Starts the brokers that these ends need, at the same time. They end with `stack`. */
export async function openBrokers(
  { ends, folder, guard }: BrokersOptions,
  stack: AsyncDisposableStack,
): Promise<ReadonlyMap<BrokerLane, Broker>> {
  const lanes = [...new Set([...ends].flatMap((end) => LANES_OF[end].broker ?? []))];
  const ports = await freePorts(lanes.length);
  const starting = lanes.map(async (lane, index): Promise<readonly [BrokerLane, Broker]> => {
    const name = lane.replaceAll("_", " ");
    const options = { name: `the ${name}`, port: ports[index] ?? 0, folder: join(folder, lane), guard };
    if (lane === "amqp_broker") return [lane, await startRabbitmq(options, stack)];
    const start = lane.startsWith("nats_") ? startNats : startMosquitto;
    return [lane, stack.use(await start(options))];
  });
  // When one does not start, the others are awaited, so that they end with the stack, too.
  await Promise.allSettled(starting);
  return new Map(await Promise.all(starting));
}

/** Where the brokers of these ends are. */
export function brokerPorts(ends: ReadonlySet<EndName>, brokers: ReadonlyMap<BrokerLane, Broker>): EndPorts {
  return fromEnds(ends, (end) => {
    const { broker } = LANES_OF[end];
    return broker === undefined ? undefined : brokers.get(broker)?.port;
  });
}

export interface Ways {
  readonly links: ReadonlyMap<LinkLane, TcpProxy>;
  /** Where each end is reached: through its link, and past its tap. */
  readonly reached: EndPorts;
}

/** Lays a link and a tap before each end. Sources: bridge – link – tap – broker, and caller – link – tap – bridge. Targets: bridge – tap – link – target. */
export async function openWays(served: EndPorts, auditor: Auditor, stack: AsyncDisposableStack): Promise<Ways> {
  const links = new Map<LinkLane, TcpProxy>();
  const link = async (end: EndName, port: number): Promise<number> => {
    const proxy = stack.use(await tcpProxy({ target: { port } }));
    links.set(LANES_OF[end].link, proxy);
    return proxy.port;
  };
  const tapped: EndPorts = {};
  for (const [end, port] of portsIn(served)) tapped[end] = isTarget(end) ? await link(end, port) : port;
  const reached = await auditor.tap(tapped);
  for (const [end, port] of portsIn(reached)) if (!isTarget(end)) reached[end] = await link(end, port);
  return { links, reached };
}

function fromEnds(ends: ReadonlySet<EndName>, portOf: (end: EndName) => number | undefined): EndPorts {
  const ports: EndPorts = {};
  for (const end of ends) {
    const port = portOf(end);
    if (port !== undefined) ports[end] = port;
  }
  return ports;
}

function portsIn(ports: EndPorts): readonly (readonly [EndName, number])[] {
  return Object.entries(ports) as [EndName, number][];
}

function isTarget(end: EndName): boolean {
  return end.startsWith("target_");
}
