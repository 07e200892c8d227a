import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdir, mkdtemp, rename, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type TcpProxy, tcpProxy } from "@bridge/conformance/tcp-proxy";
import { freePorts } from "@bridge/tooling/listening";
import { PostgresCluster } from "@bridge/tooling/postgres-cluster";
import type { EndPorts, Ingests } from "../../torture/src/auditor/job.ts";
import { BridgeApi } from "../../torture/src/bridge/api.ts";
import type { BridgeDocument } from "../../torture/src/bridge/document.ts";
import { Auditor } from "../../torture/src/parts/auditor.ts";
import { Bridge } from "../../torture/src/parts/bridge.ts";
import { Disk } from "../../torture/src/parts/disk.ts";
import { Guard } from "../../torture/src/parts/guard.ts";
import { HttpTarget } from "../../torture/src/parts/http-target.ts";
import { endsOf } from "../../torture/src/routes.ts";
import { type BrokerLane, brokerPorts, openBrokers, openWays } from "../../torture/src/run/ends.ts";
import type { DiskName } from "../../torture/src/run/stage.ts";
import type { Wreckable } from "../../torture/src/run/troubles.ts";
import { VitalSigns } from "../../torture/src/run/vitals.ts";
import { allocatorOfImage } from "./bridge/image.ts";
import { soakDocument } from "./bridge/document.ts";
import type { BrokerPorts } from "./bridge/hostile-parts.ts";
import type { Flags } from "./flags.ts";
import { Prober, Strangers } from "./helpers.ts";
import { openHostilePlaces } from "./hostile-places.ts";
import { ALL_ROUTES, HTTP_ROUTES, routesOf, secondHop, type SideName, SIDES, sideOf } from "./sides.ts";

/**
 * What Node takes in a container of 512 MiB. With the gigabytes that it takes on a large machine, resident memory says
 * when the collector came, not what is kept.
 */
const HEAP_MIB = 256;

/** One of the two bridges. */
export interface Side {
  readonly name: SideName;
  readonly bridge: Bridge;
  readonly api: BridgeApi;
  readonly vitals: VitalSigns;
  /** Those of its routes that carry messages of the auditor, both hops through memory included. */
  readonly routes: readonly string[];
  /** As it was started. */
  readonly document: BridgeDocument;
  readonly log: string;
  /** Puts another document in the place of the one that runs; the bridge sees that by itself. */
  configure(document: BridgeDocument & { readonly config_version?: number }): Promise<void>;
}

/** Everything that takes part in a soak. */
export interface Scene extends AsyncDisposable {
  readonly folder: string;
  readonly auditor: Auditor;
  readonly sides: readonly Side[];
  /** What the lanes of the torture make trouble for. */
  readonly wreckable: Wreckable;
  readonly postgres: { readonly cluster: PostgresCluster; readonly link: TcpProxy };
  readonly prober: Prober;
  readonly strangers: Strangers;
  readonly ingests: Ingests;
}

interface Own {
  readonly admin: number;
  readonly monitor: number;
  readonly ingest: number;
}

/** Opens all parts but starts no bridge. What was opened is closed again when something cannot be. */
export async function openScene({ rate, bridge: program }: Flags): Promise<Scene> {
  await using stack = new AsyncDisposableStack();
  const began = Date.now();
  const folder = await mkdtemp(join(tmpdir(), "bridge-soak-"));
  const guard = stack.use(new Guard());
  const ends = endsOf(ALL_ROUTES);
  const folders = { dlq: join(folder, "dlq"), outbox: join(folder, "outbox") };
  const disks = new Map<DiskName, Disk>();
  for (const [name, path] of [
    ["dlq_disk", folders.dlq],
    ["outbox_disk", folders.outbox],
  ] as const) {
    await mkdir(path, { recursive: true });
    const disk = await Disk.mount(path, guard);
    if (disk !== undefined) disks.set(name, stack.use(disk));
  }

  const ports = await freePorts(8);
  const [web, sink] = ports as [number, number];
  const own = Object.fromEntries(
    SIDES.map((side, at) => {
      const [admin = 0, monitor = 0, ingest = 0] = ports.slice(2 + 3 * at);
      return [side, { admin, monitor, ingest }];
    }),
  ) as Record<SideName, Own>;
  const [cluster, brokers] = await Promise.all([PostgresCluster.start(), openBrokers({ ends, folder, guard }, stack)]);
  stack.use(cluster);
  const link = stack.use(await tcpProxy({ target: { port: cluster.port } }));
  const journal = join(folder, "journal");
  const httpTarget = stack.use(await HttpTarget.start({ port: web, journal, refuses: true, guard }));
  const reachable = brokerPorts(ends, brokers);
  const auditor = stack.use(
    await Auditor.start({ routes: ALL_ROUTES, mode: "both", rate, mayFail: true, began, brokers: reachable, journal }),
  );
  const served = { ...reachable, source_http: own.a.ingest, target_http: web };
  const { links, reached } = await openWays(served, auditor, stack);
  const ingestPorts = {
    a: reached.source_http,
    b: (await auditor.tap({ source_http: own.b.ingest })).source_http,
  };
  const direct = directPorts(brokers);
  await openHostilePlaces(direct);

  const adminKey = randomUUID();
  const environment = await allocatorOfImage();
  const sides = await Promise.all(
    SIDES.map(async (name): Promise<Side> => {
      const postgres = `postgresql://postgres@127.0.0.1:${link.port}/postgres`;
      const document = soakDocument({
        side: name,
        folders,
        postgres,
        adminKey,
        own: own[name],
        reached: reached satisfies EndPorts,
        brokers: direct,
        sink,
      });
      const configuration = join(folder, `${name}.yaml`);
      const configure = async (next: object): Promise<void> => {
        await writeFile(`${configuration}.next`, JSON.stringify(next, undefined, 1));
        await rename(`${configuration}.next`, configuration);
      };
      await configure(document);
      if (name === "b")
        await promisify(execFile)(process.execPath, [program, "-create-tables", "-config", configuration]);
      const log = join(folder, `${name}.log`);
      const bridge = stack.use(new Bridge({ program, configuration, log, guard, heapMib: HEAP_MIB, environment }));
      const api = new BridgeApi(own[name], adminKey);
      const routes = [...routesOf(name), secondHop(name)];
      return { name, bridge, api, vitals: new VitalSigns(api), routes, document, log, configure };
    }),
  );
  const places = SIDES.map((side) => ({ side, ...own[side] }));
  const prober = stack.use(await Prober.start({ sides: places, key: adminKey }));
  const strangers = stack.use(await Strangers.start({ sides: places, brokers: direct, sink }));
  const [first] = sides as [Side, Side];
  const opened = stack.move();
  return {
    folder,
    auditor,
    sides,
    wreckable: { brokers, links, bridge: first.bridge, web: httpTarget, disks, auditor },
    postgres: { cluster, link },
    prober,
    strangers,
    ingests: Object.fromEntries(HTTP_ROUTES.map((route) => [route, ingestPorts[sideOf(route)]])),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

function directPorts(brokers: ReadonlyMap<BrokerLane, { readonly port: number }>): BrokerPorts {
  const portOf = (lane: BrokerLane): number => brokers.get(lane)?.port ?? 0;
  return {
    sourceMqtt: portOf("source_broker"),
    targetMqtt: portOf("target_broker"),
    amqp: portOf("amqp_broker"),
    sourceNats: portOf("nats_source_broker"),
    targetNats: portOf("nats_target_broker"),
  };
}
