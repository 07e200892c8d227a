import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { TcpProxy } from "@bridge/conformance/tcp-proxy";
import { BridgeApi } from "../bridge/api.ts";
import { documentOf } from "../bridge/document.ts";
import type { Flags } from "../flags.ts";
import { Auditor } from "../parts/auditor.ts";
import { Bridge } from "../parts/bridge.ts";
import type { Broker } from "../parts/broker.ts";
import { Disk } from "../parts/disk.ts";
import { Guard } from "../parts/guard.ts";
import { HttpTarget } from "../parts/http-target.ts";
import { freePorts } from "@bridge/tooling/listening";
import { PostgresCluster } from "@bridge/tooling/postgres-cluster";
import type { Ingests } from "../auditor/job.ts";
import { endsOf, hasOutbox, sourceOf } from "../routes.ts";
import { type BrokerLane, brokerPorts, type LinkLane, openBrokers, openWays } from "./ends.ts";

/** Longer than the torture, and than the clock ever jumps: no evidence against duplicates may be forgotten. */
const RETENTION = "12h";

export type DiskName = "dlq_disk" | "outbox_disk";

export function isDisk(name: string): name is DiskName {
  return name === "dlq_disk" || name === "outbox_disk";
}

/** Everything that takes part. */
export interface Stage extends AsyncDisposable {
  /** Logs, configuration and stores. */
  readonly folder: string;
  /** Epoch milliseconds: what the times in reports are counted from. */
  readonly began: number;
  /** Of these and the web service, those that the routes need. */
  readonly brokers: ReadonlyMap<BrokerLane, Broker>;
  readonly web: HttpTarget | undefined;
  readonly links: ReadonlyMap<LinkLane, TcpProxy>;
  /** Where callers reach the bridge, if there are any. */
  readonly ingests: Ingests;
  readonly disks: ReadonlyMap<DiskName, Disk>;
  readonly auditor: Auditor;
  readonly bridge: Bridge;
  readonly api: BridgeApi;
}

/** Opens all parts but starts no bridge. What was opened is closed again when something cannot be. */
export async function openStage(flags: Flags): Promise<Stage> {
  await using stack = new AsyncDisposableStack();
  const began = Date.now();
  const folder = await mkdtemp(join(tmpdir(), "bridge-torture-"));
  const guard = stack.use(new Guard());
  const folders = { dlq: join(folder, "dlq"), outbox: join(folder, "outbox") };
  const disks = new Map<DiskName, Disk>();
  if (flags.stores === "file") {
    await mount(disks, "dlq_disk", folders.dlq, guard, stack);
    if (hasOutbox(flags)) await mount(disks, "outbox_disk", folders.outbox, guard, stack);
  }

  const { routes, mode, rate, stores } = flags;
  const server = stores === "postgres" ? stack.use(await PostgresCluster.start()) : undefined;
  const ends = endsOf(routes);
  const [admin, monitor, ingest, web] = (await freePorts(4)) as [number, number, number, number];
  const journal = join(folder, "journal");
  const mayFail = stores !== "memory";
  const brokers = await openBrokers({ ends, folder, guard }, stack);
  const httpTarget = ends.has("target_http")
    ? stack.use(await HttpTarget.start({ port: web, journal, refuses: mayFail, guard }))
    : undefined;
  const ports = brokerPorts(ends, brokers);
  const auditor = stack.use(
    await Auditor.start({ routes, mode, rate, mayFail, began, brokers: ports, journal: httpTarget && journal }),
  );
  const served = {
    ...ports,
    ...(ends.has("source_http") && { source_http: ingest }),
    ...(ends.has("target_http") && { target_http: web }),
  };
  const { links, reached } = await openWays(served, auditor, stack);

  const adminKey = randomUUID();
  const configuration = join(folder, "bridge.yaml");
  const own = { admin, monitor, ingest };
  await writeFile(
    configuration,
    JSON.stringify(
      documentOf({
        name: "torture",
        retention: RETENTION,
        routes,
        mode,
        stores,
        folders,
        postgres: server?.url,
        adminKey,
        own,
        reached,
      }),
      undefined,
      2,
    ),
  );
  if (server !== undefined)
    await promisify(execFile)(process.execPath, [flags.bridge, "-create-tables", "-config", configuration]);
  const bridge = stack.use(
    new Bridge({ program: flags.bridge, configuration, log: join(folder, "bridge.log"), guard }),
  );
  const api = new BridgeApi(own, adminKey);
  const opened = stack.move();
  return {
    folder,
    began,
    brokers,
    web: httpTarget,
    links,
    ingests: Object.fromEntries(
      routes.filter((route) => sourceOf(route) === "http").map((route) => [route, reached.source_http]),
    ),
    disks,
    auditor,
    bridge,
    api,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

async function mount(
  disks: Map<DiskName, Disk>,
  name: DiskName,
  path: string,
  guard: Guard,
  stack: AsyncDisposableStack,
): Promise<void> {
  const disk = await Disk.mount(path, guard);
  if (disk !== undefined) disks.set(name, stack.use(disk));
}

/** Copies the stores away from the disks that they are on, which are gone with the stage. */
export async function keepStores({ folder, disks }: Stage): Promise<void> {
  for (const [name, { path }] of disks) await cp(path, join(folder, `${name}_as_it_was`), { recursive: true });
}

/** Removes what is left of a run. */
export async function forget(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
}
