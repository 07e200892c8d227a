import { readFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { probe } from "./support/ask.ts";
import { ADMIN_KEY, Folder } from "./support/folder.ts";

const folder = new Folder();
afterAll(() => folder[Symbol.dispose]());

const read = (name: string): string => readFileSync(new URL(`../../../deploy/${name}`, import.meta.url), "utf8");
const ENV = { BRIDGE_ADMIN_API_KEY: ADMIN_KEY, BRIDGE_MONITOR_API_KEY: `${ADMIN_KEY}-2` };

/** The part of a manifest that the tests look at. */
interface Manifest {
  readonly kind: string;
  readonly data: Readonly<Record<string, string>>;
  readonly spec: { readonly template: { readonly spec: Pod } };
}
interface Pod {
  readonly terminationGracePeriodSeconds: number;
  readonly containers: readonly [Readonly<Record<string, { readonly httpGet?: { readonly path: string } }>>];
}

const manifests = parseAllDocuments(read("kubernetes/bridge.yaml")).map((each) => each.toJS() as Manifest);
const manifest = (kind: string): Manifest => {
  const found = manifests.find((each) => each.kind === kind);
  if (found === undefined) throw new Error(`there is no ${kind}`);
  return found;
};
const pod = (): Pod => manifest("Deployment").spec.template.spec;
const ofKubernetes = (): string => manifest("ConfigMap").data["bridge.yaml"] ?? "";
const ofSystemd = (): string => read("systemd/bridge.yaml");

/** Twice `shutdown_timeout`, in seconds: what the reference binary may need (spec 3.3). */
function worstCase(document: string): number {
  const { bridge } = parse(document) as { bridge: { shutdown_timeout: string } };
  return 2 * Number.parseInt(bridge.shutdown_timeout, 10);
}

describe("the files in deploy/", () => {
  test.each([
    ["Kubernetes", ofKubernetes],
    ["systemd", ofSystemd],
  ])("%s: the configuration is valid", async (_, document) => {
    folder.write("bridge.yaml", document());
    await using bridge = folder.run(["-validate"], ENV);
    expect(await bridge.ended).toBe(0);
    expect(bridge.stderr).toBe("");
  });

  test("spec 8: whatever stops the bridge waits longer than twice shutdown_timeout", () => {
    expect(pod().terminationGracePeriodSeconds).toBeGreaterThan(worstCase(ofKubernetes()));
    const timeout = /^TimeoutStopSec=(\d+)$/m.exec(read("systemd/bridge.service"))?.[1];
    expect(Number(timeout)).toBeGreaterThan(worstCase(ofSystemd()));
  });

  test("finding 9.5: an image is named by its digest, and the admin server is not open to the cluster", () => {
    expect(pod().containers[0]["image"]).toMatch(/@sha256:[0-9a-f]{64}$/);
    expect(readFileSync(new URL("../../../Dockerfile", import.meta.url), "utf8")).not.toMatch(/^ARG \w+_IMAGE=/m);
    for (const kind of ["Service", "NetworkPolicy"]) {
      const { spec } = manifest(kind);
      expect(JSON.stringify(spec)).toContain('"monitor"');
      expect(JSON.stringify(spec)).not.toMatch(/"admin"|8080/);
    }
  });

  test("images and the unit for systemd set up the allocator alike, as the manual says", () => {
    const variables = (path: string): readonly string[] => read(`../${path}`).match(/MALLOC_[A-Z_]+=\d+/g) ?? [];
    const image = variables("Dockerfile");
    expect(image).toHaveLength(3);
    expect(variables("deploy/aws/Dockerfile")).toEqual(image);
    expect(variables("deploy/systemd/bridge.service")).toEqual(image);
    expect(variables("docs/operating.md")).toEqual(image);
  });

  test("the probes of the Deployment are probes of the bridge", async () => {
    const [container] = pod().containers;
    await using bridge = folder.run(["-config", "missing.yaml"]);
    const monitor = await bridge.url("monitor");
    for (const [name, status] of Object.entries({ startupProbe: 200, livenessProbe: 200, readinessProbe: 503 })) {
      const path = container[name]?.httpGet?.path ?? "";
      expect(path).toMatch(/^\/api\/v1\/monitor\//);
      const answer = await fetch(monitor + path);
      expect({ path, status: answer.status }).toEqual({ path, status });
    }
    expect(await probe(monitor, "live")).toMatchObject({ status: 200 });
  });
});
