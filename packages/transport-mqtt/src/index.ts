export { mqttTransport } from "./mqtt-transport.ts";
