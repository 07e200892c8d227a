/** What an installation takes on the disk: a package with everything that it needs. @module */
import { globSync, lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Project } from "./project.ts";

/** Mebibytes that an installation may take, so that nobody adds a megabyte unseen; what it takes is printed. All is every library but for vitest, which one of them needs. */
const LIMITS = [
  { what: "core", names: ["@bridge/core"], atMost: 5 },
  { what: "core and MQTT", names: ["@bridge/core", "@bridge/transport-mqtt"], atMost: 13 },
] as const;
const ALL_AT_MOST = 55;

interface Installed {
  readonly dependencies?: Readonly<Record<string, string>>;
}

interface InstallSize {
  readonly packages: number;
  readonly mebibytes: number;
}

/** Holds what was installed in `project` to the limits. */
export async function checkSizes(project: Project, libraries: readonly string[]): Promise<void> {
  for (const { what, names, atMost } of [...LIMITS, { what: "all", names: libraries, atMost: ALL_AT_MOST }]) {
    const { packages, mebibytes } = installSize(project.folder, names);
    const size = `${what}: ${packages} packages, ${mebibytes.toFixed(1)} MiB`;
    await project.try(`installs no more than ${atMost} MiB (${size})`, async () => {
      if (mebibytes > atMost) throw new Error(`${size}: the limit is ${atMost} MiB`);
    });
  }
}

/** Of `names` and what they depend on, as npm has put it into `folder`. Peers count only when they are named. */
function installSize(folder: string, names: readonly string[]): InstallSize {
  const { packages } = JSON.parse(readFileSync(join(folder, "node_modules/.package-lock.json"), "utf8")) as {
    readonly packages: Readonly<Record<string, Installed>>;
  };
  const taken = new Set<string>();
  const take = (name: string, from: string): void => {
    const place = placeOf(name, from, packages);
    if (place === undefined || taken.has(place)) return;
    taken.add(place);
    for (const needed of Object.keys(packages[place]?.dependencies ?? {})) take(needed, place);
  };
  for (const name of names) take(name, "");
  const bytes = [...taken].reduce((sum, place) => sum + bytesOf(join(folder, place)), 0);
  return { packages: taken.size, mebibytes: bytes / 1024 ** 2 };
}

/** Where Node finds a package that is asked for at `from`. */
function placeOf(name: string, from: string, packages: Readonly<Record<string, Installed>>): string | undefined {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf("/node_modules/")))) {
    const place = at === "" ? `node_modules/${name}` : `${at}/node_modules/${name}`;
    if (packages[place] !== undefined) return place;
    if (at === "") return undefined;
    if (!at.includes("/node_modules/")) at = "";
  }
}

/** Without the packages inside, which count by themselves. */
function bytesOf(folder: string): number {
  return globSync("**/*", { cwd: folder, exclude: (name) => name === "node_modules" })
    .map((name) => lstatSync(join(folder, name)))
    .reduce((sum, stats) => sum + (stats.isFile() ? stats.size : 0), 0);
}
