export { httpTransport } from "./http-transport.ts";
