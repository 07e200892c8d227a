import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { closeSync, openSync } from "node:fs";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startMosquitto } from "../../src/harness/mosquitto.ts";
import { BridgeApi } from "../../torture/src/bridge/api.ts";
import { Guard } from "../../torture/src/parts/guard.ts";
import { freePorts } from "@bridge/tooling/listening";
import { PartProcess } from "../../torture/src/parts/part-process.ts";
import { documentOf } from "./document.ts";
import type { Flags } from "./flags.ts";
import { Load } from "./load-process.ts";

/** Everything that takes part in an outage. */
export interface Scene extends AsyncDisposable {
  /** The log of the bridge, its configuration and its stores. */
  readonly folder: string;
  readonly bridge: PartProcess;
  readonly pid: number;
  readonly api: BridgeApi;
  readonly load: Load;
  readonly brokerPort: number;
  /** Where the bridge sends to; nobody listens there. */
  readonly webPort: number;
}

/** Opens all parts. What was opened is closed again when something cannot be. */
export async function openScene(flags: Flags, messages: number): Promise<Scene> {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "bridge-outage-"));
  const guard = stack.use(new Guard());
  const { port: broker } = stack.use(await startMosquitto());
  const load = stack.use(await Load.start({ size: flags.size }));
  const [web, admin, monitor] = (await freePorts(3)) as [number, number, number];
  const ports = { broker, web, admin, monitor };
  const adminKey = randomUUID();
  const configuration = join(folder, "bridge.yaml");
  await writeFile(configuration, JSON.stringify(documentOf({ mode: flags.mode, folder, adminKey, ports, messages })));

  const log = openSync(join(folder, "bridge.log"), "a");
  const child = spawn(process.execPath, [flags.bridge, "-config", configuration], {
    env: {},
    stdio: ["ignore", log, log],
  });
  closeSync(log);
  const bridge = new PartProcess("the bridge", child, guard);
  stack.defer(() => bridge.kill());
  const opened = stack.move();
  return {
    folder,
    bridge,
    pid: child.pid ?? 0,
    api: new BridgeApi(ports, adminKey),
    load,
    brokerPort: broker,
    webPort: web,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
