import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { installedFor } from "./support/lockfile.ts";

const WORKSPACE = fileURLToPath(new URL("../..", import.meta.url));
const STORE = join(WORKSPACE, "node_modules/.pnpm");
const MEGABYTE = 1024 * 1024;

const installed = installedFor("examples", join(WORKSPACE, "pnpm-lock.yaml"));
const folders = readdirSync(STORE);

/** In bytes, on this disk: it is here because whoever runs the tests has installed everything. */
function sizeOf(key: string): number {
  const start = key.replaceAll("/", "+");
  const found = folders.filter((name) => name === start || name.startsWith(`${start}_`));
  return Math.max(0, ...found.map((name) => bytesIn(join(STORE, name))));
}

function bytesIn(place: string): number {
  const stats = lstatSync(place);
  if (!stats.isDirectory()) return stats.size;
  return readdirSync(place).reduce((sum, name) => sum + bytesIn(join(place, name)), stats.size);
}

test("npm start puts less than 80 MB into node_modules", () => {
  const sizes = [...installed].map((key) => [key, sizeOf(key)] as const).toSorted(([, one], [, other]) => other - one);
  const total = sizes.reduce((sum, [, size]) => sum + size, 0) / MEGABYTE;
  const largest = sizes.slice(0, 5).map(([key, size]) => `${key} ${(size / MEGABYTE).toFixed(1)}`);
  // Something was found at all.
  expect(total).toBeGreaterThan(10);
  expect(total, `the largest are ${largest.join(", ")}`).toBeLessThan(80);
});

test("npm start installs nothing that only tests, benches, checks or a deployment need", () => {
  const names = [...installed].map((key) => key.replace(/@[^@]+$/, ""));
  const ours =
    /^(?:aws-cdk-lib|@aws-sdk\/|@stryker|@vitest\/|vitest|turbo|tsup|oxlint|oxfmt|knip|node-|esbuild|typescript|dynalite|fauxqs|fast-check)/;
  expect(names.filter((name) => ours.test(name))).toEqual([]);
  expect(names).toEqual(expect.arrayContaining(["aedes", "mqtt", "hono"]));
});
