import { randomUUID } from "node:crypto";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TcpProxy, tcpProxy } from "@bridge/conformance/tcp-proxy";
import { BridgeApi } from "../bridge/api.ts";
import { documentOf } from "../bridge/document.ts";
import type { Flags } from "../flags.ts";
import { Auditor } from "../parts/auditor.ts";
import { Bridge } from "../parts/bridge.ts";
import { Broker } from "../parts/broker.ts";
import { Disk } from "../parts/disk.ts";
import { Guard } from "../parts/guard.ts";
import { HttpTarget } from "../parts/http-target.ts";
import { hasOutbox } from "../routes.ts";
import { freePorts } from "../parts/listening.ts";

type LinkName = "source_link" | "target_link" | "http_source_link" | "http_target_link";
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
  readonly sourceBroker: Broker;
  readonly targetBroker: Broker;
  readonly web: HttpTarget;
  readonly links: Readonly<Record<LinkName, TcpProxy>>;
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

  const [source, target, web, ingest, admin, monitor] = (await freePorts(6)) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const journal = join(folder, "journal");
  const mayFail = flags.stores === "file";
  const broker = (name: string, port: number): Promise<Broker> =>
    Broker.start({ name: `the ${name} broker`, port, folder: join(folder, `${name}-broker`), guard });
  const sourceBroker = stack.use(await broker("source", source));
  const targetBroker = stack.use(await broker("target", target));
  const httpTarget = stack.use(await HttpTarget.start({ port: web, journal, refuses: mayFail, guard }));
  const { routes, mode, rate } = flags;
  const auditor = stack.use(
    await Auditor.start({ routes, mode, rate, mayFail, began, sourceBroker: source, targetBroker: target, journal }),
  );

  // Sources: bridge – link – tap – broker, and caller – link – tap – bridge. Targets: bridge – tap – link – target.
  const link = async (port: number): Promise<TcpProxy> => stack.use(await tcpProxy({ target: { port } }));
  const [targetLink, webLink] = [await link(target), await link(web)];
  const taps = await auditor.tap({ source, ingest, target: targetLink.port, web: webLink.port });
  const links = {
    source_link: await link(taps.source),
    target_link: targetLink,
    http_source_link: await link(taps.ingest),
    http_target_link: webLink,
  };

  const adminKey = randomUUID();
  const configuration = join(folder, "bridge.yaml");
  const ports = { admin, monitor, ingest, source: links.source_link.port, target: taps.target, web: taps.web };
  const { stores } = flags;
  await writeFile(
    configuration,
    JSON.stringify(documentOf({ routes, mode, stores, folders, adminKey, ports }), undefined, 2),
  );
  const bridge = stack.use(
    new Bridge({ program: flags.bridge, configuration, log: join(folder, "bridge.log"), guard }),
  );
  const api = new BridgeApi(ports, adminKey);
  const opened = stack.move();
  return {
    folder,
    began,
    sourceBroker,
    targetBroker,
    web: httpTarget,
    links,
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
