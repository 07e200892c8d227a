/** What would be published, packed as a publisher would. @module */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface Tarball {
  readonly manifest: Manifest;
  readonly bytes: Buffer;
  /** As registries tell it: `sha512-…`. */
  readonly integrity: string;
  /** What its README shows in TypeScript, block by block. */
  readonly examples: readonly string[];
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly exports?: Readonly<Record<string, unknown>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** One that names its file is part of a program that is tried where that is. */
const EXAMPLE = /^```ts\n(.*?)^```$/gms;

/** Packs every package that is published, as it was built, into `folder`. */
export function pack(folder: string): readonly Tarball[] {
  const { packageManager } = JSON.parse(readFileSync("package.json", "utf8")) as { readonly packageManager: string };
  const [pnpm = ""] = packageManager.split("+");
  const filters = ["--filter", "./packages/*", "--filter", "./apps/*"];
  const command = ["--yes", "--prefer-offline", pnpm, ...filters, "pack", "--pack-destination", folder];
  execFileSync("npx", command, { stdio: ["ignore", "ignore", "inherit"] });
  return globSync("{packages,apps}/*/package.json").flatMap((path) => {
    const { name, version, private: kept } = JSON.parse(readFileSync(path, "utf8")) as Manifest;
    if (kept === true) return [];
    const file = join(folder, `${name.replace("@", "").replace("/", "-")}-${version}.tgz`);
    const bytes = readFileSync(file);
    const packed = execFileSync("tar", ["-xzOf", file, "package/package.json"], { encoding: "utf8" });
    const readme = readFileSync(path.replace("package.json", "README.md"), "utf8");
    return {
      manifest: JSON.parse(packed) as Manifest,
      bytes,
      integrity: `sha512-${createHash("sha512").update(bytes).digest("base64")}`,
      examples: [...readme.matchAll(EXAMPLE)].map(([, code = ""]) => code),
    };
  });
}
