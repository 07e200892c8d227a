/** The two servers in an application of NestJS: what `use` takes before `listen` stands in front of its parsers. @module */
import { Module } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { bridge, bridgeListener } from "./bridge-servers.ts";

// oxlint-disable-next-line typescript/no-extraneous-class -- what NestJS names a module by
class AppModule {}
Module({})(AppModule);

const app = await NestFactory.create(AppModule, { logger: false });
app.use("/bridge", bridgeListener());
await app.listen(0, "127.0.0.1");

console.log(await app.getUrl());
process.once("SIGTERM", () => void bridge.shutdown().then(() => app.close()));
