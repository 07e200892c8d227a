export { amqpTransport } from "./amqp-transport.ts";
