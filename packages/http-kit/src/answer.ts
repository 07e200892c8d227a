import type { Context } from "hono";

export type AnswerBody = string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null;

/** A scheme of the program's own has a challenge of its own. */
const PROGRAMS_FIRST = "www-authenticate";
/** Lists to which both add. */
const SHARED: ReadonlySet<string> = new Set(["vary", "set-cookie"]);

/**
 * An answer with the headers that `authenticate`, or what stands in front of the server, has set on the context, such as a
 * session's new cookie; and with the server's `own`, which win.
 */
export function answer(
  context: Context,
  body: AnswerBody,
  status: number,
  own: Readonly<Record<string, string>>,
): Response {
  const headers = new Headers(context.res.headers);
  for (const [name, value] of Object.entries(own)) {
    const key = name.toLowerCase();
    if (SHARED.has(key)) headers.append(name, value);
    else if (key !== PROGRAMS_FIRST || !headers.has(name)) headers.set(name, value);
  }
  const response = new Response(body, { status, headers });
  // Left in its place, the one before would put its headers over these.
  context.res = undefined;
  context.res = response;
  return response;
}
