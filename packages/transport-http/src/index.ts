export { httpTransport } from "./http-transport.ts";
export type * from "./option-types.ts";
