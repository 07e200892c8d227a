export { natsTransport } from "./nats-transport.ts";
