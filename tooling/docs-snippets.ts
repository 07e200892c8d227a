/**
 * Holds the code in READMEs and in the manual against the workspace. A block that names a file (```ts file=PATH) has
 * to be that file, of whichever language it is, and `--write` makes it so; every other block is compiled as a module of its own. Run by
 * `pnpm check`. @module
 */
import { execFileSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { argv, execPath, exit } from "node:process";

const DOCUMENTS = [
  "README.md",
  "docs/walk.md",
  "docs/embedding.md",
  "docs/writing-an-adapter.md",
  ...globSync("packages/*/README.md"),
];
/** Below the examples, so that what those depend on is found; in `node_modules`, so that nothing else looks there. */
const FOLDER = "examples/node_modules/.snippets";
const BLOCK = /^```(ts|yaml)(?: file=(\S+))?\n(.*?)^```$/gms;

/** A declaration that ends what it declares. What is printed is to run as it is on the oldest Node that the packages run on. */
const USING = /^\s*(?:await )?using \w+ =/m;

/** The package of an import of somebody else's code. */
const IMPORTED = /from "((?:@[^/"]+\/)?(?!node:|\.)[^/"]+)[^"]*"/g;

const problems: string[] = [];
/** Where each compiled file comes from. */
const origins = new Map<string, string>();

rmSync(FOLDER, { recursive: true, force: true });
mkdirSync(FOLDER, { recursive: true });
// Not kept as a source: its globals are for snippets only.
cpSync("tooling/snippets/surroundings.ts.txt", `${FOLDER}/surroundings.ts`);
for (const document of DOCUMENTS) {
  const before = readFileSync(document, "utf8");
  const after = before.replaceAll(
    BLOCK,
    (block, language: string, file: string | undefined, code: string, at: number) => {
      if (language === "ts" && USING.test(file === undefined ? code : readFileSync(file, "utf8")))
        problems.push(`${document}: ${file ?? "an example"} says "using", which Node 22.19 cannot read`);
      if (file !== undefined) return `\`\`\`${language} file=${file}\n${readFileSync(file, "utf8")}\`\`\``;
      if (language !== "ts") return block;
      const name = `${document.replaceAll(/\W+/g, "-")}-${origins.size}.ts`;
      origins.set(name, `${document}:${before.slice(0, at).split("\n").length}`);
      writeFileSync(`${FOLDER}/${name}`, code);
      return block;
    },
  );
  if (after === before) continue;
  if (argv.includes("--write")) writeFileSync(document, after);
  else problems.push(`${document}: a block is not the file that it names: run "pnpm run docs"`);
}

const config = {
  extends: "../../../tsconfig.base.json",
  compilerOptions: {
    noEmit: true,
    // A snippet may leave something to its reader, and readers have flags of their own.
    noUnusedLocals: false,
    noUnusedParameters: false,
    noPropertyAccessFromIndexSignature: false,
    paths: sources(),
  },
  files: [...origins.keys(), "surroundings.ts"],
};
writeFileSync(`${FOLDER}/tsconfig.json`, JSON.stringify(config));
problems.push(...compile());
problems.push(...globSync("packages/*/README.md").flatMap(notInstalled));
for (const problem of problems) console.error(problem);
exit(problems.length === 0 ? 0 : 1);

/** What a package's README uses and does not tell its reader to install. */
function notInstalled(readme: string): readonly string[] {
  const text = readFileSync(readme, "utf8");
  const command = /^npm install (.*)$/m.exec(text)?.[1]?.split(" ") ?? [];
  const { name } = JSON.parse(readFileSync(readme.replace("README.md", "package.json"), "utf8")) as { name: string };
  const code = [...text.matchAll(BLOCK)].filter(([, language, file]) => language === "ts" && file === undefined);
  const imported = code.flatMap(([, , , shown = ""]) => [...shown.matchAll(IMPORTED)].map(([, found = ""]) => found));
  const missing = [...new Set([name, ...imported])].filter((used) => !command.includes(used));
  return missing.map((used) => `${readme}: its "npm install" does not name ${used}`);
}

/** Every entry of every package, at its source. */
function sources(): Readonly<Record<string, readonly string[]>> {
  const paths: Record<string, readonly string[]> = {};
  for (const path of globSync("packages/*/package.json")) {
    const { name, exports } = JSON.parse(readFileSync(path, "utf8")) as {
      readonly name: string;
      readonly exports: Readonly<Record<string, string | { readonly "@bridge/source": string }>>;
    };
    for (const [entry, target] of Object.entries(exports)) {
      if (typeof target === "string") continue;
      const source = path.replace("package.json", target["@bridge/source"].slice(2));
      paths[name + entry.slice(1)] = [`../../../${source}`];
    }
  }
  return paths;
}

/** What the compiler says, at the place in the document that it is about. */
function compile(): readonly string[] {
  const tsc = createRequire(import.meta.url)
    .resolve("typescript/package.json")
    .replace("package.json", "bin/tsc");
  try {
    execFileSync(execPath, [tsc, "--project", `${FOLDER}/tsconfig.json`, "--pretty", "false"], { encoding: "utf8" });
    return [];
  } catch (error) {
    const { stdout } = error as { readonly stdout: string };
    return stdout
      .trimEnd()
      .split("\n")
      .map((line) =>
        line.replace(/^.*?([\w-]+\.ts)\((\d+),\d+\)/, (place, name: string, row: string) => {
          const [document, first] = (origins.get(name) ?? place).split(":");
          return first === undefined ? place : `${document}:${Number(first) + Number(row)}`;
        }),
      );
  }
}
