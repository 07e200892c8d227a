/** A registry of this machine that knows nothing but what was packed; npm asks it for the one scope. @module */
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Tarball } from "./tarballs.ts";

export interface LocalRegistry extends AsyncDisposable {
  readonly url: string;
}

export async function localRegistry(tarballs: readonly Tarball[]): Promise<LocalRegistry> {
  const byName = new Map(tarballs.map((tarball) => [tarball.manifest.name, tarball]));
  const server = createServer((request, response) => {
    const [name = "", file] = decodeURIComponent(request.url ?? "")
      .slice(1)
      .split("/-/");
    const tarball = byName.get(name);
    if (tarball === undefined) answer(response, 404, JSON.stringify({ error: `${name} was not packed` }));
    else if (file === undefined) answer(response, 200, JSON.stringify(entryOf(tarball, url)));
    else answer(response, 200, tarball.bytes);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function entryOf({ manifest, integrity }: Tarball, url: string): object {
  const { name, version } = manifest;
  const dist = { tarball: `${url}/${name}/-/${version}.tgz`, integrity };
  return { name, "dist-tags": { latest: version }, versions: { [version]: { ...manifest, dist } } };
}

function answer(response: ServerResponse, status: number, body: string | Buffer): void {
  response.writeHead(status, { "Content-Type": "application/json" }).end(body);
}
