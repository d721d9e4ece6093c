export interface WebRequest {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  /** Unchanged: signatures cover these bytes. */
  readonly body: Buffer;
  readonly remoteAddress: string;
}

export interface WebResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}
