/** Blocks of headers: every byte in a name and in a value, and what is no header. */
export function hostileOverNats(): readonly Uint8Array[] {
  const bytes = Array.from({ length: 256 }, (_, byte) => Buffer.of(byte));
  const lines = [
    "my header: v",
    ": v",
    ":",
    "a",
    "\r\na: b",
    "a: 1\r\na: 2\r\nA: 3",
    "__proto__: v",
    "more-headers: {",
  ];
  const whole = ["NATS/1.0 503\r\n\r\n", "NATS/1.0 100 Idle\r\n\r\n", "NATS/2.0\r\n\r\n", "\r\n\r\n", "NATS/1.0"];
  return [
    ...bytes.map((byte) => Buffer.concat([Buffer.from("NATS/1.0\r\na"), byte, Buffer.from("b: v\r\n\r\n")])),
    ...bytes.map((byte) => Buffer.concat([Buffer.from("NATS/1.0\r\na: v"), byte, Buffer.from("v\r\n\r\n")])),
    ...lines.map((line) => Buffer.from(`NATS/1.0\r\n${line}\r\n\r\n`)),
    ...whole.map((text) => Buffer.from(text)),
    Buffer.from(`NATS/1.0\r\n${"a".repeat(60_000)}: v\r\n\r\n`),
    Buffer.from(`NATS/1.0\r\na: ${"v".repeat(60_000)}\r\n\r\n`),
    Buffer.from(`NATS/1.0\r\n${Array.from({ length: 1_000 }, (_, index) => `h${index}: v\r\n`).join("")}\r\n`),
  ];
}
