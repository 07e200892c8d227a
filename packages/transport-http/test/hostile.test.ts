import type { Socket } from "node:net";
import { describeHostileSource, type ServerPlace } from "@bridge/conformance";
import { hostileOverHttp, writeOverHttp } from "@bridge/tooling/hostile/http";
import { httpTransport } from "../src/http-transport.ts";
import { httpPlace } from "./support/http-place.ts";

describeHostileSource("http", { plugin: httpTransport(), openServer: () => ownListener() });

/** The receiver is the server itself; whoever calls it is the stranger. */
async function ownListener(): Promise<ServerPlace> {
  const { source, [Symbol.asyncDispose]: dispose } = await httpPlace();
  if (source === undefined) throw new Error("the place has no source");
  const { addr } = source.receiver.options as { readonly addr: string };
  const callers: Socket[] = [];
  return {
    source,
    messages: hostileOverHttp(),
    async write(messages) {
      for (const message of messages) callers.push(await writeOverHttp(Number(addr.split(":")[1]), message));
    },
    async [Symbol.asyncDispose]() {
      for (const caller of callers) caller.destroy();
      await dispose();
    },
  };
}
