import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseEnv } from "node:util";
import { freePorts } from "./free-ports.ts";
import { Program } from "./program.ts";

/** Ends with a slash. */
export const EXAMPLES = fileURLToPath(new URL("../../", import.meta.url));

/** The binary that was built before the tests. */
export const BINARY = fileURLToPath(new URL("dist/main.js", import.meta.resolve("@bridge/reference/package.json")));

/** What the examples refer to, as a user has it. */
export const EXAMPLE_ENV: Readonly<Record<string, string>> = parseEnv(
  readFileSync(`${EXAMPLES}example.env`, "utf8"),
) as Record<string, string>;

const PATIENCE_MS = 45_000;

/** An environment of its own: topics that nobody else uses, and free ports. */
export async function ownEnvironment(own: Readonly<Record<string, string>>): Promise<Record<string, string>> {
  const [adminPort, monitorPort, ingestPort] = await freePorts(3);
  return {
    ...EXAMPLE_ENV,
    TOPICS: `example-${randomUUID()}`,
    ADMIN_ADDR: `127.0.0.1:${adminPort}`,
    MONITOR_ADDR: `127.0.0.1:${monitorPort}`,
    INGEST_ADDR: `127.0.0.1:${ingestPort}`,
    ...own,
  };
}

/** Runs an example's configuration in the reference binary; resolves when it is ready for traffic. */
export async function runExample(file: string, env: Readonly<Record<string, string>>): Promise<Program> {
  const program = new Program(BINARY, ["-config", `${EXAMPLES}${file}`], env);
  let over = false;
  void program.ended.then(() => (over = true));
  for (const deadline = performance.now() + PATIENCE_MS; ; await delay(20)) {
    const answer = await fetch(`http://${env["MONITOR_ADDR"]}/api/v1/monitor/ready`).catch(() => undefined);
    await answer?.body?.cancel();
    if (answer?.status === 200) return program;
    if (over || performance.now() > deadline) {
      await program[Symbol.asyncDispose]();
      throw new Error(`${file} did not become ready:\n${program.stderr}`);
    }
  }
}

/** Asks the admin server of an example. */
export async function admin(env: Readonly<Record<string, string>>, path: string, body?: unknown): Promise<unknown> {
  const response = await fetch(`http://${env["ADMIN_ADDR"]}/api/v1/admin${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { "X-API-Key": env["ADMIN_KEY"] ?? "" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return response.json();
}
