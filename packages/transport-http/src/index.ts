export { http, type HttpAdapter } from "./http.ts";
export type * from "./option-types.ts";
