import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";

export interface AnnounceOptions {
  /** Default: POST. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** How long the body is said to be. Default: 2 MB, which no server takes. */
  readonly length?: number | undefined;
}

/**
 * Asks with the head of a request that has a large body, and sends nothing of that: the answer must not wait for it. A
 * client that sends it all may meet the end of the connection first, as a server that has answered reads on for a while only.
 */
export async function announce(
  url: string,
  { method = "POST", headers = {}, length = 2_000_000 }: AnnounceOptions,
): Promise<Response> {
  const asked = request(url, { method, headers: { ...headers, "Content-Length": length }, agent: false });
  asked.flushHeaders();
  try {
    const [answer] = (await once(asked, "response")) as [IncomingMessage];
    const body = Buffer.concat(await answer.toArray());
    const own = Object.entries(answer.headersDistinct).flatMap(([name, values = []]) =>
      values.map((value): [string, string] => [name, value]),
    );
    return new Response(body.length === 0 ? null : body, { status: answer.statusCode ?? 0, headers: own });
  } finally {
    asked.destroy();
  }
}
