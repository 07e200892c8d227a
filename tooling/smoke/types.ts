/** How the packages look to compilers of people who are strict. @module */
import type { Project } from "./project.ts";
import type { Tarball } from "./tarballs.ts";

const COMPILERS = { "TypeScript 5.9": "ts59", "TypeScript 7": "ts7" } as const;
const RESOLUTIONS = {
  nodenext: { module: "nodenext" },
  bundler: { module: "preserve", moduleResolution: "bundler" },
} as const;

export const COMPILER_PACKAGES = ["ts59@npm:typescript@~5.9.0", "ts7@npm:typescript@^7.0.2", "@types/node@22"] as const;

/** Every entry of every package, and every example of every README, under each compiler and way to resolve. */
export async function checkTypes(project: Project, tarballs: readonly Tarball[], surroundings: string): Promise<void> {
  const entries = tarballs.flatMap(({ manifest }) => entriesOf(manifest));
  const imports = entries.map((entry, at) => `export * as e${at} from ${JSON.stringify(entry)};\n`);
  project.write("entries.ts", imports.join(""));
  project.write("surroundings.ts", surroundings);
  const examples = tarballs.flatMap(({ manifest, examples: codes }) =>
    codes.map((code, at) => {
      const file = `${manifest.name.replace("@bridge/", "")}-${at}.ts`;
      project.write(file, code);
      return file;
    }),
  );
  for (const [resolution, options] of Object.entries(RESOLUTIONS)) {
    const config = {
      compilerOptions: {
        ...options,
        target: "es2023",
        lib: ["es2023", "esnext.disposable"],
        types: ["node"],
        strict: true,
        exactOptionalPropertyTypes: true,
        skipLibCheck: false,
        noEmit: true,
        allowImportingTsExtensions: true,
      },
      files: ["entries.ts", "surroundings.ts", ...examples],
    };
    project.write(`tsconfig.${resolution}.json`, JSON.stringify(config));
    for (const [name, folder] of Object.entries(COMPILERS))
      await project.run(
        `types, ${name}, ${resolution}`,
        "node",
        `node_modules/${folder}/bin/tsc`,
        "--project",
        `tsconfig.${resolution}.json`,
        "--pretty",
        "false",
      );
  }
}

/** What can be imported from a package, by the names that its users write. */
export function entriesOf({ name, exports = {} }: Tarball["manifest"]): readonly string[] {
  return Object.keys(exports)
    .filter((entry) => !entry.endsWith(".json"))
    .map((entry) => name + entry.slice(1));
}
