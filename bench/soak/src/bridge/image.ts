import { readFile } from "node:fs/promises";

const DOCKERFILE = new URL("../../../../Dockerfile", import.meta.url);

/** How the image of the reference binary sets up the allocator of the C library, so that a soak measures what is deployed. */
export async function allocatorOfImage(): Promise<Readonly<Record<string, string>>> {
  const text = await readFile(DOCKERFILE, "utf8");
  return Object.fromEntries(
    Array.from(text.matchAll(/^ENV (MALLOC_\w+)=(\S+)$/gm), ([, name, value]) => [name, value]),
  );
}
