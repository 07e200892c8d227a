/** `prepack` of every package: whoever packs one that was not built is told so. @module */
import { existsSync, readFileSync } from "node:fs";
import { exit } from "node:process";

interface Manifest {
  readonly name: string;
  readonly bin?: Readonly<Record<string, string>>;
  readonly exports?: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
}

const { name, bin = {}, exports = {} } = JSON.parse(readFileSync("package.json", "utf8")) as Manifest;
const entries = Object.values(exports).flatMap((entry) => (typeof entry === "string" ? entry : Object.values(entry)));
const missing = [...Object.values(bin), ...entries].filter((file) => !existsSync(file));
if (missing.length > 0) {
  console.error(`${name} is not built: there is no ${missing.join(", no ")}. Run pnpm run build`);
  exit(1);
}
