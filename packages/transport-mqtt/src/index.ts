export { mqttTransport } from "./mqtt-transport.ts";
export type * from "./option-types.ts";
