import { fileURLToPath } from "node:url";
import { defineConfig, type Options } from "tsup";

const shared: Options = {
  clean: true,
  dts: false, // tsup's own declarations need the TypeScript 6 compiler interface; tsc writes them below
  format: ["esm"],
  outDir: "dist",
  platform: "node",
  removeNodeProtocol: false, // tsup would turn "node:sqlite" into "sqlite", which does not exist
  // The code that is built reads well, and a map without the sources leads nowhere.
  sourcemap: false,
  target: "node22.19", // what engines says
};

const LAUNCHER = fileURLToPath(new URL("launcher.ts", import.meta.url));

/** Puts the launcher beside each `NAME-program.js`, as `NAME.js`. */
const launchers = (names: readonly string[]): Options => ({
  ...shared,
  clean: false, // the programs are built at the same time
  entry: Object.fromEntries(names.map((name) => [name, LAUNCHER])),
  target: "es2020", // what Node 14.13 parses, so that it can say what is needed
  splitting: false,
});

/**
 * A published library: one ES module per entry, dependencies left to the consumer, declarations by tsc; and its commands,
 * by name.
 */
export const library = (
  modules: readonly string[] = ["src/index.ts"],
  commands: Readonly<Record<string, string>> = {},
): ReturnType<typeof defineConfig> => {
  const entry = {
    ...Object.fromEntries(modules.map((file) => [file.replace(/^src\/(.*)\.ts$/, "$1"), file])),
    ...programsOf(commands),
  };
  const names = Object.keys(commands);
  const built: Options = {
    ...shared,
    entry,
    onSuccess: "tsc --project tsconfig.build.json",
  };
  if (names.length === 0) return defineConfig(built);
  // Launchers are built at the same time: cleaning leaves them alone.
  return defineConfig([{ ...built, clean: names.map((name) => `!${name}.js`) }, launchers(names)]);
};

const programsOf = (commands: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(commands).map(([name, source]) => [`${name}-program`, source]));
