export { type TcpProxy, tcpProxy, type TcpProxyOptions } from "./tcp-proxy.ts";
