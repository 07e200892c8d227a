import { get as getHttp } from "node:http";
import { get as getHttps } from "node:https";
import type { Ending, HostProcess } from "@bridge/host";
import type { Bootstrap } from "./bootstrap/bootstrap.ts";
import { loadBootstrap } from "./bootstrap/load-bootstrap.ts";

/**
 * 4 s with the end of the process, which takes its time on a busy machine: below the 5 s that container platforms commonly give a
 * health check, and that begin with its process.
 */
const TIMEOUT_MS = 3_700;
const PATH = "/api/v1/monitor/live";
const EVERYWHERE = new Set(["", "0.0.0.0", "[::]"]);

/**
 * Asks the bridge of this host whether it is alive (`-healthcheck`), within 4 s of the start of the process: it is when
 * `/live` answers 200 (spec 3.4). A certificate is taken as it is: the probe goes to a process of its own host, and tells it
 * nothing. `sinceStart` is in milliseconds.
 */
export async function healthCheck(host: HostProcess, sinceStart = performance.now()): Promise<Ending> {
  const loaded = await loadBootstrap(host.env);
  if (!loaded.ok) {
    for (const problem of loaded.problems) host.stderr.write(`${problem}\n`);
    return "not_valid";
  }
  const { monitorAddr } = loaded.bootstrap.listeners;
  if (monitorAddr.endsWith(":0")) {
    host.stderr.write(`monitor_addr is ${monitorAddr}, any free port, which a probe cannot know: give it a port\n`);
    return "not_alive";
  }
  const url = liveUrl(loaded.bootstrap.listeners);
  try {
    const leftMs = Math.floor(TIMEOUT_MS - sinceStart);
    if (leftMs <= 0) throw new Error(`this program was ready to ask only ${Math.round(sinceStart)} ms after its start`);
    const status = await statusOf(url, leftMs);
    if (status === 200) return "answered";
    host.stderr.write(`${url} answers ${status}\n`);
  } catch (error) {
    host.stderr.write(`${url} does not answer: ${error instanceof Error ? error.message : String(error)}\n`);
  }
  return "not_alive";
}

function liveUrl({ monitorAddr, tlsCertFile }: Bootstrap["listeners"]): string {
  const at = monitorAddr.lastIndexOf(":");
  const written = monitorAddr.slice(0, at);
  const name = EVERYWHERE.has(written) ? "127.0.0.1" : written;
  return `${tlsCertFile === "" ? "http" : "https"}://${name}:${monitorAddr.slice(at + 1)}${PATH}`;
}

function statusOf(url: string, timeoutMs: number): Promise<number | undefined> {
  const options = { agent: false, signal: AbortSignal.timeout(timeoutMs), rejectUnauthorized: false };
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
  const request = url.startsWith("https:") ? getHttps(url, options) : getHttp(url, options);
  request.on("error", reject);
  request.on("response", (response) => {
    response.resume();
    resolve(response.statusCode);
  });
  return promise;
}
