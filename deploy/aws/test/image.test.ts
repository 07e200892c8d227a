import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { BinaryProcess } from "@bridge/tooling/binary-process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { said, stagesOf } from "./support/dockerfile.ts";
import { DIGEST, synthesized } from "./support/synthesized.ts";

const WORKSPACE = fileURLToPath(new URL("../../..", import.meta.url));
const [before, build, run, ...others] = stagesOf(`${WORKSPACE}deploy/aws/Dockerfile`);

const [container] = synthesized().only("AWS::ECS::TaskDefinition")["ContainerDefinitions"] as readonly [
  Readonly<Record<string, unknown>>,
];
const entrypoint = JSON.parse(said(run, "ENTRYPOINT")[0] ?? "") as readonly string[];

/** `[from, to]` of each file that the second stage takes from the first. */
const copies = said(run, "COPY").map(
  (rest) => rest.replace(/^--from=build \/src\//, "").split(" ") as [string, string],
);

describe("the Dockerfile", () => {
  test("has two stages, each on an image that whoever builds has to name", () => {
    expect(others).toEqual([]);
    expect(said(before, "ARG")).toEqual(["BUILD_IMAGE", "RUNTIME_IMAGE"]);
    expect([build, run].map((stage) => said(stage, "FROM")[0])).toEqual([
      "${BUILD_IMAGE} AS build",
      "${RUNTIME_IMAGE}",
    ]);
  });

  test.each([
    [`node:24@${DIGEST}`, `node:24-slim@${DIGEST}`, 0],
    [`node:24@${DIGEST}`, "node:24-slim", 1],
    ["node:24", `node:24-slim@${DIGEST}`, 1],
    ["", "", 1],
  ])("refuses images without a digest: %j, %j", (BUILD_IMAGE, RUNTIME_IMAGE, status) => {
    const [check = ""] = said(build, "RUN");
    const done = spawnSync("sh", ["-c", check], { env: { BUILD_IMAGE, RUNTIME_IMAGE }, encoding: "utf8" });
    expect(done.status).toBe(status);
    if (status !== 0) expect(done.stderr).toContain("name the image by its digest");
  });

  test("builds with the pnpm of the workspace, and what it filters by are packages of it", () => {
    const { packageManager } = JSON.parse(readFileSync(`${WORKSPACE}package.json`, "utf8")) as {
      packageManager: string;
    };
    const app = JSON.parse(readFileSync(`${WORKSPACE}apps/aws-profile/package.json`, "utf8")) as { name: string };
    const [, commands = ""] = said(build, "RUN");
    expect(commands.match(/pnpm@[\d.]+/g)).toEqual([packageManager, packageManager]);
    expect(new Set(Array.from(commands.matchAll(/--filter "?([@\w/-]+)/g), ([, name]) => name))).toEqual(
      new Set(["bridge", app.name]),
    );
  });

  test("agrees with the task: user, ports, program and health check", () => {
    expect(said(run, "USER")).toEqual([container["User"]]);
    const ports = (container["PortMappings"] as readonly { readonly ContainerPort: number }[]).map(
      ({ ContainerPort }) => ContainerPort,
    );
    expect(said(run, "EXPOSE")).toEqual([ports.join(" ")]);
    const { Command } = container["HealthCheck"] as { readonly Command: readonly string[] };
    expect(Command).toEqual(["CMD", ...entrypoint, "-healthcheck"]);
    expect(said(run, "HEALTHCHECK")[0]).toContain(`CMD ${JSON.stringify(Command.slice(1)).replaceAll(",", ", ")}`);
    expect(copies.map(([, to]) => to)).toContain(entrypoint[1]);
  });
});

test.each([
  ["deploy/aws/Dockerfile", "aws-profile"],
  ["Dockerfile", "reference"],
])("%s runs the launcher, which takes signals before the program is loaded", (file, app) => {
  const [, , image] = stagesOf(WORKSPACE + file);
  const of = (name: string) => `--from=build /src/apps/${app}/dist/${name}`;
  expect(said(image, "COPY")).toEqual(
    expect.arrayContaining([
      `${of("main.js")} /opt/bridge/main.mjs`,
      `${of("main-program.js")} /opt/bridge/main-program.mjs`,
    ]),
  );
  expect(said(image, "ENTRYPOINT")).toEqual(['["node", "/opt/bridge/main.mjs"]']);
});

describe("what the image runs", () => {
  let root: string;
  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), "bridge-image-"));
    for (const [from, to] of copies) {
      mkdirSync(dirname(root + to), { recursive: true });
      copyFileSync(WORKSPACE + from, root + to);
    }
    chmodSync(root, 0o555);
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  test("works where nothing can be written; its health check tells whether it is alive", async () => {
    const program = root + (entrypoint[1] ?? "");
    expect(basename(entrypoint[0] ?? "")).toBe("node");
    const env = (monitorAddr: string) => ({
      BRIDGE_BOOTSTRAP_JSON: JSON.stringify({
        bridge_id: "plant-7",
        config_source: "file",
        config_file_path: join(root, "none.yaml"),
        admin_addr: "127.0.0.1:0",
        monitor_addr: monitorAddr,
      }),
      BRIDGE_ADMIN_API_KEY: "an-admin-key-for-tests",
      // Refuses to write anything: what is left are reading, sockets and threads.
      NODE_OPTIONS: "--permission --allow-fs-read=* --allow-net --allow-worker --no-warnings",
    });
    await using bridge = new BinaryProcess(program, [], { cwd: root, env: env("127.0.0.1:0") });
    await bridge.logged("bridge started");
    const { host } = new URL(await bridge.url("monitor"));
    const check = async () => {
      await using probe = new BinaryProcess(program, ["-healthcheck"], { cwd: root, env: env(host) });
      return await probe.ended;
    };
    expect(await check()).toBe(0);
    bridge.kill("SIGTERM");
    expect(await bridge.ended).toBe(0);
    expect(await check()).toBe(1);
  });
});
