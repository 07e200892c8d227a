import { build, defineConfig, type Options } from "tsup";

const shared: Options = {
  clean: true,
  dts: false, // tsup's own declarations need the TypeScript 6 compiler interface; tsc writes them below
  format: ["esm"],
  outDir: "dist",
  platform: "node",
  removeNodeProtocol: false, // tsup would turn "node:sqlite" into "sqlite", which does not exist
  sourcemap: true,
  target: "esnext", // ship what was written: engines says Node 24, which runs it all
};

/** A published library: one ES module per entry, dependencies left to the consumer, declarations by tsc. */
export const library = (entry: string[] = ["src/index.ts"]): ReturnType<typeof defineConfig> =>
  defineConfig({ ...shared, entry, onSuccess: "tsc --project tsconfig.build.json" });

// What is bundled and still written for CommonJS asks for the platform's modules with `require`.
const REQUIRE =
  'import { createRequire as createRequireOfBundle } from "node:module"; const require = createRequireOfBundle(import.meta.url);';

const selfContained = (entry: Record<string, string>): Options => ({
  ...shared,
  clean: false, // the same few files each time; whoever runs them while they are built again finds them there
  entry,
  noExternal: [/.*/],
  splitting: false,
  banner: { js: REQUIRE },
  esbuildOptions: (options) => {
    options.conditions = ["@bridge/source"];
  },
});

/** An application: one self-contained file per entry, made from the sources of the workspace, so that it builds alone. */
export const application = (entry: Record<string, string>): ReturnType<typeof defineConfig> =>
  defineConfig(selfContained(entry));

/** Bundles a program that a test starts often: from its sources each start would take a second of CPU. */
export async function bundle(entry: Record<string, string>, outDir: string): Promise<void> {
  await build({ ...selfContained(entry), outDir, sourcemap: false, silent: true, config: false });
}
