import { expect, test } from "vitest";
import { networkError } from "../../src/broker/network-error.ts";
import { strangerError } from "../../src/broker/stranger.ts";

test.each([
  ["AMQP\0\0\t\u0001", "an AMQP server answered at mqtt://host:5672; is this the MQTT port?"],
  ["INFO {", "a NATS server answered at mqtt://host:5672; is this the MQTT port?"],
  ["HTTP/1.1 400 Bad Request", "an HTTP server answered at mqtt://host:5672; is this the MQTT port?"],
  [
    "\u0015\u0003\u0001\0\u0002",
    "a server that expects TLS answered at mqtt://host:5672; does the address have to begin with a scheme of TLS?",
  ],
  ["secret", "something that does not speak MQTT answered at mqtt://host:5672; is this the MQTT port?"],
])("finding 6.10: what answers is named by how it begins: %j", (said, message) => {
  const error = strangerError("mqtt://host:5672", "MQTT", Buffer.from(said, "latin1"));
  expect(error).toMatchObject({ code: "CONNECTION_LOST", message });
});

test.each([
  [
    "write EPROTO 4083:error:0A00010B:SSL routines:tls_validate_record_header:wrong version number:../deps/a.c:78:",
    "mqtts://host:1883: what answers there does not speak TLS: is this the right port, and does the address have to ask for TLS?",
  ],
  [
    "write EPROTO 4083:error:0A000410:SSL routines:ssl3_read_bytes:sslv3 alert handshake failure:../deps/a.c:78:",
    "mqtts://host:1883: TLS could not be agreed on: sslv3 alert handshake failure",
  ],
  [
    "Client network socket disconnected before secure TLS connection was established",
    "mqtts://host:1883: it closed the connection before TLS was agreed on: does it speak TLS there?",
  ],
])("finding 6.10: OpenSSL is not quoted: %s", (said, message) => {
  const error = Object.assign(new Error(said), { code: "EPROTO" });
  expect(networkError("mqtts://host:1883", error)).toMatchObject({ code: "CONNECTION_LOST", message });
});

test.each(["EMFILE", "ENFILE"])("a connection that wants a file descriptor says what to do: %s", (code) => {
  const error = Object.assign(new Error(`connect ${code} 127.0.0.1:1883`), { code });
  const failure = networkError("mqtt://host:1883", error);
  expect(failure.code).toBe("CONNECTION_LOST");
  expect(failure.message).toMatch(/no file descriptor left .*ulimit -n/);
});
