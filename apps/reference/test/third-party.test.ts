import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");

test("the notices beside the binary name every package that its source map names", () => {
  const { sources } = JSON.parse(read("dist/main-program.js.map")) as { readonly sources: readonly string[] };
  const names = new Set(sources.flatMap((source) => /\.pnpm\/(@?[^@]+)@/.exec(source)?.[1]?.replace("+", "/") ?? []));
  expect(names.size).toBeGreaterThan(20);
  const titles = new Set(
    Array.from(read("dist/THIRD-PARTY-NOTICES.txt").matchAll(/^-{80}\n\n(\S+) /gm), ([, name]) => name),
  );
  expect([...names].filter((name) => !titles.has(name))).toEqual([]);
});

test("the image has the notices", () => {
  expect(read("../../Dockerfile")).toMatch(/^COPY --from=build \S+THIRD-PARTY-NOTICES\.txt \/opt\/bridge\//m);
  expect(read("../../deploy/aws/Dockerfile")).toMatch(
    /^COPY --from=build \S+THIRD-PARTY-NOTICES\.txt \/opt\/bridge\//m,
  );
});
