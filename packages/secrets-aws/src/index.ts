export { isSecretArn } from "./secret-name.ts";
export { openSecretReader, type SecretReader } from "./secret-reader.ts";
