/** Requests that no client would write, and who writes them. @module */
import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** Each on a connection of its own, which stays open: some have not ended yet, others wait for their answer. */
export async function writeOverHttp(port: number, request: Uint8Array): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1" });
  socket.on("error", () => {});
  await once(socket, "connect");
  await new Promise((written) => socket.write(request, written));
  return socket;
}

const START = "POST /ingest HTTP/1.1\r\nHost: localhost\r\n";
const BODY = "Content-Length: 7\r\n\r\nhostile";

/** Requests to `/ingest` that are cut off, bent, ambiguous, of every byte, and at each limit. */
export function hostileOverHttp(): readonly Uint8Array[] {
  return [...requests()];
}

function* requests(): Generator<Uint8Array> {
  const whole = `${START}Idempotency-Key: k\r\nX-Ordering-Key: o\r\nX-Expires-At: 2099-01-01T00:00:00Z\r\n${BODY}`;
  for (let end = 0; end < whole.length; end += 9) yield bytes(whole.slice(0, end));
  for (let at = 0; at < whole.length; at += 5)
    for (const byte of ["\0", "\n", " ", "\u00ff"]) yield bytes(whole.slice(0, at) + byte + whole.slice(at + 1));
  for (let code = 0; code < 256; code++) {
    const character = String.fromCharCode(code);
    yield bytes(`${START}a${character}b: v\r\n${BODY}`);
    yield bytes(`${START}a: a${character}b\r\n${BODY}`);
    yield bytes(`${START}Idempotency-Key: ${character}\r\nX-Subject: ${character}\r\n${BODY}`);
    yield bytes(`POST /ingest/a${character}b HTTP/1.1\r\nHost: localhost\r\n${BODY}`);
  }
  for (const name of [
    "__proto__",
    "constructor",
    "X-Bridge.Dedup-Id",
    "Ordering-Key",
    "Content-Type",
    "X-Ordering-Key",
  ])
    yield bytes(`${START}${name}: v\r\n${name}: w\r\n${BODY}`);
  yield bytes(`${START}a: ${"v".repeat(15_000)}\r\n${BODY}`);
  yield bytes(`${START}a: ${"v".repeat(20_000)}\r\n${BODY}`);
  yield bytes(`${START}${"a: v\r\n".repeat(250)}${BODY}`);
  yield bytes(`${START}${"a: v\r\n".repeat(300)}${BODY}`);
  for (const length of ["-1", "0x7", "7, 7", "7, 8", "1e3", "9".repeat(30), "1048576", "1048577", "+7", ""])
    yield bytes(`${START}Content-Length: ${length}\r\n\r\nhostile`);
  for (const coding of ["gzip, chunked", "chunked, gzip", "identity", "chunked, chunked", ""])
    yield bytes(`${START}Transfer-Encoding: ${coding}\r\n\r\n7\r\nhostile\r\n0\r\n\r\n`);
  for (const chunk of ["-1", "ffffffffffffffff", "7;a=b", "7 ", "g", `0${"0".repeat(20_000)}7`])
    yield bytes(`${START}Transfer-Encoding: chunked\r\n\r\n${chunk}\r\nhostile\r\n0\r\n\r\n`);
  yield bytes(`${START}Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n7\r\nhostile\r\n0\r\n\r\n`);
  yield bytes(`${START}Transfer-Encoding: chunked\r\n\r\n0\r\nOrdering-Key: trailer\r\n\r\n`);
  yield bytes(`${START}Expect: nothing\r\n${BODY}`);
  yield bytes(`${START}Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABk\r\n${BODY}`);
  yield bytes("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  yield bytes("\u0016\u0003\u0001\u0002\0\u0001\0\u0001\u00fc\u0003\u0003");
  yield bytes(`POST /ingest HTTP/9.9\r\n\r\n`);
  yield bytes("CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n");
}

function bytes(text: string): Uint8Array {
  return Buffer.from(text, "latin1");
}
