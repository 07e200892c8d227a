import type { ServerResponse } from "node:http";
import { Duplex } from "node:stream";
import { describe, expect, it, vi } from "vitest";
import { refusalOf, refuseOnSocket } from "../src/refuse-on-socket.ts";

const MALFORMED = { status: 400, message: "malformed request" };

/** What goes out over a connection that may be answered. */
function connection() {
  const written: string[] = [];
  const socket = new Duplex({
    read() {},
    write(bytes: Buffer, _encoding, done) {
      written.push(bytes.toString());
      done();
    },
  });
  return { socket, written };
}

/** A response whose request has arrived in full or not, and that has begun and ended or not. */
const response = (complete: boolean, headersSent: boolean, writableFinished: boolean): ServerResponse =>
  ({ headersSent, writableFinished, req: { complete } }) as ServerResponse;

describe("what never became a request", () => {
  it.each([
    ["ECONNRESET", undefined],
    ["HPE_HEADER_OVERFLOW", 431],
    ["HPE_CHUNK_EXTENSIONS_OVERFLOW", 413],
    ["ERR_HTTP_REQUEST_TIMEOUT", 408],
    ["HPE_INVALID_METHOD", 400],
    [undefined, 400],
  ])("a fault of the code %s is answered %s", (code, status) => {
    expect(refusalOf(Object.assign(new Error("of the parser"), code !== undefined && { code }))?.status).toBe(status);
  });

  it.each([
    ["on a connection without a request before", undefined, true],
    ["behind requests that wait", "waiting", false],
    ["when it is the request under way, of which nothing was answered", response(false, false, false), true],
    ["behind a request that is not answered yet", response(true, false, false), false],
    ["amid an answer", response(true, true, false), false],
    ["when its request was answered before it had arrived", response(false, true, true), false],
    ["behind an answer that is out", response(true, true, true), true],
  ] as const)("%s: is it answered?", async (_where, last, isAnswered) => {
    const { socket, written } = connection();
    refuseOnSocket(MALFORMED, socket, last, {});
    await vi.waitFor(() => expect(socket.destroyed).toBe(true));
    expect(written.join("").startsWith("HTTP/1.1 400 Bad Request\r\n")).toBe(isAnswered);
    expect(written).toHaveLength(isAnswered ? 1 : 0);
  });

  it("where nobody can be answered the connection ends, and nothing goes out", () => {
    const [reset, halfClosed] = [connection(), connection()];
    refuseOnSocket(undefined, reset.socket, undefined, {});
    halfClosed.socket.end();
    refuseOnSocket(MALFORMED, halfClosed.socket, undefined, {});
    expect([reset.socket.destroyed, halfClosed.socket.destroyed]).toEqual([true, true]);
    expect([...reset.written, ...halfClosed.written]).toEqual([]);
  });
});
