/** The licences of what is bundled, which have to come with every copy of it. @module */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Metafile } from "esbuild";

/** Up to the folder of the package that a file is from. */
const PACKAGE = /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+(?=[\\/])/;
const LICENCE = /^(?:licen[cs]e|copying|notice)/i;
const RULE = `\n${"-".repeat(80)}\n\n`;

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  readonly author?: string | { readonly name?: string };
}

/**
 * One entry a package, by name and version.
 *
 * @throws Error when a package neither has a licence nor names one: it may not be passed on
 */
export function noticesFor({ outputs }: Metafile, folder: string): string {
  const files = Object.values(outputs).flatMap(({ inputs }) => Object.keys(inputs));
  const packages = new Set(files.flatMap((file) => PACKAGE.exec(resolve(folder, file)) ?? []));
  const entries = new Map([...packages].map((place) => entryOf(place)));
  const texts = [...entries].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, text]) => text);
  return ["The programs in this folder contain the following packages.\n", ...texts].join(RULE);
}

function entryOf(place: string): readonly [title: string, text: string] {
  const { name, version, license, author } = JSON.parse(readFileSync(join(place, "package.json"), "utf8")) as Manifest;
  const title = `${name} ${version}`;
  const texts = licencesIn(place);
  if (texts.length === 0 && license === undefined)
    throw new Error(`${title} has no licence in ${place}, so that it cannot be bundled`);
  const by = typeof author === "string" ? author : author?.name;
  // Without a text of its own, its manifest is all that its author said.
  const said = texts.length > 0 ? texts : [`Licence: ${license}${by === undefined ? "" : `, by ${by}`}`];
  return [title, `${title}${license === undefined ? "" : ` (${license})`}\n\n${said.join("\n\n")}\n`];
}

function licencesIn(place: string): readonly string[] {
  return readdirSync(place, { withFileTypes: true })
    .filter((entry) => entry.isFile() && LICENCE.test(entry.name))
    .map((entry) => readFileSync(join(place, entry.name), "utf8").trim());
}
