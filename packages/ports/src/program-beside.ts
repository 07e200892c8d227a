/**
 * The program of a thread: of that name beside the module at `from`, its `import.meta.url`, but under that module's ending. So
 * it is found in the sources, in a build, and beside a bundle, where whoever bundles has to put it.
 */
export function programBeside(source: URL, from: string): URL {
  return new URL(source.href.replace(/\.ts$/, /\.[a-z]+$/.exec(from)?.[0] ?? ".js"));
}
