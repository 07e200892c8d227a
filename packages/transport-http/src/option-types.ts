/**
 * What programs may write, and what each key means: made from the schemas that check it. Not edited by hand. @module
 */

/** Options of a receiver of `http`. */
export interface HttpReceiverOptions {
  /** Where to listen: host:port, or :port for every interface. Receivers with the same address share a listener. Default: 127.0.0.1:8082. */
  readonly addr?: string | undefined;
  /** The path that takes messages; what follows it is the subject. Default: /ingest/<receiver id>. */
  readonly path?: string | undefined;
  /** Callers send it as X-API-Key or as Authorization: Bearer. At least 16 characters. */
  readonly api_key?: string | undefined;
  /** Without api_key and tls.client_ca_file: takes messages at an address beyond loopback, from anybody who can reach it, and on loopback whatever Host and Origin a request has. Default: false. */
  readonly allow_anonymous?: boolean | undefined;
  /** The longest body, in bytes. A longer one is answered 413. Default: 1048576. */
  readonly max_body?: number | undefined;
  /** How long a caller waits for its message to be settled. After that the delivery is cancelled and answered 503. Default: 30s. */
  readonly response_timeout?: string | undefined;
  /** Switches the listener to TLS, 1.2 and above. The files are read again when they change. Must be the same for all receivers of one address. */
  readonly tls?: {
    /** PEM file of the certificate and its intermediate certificates. */
    readonly cert_file: string;
    /** PEM file of its private key, without a passphrase. */
    readonly key_file: string;
    /** PEM file of certificate authorities: only callers with a certificate of one of them are let in. */
    readonly client_ca_file?: string | undefined;
  } | undefined;
}

/** Options of a sender of `http`. */
export interface HttpSenderOptions {
  /** Where messages go; a binding's address is a path below it. */
  readonly url: string;
  /** The method. Default: POST. */
  readonly method?: "POST" | "PUT" | "PATCH" | undefined;
  /** Headers of every request. They win over those that a message carries, Content-Type included. */
  readonly headers?: { readonly [name: string]: string } | undefined;
  /** Sent as X-API-Key. */
  readonly api_key?: string | undefined;
  /** Sent as Authorization: Bearer. */
  readonly bearer?: string | undefined;
  /** Origins, besides that of url, which an address may name as an absolute URL. They get the same headers and credentials. */
  readonly allowed_origins?: readonly string[] | undefined;
  /** The most connections to one origin. Further sends wait for one, within the route's send_timeout. Default: 128. */
  readonly max_connections?: number | undefined;
  /** How long opening a connection may take, TLS included. Default: 10s. */
  readonly connect_timeout?: string | undefined;
  /** For https. The files are read for each connection. */
  readonly tls?: {
    /** PEM file of the authorities to trust instead of the system's. */
    readonly ca_file?: string | undefined;
    /** PEM file of the bridge's own certificate. */
    readonly cert_file?: string | undefined;
    /** PEM file of the key to `cert_file`. */
    readonly key_file?: string | undefined;
  } | undefined;
}
